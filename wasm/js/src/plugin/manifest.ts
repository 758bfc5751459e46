// What a plugin says about itself, as the engine module reads it; see plugins/contract, which
// checks manifests for the server and the page alike.

import type { Limits } from "./kernel/guest.ts";
import type { Permissions } from "./permission.ts";
import { read, split } from "./start.ts";

export interface Manifest {
  abi: number;
  name: string;
  version: string;
  description: string;
  display?: Record<string, string>;
  category?: string;
  icon?: string;
  license?: string;
  min_host?: string;
  params?: Schema;
  arguments?: Schema;
  outputs?: Schema;
  settings?: Schema;
  streams?: boolean;
  idempotent?: boolean;
  state?: "none" | "tenant" | "run";
  permissions?: Permissions;
  limits?: Partial<Limits>;
  requires?: string[];
  preview?: "local" | "server" | "none";
  /** The export that runs a plugin which does not speak the messages of the contract. */
  entry?: { export: string; input?: Form | "mcp1"; output?: Form; tool?: string };
}

/** Form is how an entry takes its input and gives its output. */
export type Form = "text" | "json" | "bytes" | "mcp";

/** Schema is JSON Schema of params, arguments or outputs. */
export type Schema = { type?: string | string[] } & Record<string, unknown>;

/** ReadSection gives a section of a plugin's own file by name. */
export type ReadSection = (name: string) => string | undefined;

/** maxOwnSection bounds a section that a plugin can read, in bytes. */
const maxOwnSection = 256 << 10;

const hiddenSections = ["easel.icon", "easel.cases", "easel.signature"];

/**
 * ownSection returns a section that a plugin can read itself, of a file that the engine module has
 * examined.
 */
export function ownSection(wasm: Uint8Array, name: string): string | undefined {
  if (!name.startsWith("easel.") || hiddenSections.includes(name)) return undefined;
  for (const { id, body, end } of split(wasm)) {
    if (id !== 0) continue;
    const [length, from] = read(wasm, body);
    const data = from + length;
    if (new TextDecoder().decode(wasm.subarray(from, data)) !== name) continue;
    return end - data <= maxOwnSection ? new TextDecoder().decode(wasm.subarray(data, end)) : undefined;
  }
  return undefined;
}
