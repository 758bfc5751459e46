// file.read and file.put of one call of a plugin: the files of a run, within the grant.

import { fromBase64 } from "../fetch.ts";
import { carried } from "./body.ts";
import { PluginError } from "./error.ts";
import type { Permissions } from "./permission.ts";

/** StoredFile is a file with its content. */
export interface StoredFile {
  name: string;
  mime: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** Files accesses the files of the runs of a plugin. */
export interface Files {
  /** read returns a file by its id, or undefined. */
  read(id: string): StoredFile | undefined | Promise<StoredFile | undefined>;
  /** save stores a file and describes it: `{doc_id, ...}`. */
  save(file: StoredFile): Record<string, unknown> | Promise<Record<string, unknown>>;
}

const most = { whole: 10 << 20, files: 16, id: 1024, name: 200, mime: 100 };
const encoder = new TextEncoder();

/** FileDesk handles the file requests of one call. */
export class FileDesk {
  readonly stored: Record<string, unknown>[] = [];
  readonly #granted: Permissions["files"];
  readonly #files: Files | undefined;
  readonly #stream: (bytes: Uint8Array<ArrayBuffer>) => number;
  #size = 0; // bytes of the files that were stored

  constructor(
    granted: Permissions["files"], files: Files | undefined, stream: (bytes: Uint8Array<ArrayBuffer>) => number,
  ) {
    this.#granted = granted;
    this.#files = files;
    this.#stream = stream;
  }

  async read(args: Record<string, unknown>): Promise<unknown> {
    const id = textOf("file.read", args, "id");
    if (!this.#granted?.read) throw new PluginError("denied", "reading files is not granted");
    if (!this.#files) throw new PluginError("unsupported", "there are no files here");
    const size = encoder.encode(id).length;
    if (size === 0 || size > most.id) {
      throw new PluginError("invalid_argument", `file.read: id of ${size} bytes, want 1 to ${most.id}`);
    }
    const file = await this.#files.read(id);
    if (!file) throw new PluginError("not_found", `file.read: no file ${JSON.stringify(id)}`);
    const head = { name: file.name, mime: file.mime, size: file.bytes.length };
    if (args["stream"] === true) return { ...head, stream: this.#stream(file.bytes) };
    if (file.bytes.length > most.whole) {
      const why = `file of more than ${most.whole} bytes; read it in pieces with stream and http.read`;
      throw new PluginError("upstream", `file.read: ${why}`);
    }
    return { ...head, ...carried(file.bytes) };
  }

  async put(args: Record<string, unknown>): Promise<unknown> {
    const file = newFile(args);
    const granted = this.#granted?.write_bytes ?? 0;
    if (granted <= 0) throw new PluginError("denied", "storing files is not granted");
    if (!this.#files) throw new PluginError("unsupported", "files cannot be stored here");
    if (this.stored.length === most.files) {
      throw new PluginError("denied", `file.put: more than ${most.files} files in a call`);
    }
    if (this.#size + file.bytes.length > granted) {
      throw new PluginError("denied", `file.put: more than the ${granted} bytes granted`);
    }
    const stored = await this.#files.save(file);
    this.#size += file.bytes.length;
    const { name: filename, mime, bytes } = file;
    this.stored.push({ ...stored, filename, mime_type: mime, size: bytes.length });
    return { id: String(stored["doc_id"]) };
  }
}

// newFile reads the arguments of file.put.
function newFile(args: Record<string, unknown>): StoredFile {
  const text = (member: string): string => textOf("file.put", args, member);
  const name = text("name");
  if (!isFileName(name)) {
    const want = `want the name of a file of at most ${most.name} characters, without a folder`;
    throw new PluginError("invalid_argument", `file.put: name: ${want}`);
  }
  const mime = text("mime") || "application/octet-stream";
  if (mime.length > most.mime || !/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(;.*)?$/.test(mime)) {
    throw new PluginError("invalid_argument", "file.put: mime: want a media type, as in text/csv");
  }
  try {
    const encoded = text("body_base64");
    return { name, mime, bytes: encoded ? fromBase64(encoded) : encoder.encode(text("body")) };
  } catch (err) {
    if (err instanceof PluginError) throw err;
    throw new PluginError("invalid_argument", "file.put: body_base64 is not base64");
  }
}

// isFileName returns the twin of IsFileName in plugins/contract.
function isFileName(name: string): boolean {
  return !["", ".", ".."].includes(name) && [...name].length <= most.name && !hidden.test(name) && !/[/\\]/.test(name);
}

const hidden = new RegExp(
  "[\\p{Cc}\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b\\u200e\\u200f\\u202a-\\u202e" +
    "\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff0-\\ufffb\\u{e0000}-\\u{e0fff}]", "u");

function textOf(op: string, args: Record<string, unknown>, member: string): string {
  const value = args[member] ?? "";
  if (typeof value !== "string") throw new PluginError("invalid_argument", `${op}: ${member} is not a string`);
  return value;
}
