// Files that a person attaches to a question. They stay in the page; the canvas receives a
// descriptor and reads the content through the files port. A document is parsed when it is added,
// so that its errors are reported then.

import { EngineError, type PluginFiles, type Port } from "@easel/engine";
import { ReadError } from "../read/errors.ts";
import type { Read } from "../read/reader.ts";

/** Descriptor describes a file to a canvas. */
export interface Descriptor {
  id: string;
  name: string;
  size: number;
  extension: string;
  mime_type: string;
  created_by: string;
  created_at: number;
}

const largest = 20 << 20; // bytes

/** Files holds the files of a person. */
export class Files {
  readonly #read: Read;
  readonly #contents = new Map<string, string>();
  readonly #blobs = new Map<string, { name: string; blob: Blob }>(); // what plugins read

  /** `read` returns the text of documents; without it only images are accepted. */
  constructor(read: Read = () => Promise.reject(new ReadError("no_reader"))) {
    this.#read = read;
  }

  /**
   * add stores a file and returns its descriptor. It throws a ReadError for one that cannot be
   * read.
   */
  async add(file: File): Promise<Descriptor> {
    if (file.size > largest) throw new ReadError("too_large");
    const content = await this.#contentOf(file);
    const id = crypto.randomUUID().replaceAll("-", "");
    this.#contents.set(id, content);
    this.#blobs.set(id, { name: file.name, blob: file });
    return {
      id,
      name: file.name,
      size: file.size,
      extension: file.name.split(".").at(-1) ?? "",
      mime_type: file.type || "application/octet-stream",
      created_by: "page",
      created_at: Math.floor(Date.now() / 1000),
    };
  }

  // Models refuse drawings as images, and read their source; a host does the same.
  async #contentOf(file: File): Promise<string> {
    if (file.type === "image/svg+xml") return new TextDecoder().decode(await bytesOf(file));
    if (file.type.startsWith("image/")) return dataURL(file);
    return this.#read(new Uint8Array(await bytesOf(file)));
  }

  /** text returns the content of a file for canvases; "" if this page has no such file. */
  text({ id }: Pick<Descriptor, "id">): string {
    return this.#contents.get(id) ?? "";
  }

  /** blob returns a file as it was chosen; undefined if this page has no such file. */
  blob(id: string): { name: string; blob: Blob } | undefined {
    return this.#blobs.get(id);
  }

  /** forPlugins makes the files available to plugins, and stores those that they make. */
  readonly forPlugins: PluginFiles = {
    read: async (id) => {
      const file = this.#blobs.get(id);
      return file && { name: file.name, mime: file.blob.type, bytes: new Uint8Array(await file.blob.arrayBuffer()) };
    },
    save: async ({ name, mime, bytes }) => {
      const id = crypto.randomUUID().replaceAll("-", "");
      const blob = new Blob([bytes], { type: mime });
      this.#blobs.set(id, { name, blob });
      const [, base64 = ""] = (await dataURL(blob)).split(",");
      return { doc_id: id, format: formatOf(name, mime), file_name: name, base64 };
    },
  };

  /** port answers the engine's requests for content. */
  readonly port: Port = ({ file: asked }) => {
    const descriptor = asked as Partial<Descriptor> | null;
    const text = this.#contents.get(String(descriptor?.id));
    if (text === undefined)
      throw new EngineError("provider", `this page has no file ${descriptor?.name ?? String(descriptor?.id)}`);
    return { text };
  };
}

// formatOf returns the extension of a name, or else the second half of the media type.
function formatOf(name: string, mime: string): string {
  const dot = name.lastIndexOf(".");
  return dot >= 0 && dot < name.length - 1 ? name.slice(dot + 1).toLowerCase() : mime.replace(/^[^/]*\/|;.*$/g, "");
}

// bytesOf fails when the file was changed or removed after it was chosen.
async function bytesOf(file: File): Promise<ArrayBuffer> {
  try {
    return await file.arrayBuffer();
  } catch {
    throw new ReadError("damaged");
  }
}

function dataURL(file: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(new ReadError("damaged"));
    reader.readAsDataURL(file);
  });
}
