// Files a person hands to a canvas. They stay in the page; the canvas sees a
// descriptor and asks for the content through the files port.

import { EngineError, type Port } from "@easel/engine";

/** Descriptor is what a canvas knows of a file. */
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

/** Files keeps what was handed over. */
export class Files {
  readonly #files = new Map<string, File>();

  /** add takes a file and gives its descriptor. */
  add(file: File): Descriptor {
    const id = crypto.randomUUID().replaceAll("-", "");
    this.#files.set(id, file);
    return {
      id, name: file.name, size: file.size, extension: file.name.split(".").at(-1) ?? "", mime_type: file.type || "application/octet-stream",
      created_by: "page", created_at: Math.floor(Date.now() / 1000),
    };
  }

  /** port answers the engine's questions for content. */
  readonly port: Port = async ({ file: asked }) => {
    const descriptor = asked as Partial<Descriptor> | null;
    const file = this.#files.get(String(descriptor?.id));
    if (!file) throw new EngineError("provider", `this page has no file ${descriptor?.name ?? String(descriptor?.id)}`);
    if (file.size > largest) throw new EngineError("too_large", `${file.name} is larger than ${largest >> 20} MB`);
    return { text: file.type.startsWith("image/") ? await dataURL(file) : await file.text() };
  };
}

function dataURL(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(new EngineError("provider", `${file.name} cannot be read`));
    reader.readAsDataURL(file);
  });
}
