// What a canvas reaches for when it runs, read from its document: shown to the person before it may run. Parameters are
// known by the names that all components use for the same thing, so a new component needs no change here.

import { isObject, type Dsl } from "./dsl.ts";

/** Reached lists what a canvas would use; what a node makes up while it runs is not known before. */
export interface Reached {
  /** Hosts of addresses that are written down, with the port if there is one. */
  hosts: string[];
  /** Some address depends on values of the run. */
  made: boolean;
  /** Count of scripts. */
  scripts: number;
  /** Names of plugins. */
  plugins: string[];
  /** Count of MCP servers. */
  servers: number;
}

/** reachOf reads a canvas of any shape. */
export function reachOf(dsl: Dsl): Reached {
  const found = { hosts: new Set<string>(), plugins: new Set<string>(), made: false, scripts: 0, servers: new Set<string>() };
  const open: [key: string, value: unknown][] = Object.values(dsl.components).map((component) => ["", component.obj]);
  for (let next = open.pop(); next; next = open.pop()) {
    const [key, value] = next;
    if (typeof value === "string") {
      if (key === "component_name" && value.startsWith("plugin:")) found.plugins.add(value.slice("plugin:".length, 80));
      else if (key === "script" && value.trim() !== "") found.scripts++;
      else if (/^\s*https?:/i.test(value) || /(^|_)url$/i.test(key) && value.trim() !== "") note(value.trim(), found);
    } else if (Array.isArray(value)) {
      for (const each of value) {
        if (key === "mcp" && isObject(each)) found.servers.add(String(each["mcp_id"] ?? ""));
        open.push([key, each]);
      }
    } else if (isObject(value)) {
      for (const [name, each] of Object.entries(value)) open.push([name, each]);
    }
  }
  return { hosts: [...found.hosts].sort(), plugins: [...found.plugins].sort(), made: found.made, scripts: found.scripts, servers: found.servers.size };
}

// note reads an address as the engine does: http:// is put before one without a scheme.
function note(address: string, found: { hosts: Set<string>; made: boolean }): void {
  const whole = /^http/i.test(address) ? address : "http://" + address;
  const authority = /^https?:[/\\]*([^/\\?#]*)/i.exec(whole)?.[1] ?? "";
  if (authority.includes("{") || !URL.canParse(whole)) found.made = true;
  else found.hosts.add(new URL(whole).host);
}
