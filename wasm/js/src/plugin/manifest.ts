// What a plugin says about itself, as the engine module reads it; see plugins/contract, which
// checks manifests for the server and the page alike.

import type { Limits } from "./kernel/guest.ts";
import type { Permissions } from "./permission.ts";

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
  streams?: boolean;
  idempotent?: boolean;
  state?: "none" | "tenant" | "run";
  permissions?: Permissions;
  limits?: Partial<Limits>;
  requires?: string[];
  preview?: "local" | "server" | "none";
}

/** Schema is JSON Schema of params, arguments or outputs. */
export type Schema = { type?: string | string[] } & Record<string, unknown>;
