// The manifest of a plugin, as the engine module reads it; see plugins/contract, which
// checks manifests for the server and the page alike.

import type { Limits } from "./kernel/guest.ts";
import type { Permissions } from "./permission.ts";
import { PluginError } from "./error.ts";
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
  entry?: Entry;
  /** The components of a file with several; the file itself is not a component then. */
  components?: Component[];
}

/** Entry describes the calling convention of a plugin without the messages of the contract. */
export interface Entry { export: string; input?: Form | "mcp1"; output?: Form; tool?: string }

/** Component is one of several components of a file; other members are inherited from the file. */
export interface Component {
  name: string;
  description: string;
  params?: Schema;
  arguments?: Schema;
  outputs?: Schema;
  entry?: Entry;
  /** The export that runs it; default easel_invoke. */
  export?: string;
}

const sharedMembers = [
  "abi", "version", "license", "min_host", "settings", "state", "permissions", "limits", "requires", "components",
];

/**
 * fileComponents returns the components of a file, or the plugin itself, with the members that each
 * inherits. It throws for those that a server refuses, see checkComponents in plugins/contract.
 */
export function fileComponents(file: Manifest): (Manifest & { export?: string })[] {
  const { components, ...common } = file;
  if (components === undefined || components === null) return [common];
  const refuse = (text: string): never => { throw new PluginError("bad_manifest", text); };
  if (!Array.isArray(components) || components.length > 64) refuse("components: want a list of at most 64");
  const names = components.map((own, i) => {
    const misplaced = sharedMembers.find((name) => Object.hasOwn(own, name));
    if (misplaced) refuse(`components[${i}]: ${misplaced}: belongs to the file, for all of its components`);
    if (!/^[a-z][a-z0-9_-]{0,62}$/.test(own.name) || `${file.name}.${own.name}`.length > 64)
      refuse(`components[${i}]: name ${JSON.stringify(own.name)}: want lower-case letters, digits, - and _`);
    return own.name;
  });
  if (new Set(names).size < names.length) refuse("components: two have the same name");
  return components.map((own) => ({ ...common, ...own }));
}

/** Form is the encoding of an entry's input or output. */
export type Form = "text" | "json" | "bytes" | "mcp";

/** Schema is JSON Schema of params, arguments or outputs. */
export type Schema = { type?: string | string[] } & Record<string, unknown>;

/** ReadSection returns a section of a plugin's own file by name. */
export type ReadSection = (name: string) => string | undefined;

/** maxOwnSection limits a section that a plugin can read, in bytes. */
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
