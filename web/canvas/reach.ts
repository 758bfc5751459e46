// The outside resources that a canvas would use, read from its document and shown to the person
// before it may run. Parameters are recognised by names that components share (url, script, mcp),
// so a new component needs no change here.

import { isObject, word, type Dsl } from "./dsl.ts";

/**
 * Reached lists the resources that a canvas would use. Requests of models and plugins are not known
 * before.
 */
export interface Reached {
  /** Hosts of literal addresses, with the port if any. */
  hosts: string[];
  /** An address depends on values of the run. */
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
  const found: Found = { hosts: new Set(), plugins: new Set(), servers: new Set(), made: false, scripts: 0 };
  const open: [key: string, value: unknown][] = Object.values(dsl.components).map(({ obj }) => ["", obj]);
  for (let next = open.pop(); next; next = open.pop()) {
    const [key, value] = next;
    if (typeof value === "string") noteText(key, value.trim(), found);
    else if (Array.isArray(value)) {
      for (const each of value) {
        if (key === "mcp" && isObject(each)) found.servers.add(word(each["mcp_id"] ?? ""));
        open.push([key, each]);
      }
    } else if (isObject(value)) {
      for (const [name, each] of Object.entries(value)) open.push([name, each]);
    }
  }
  const { hosts, plugins, servers, made, scripts } = found;
  return { hosts: [...hosts].sort(), plugins: [...plugins].sort(), servers: servers.size, made, scripts };
}

interface Found {
  hosts: Set<string>;
  plugins: Set<string>;
  servers: Set<string>;
  made: boolean;
  scripts: number;
}

function noteText(key: string, text: string, found: Found): void {
  if (text === "") return;
  if (key === "component_name" && text.startsWith("plugin:")) found.plugins.add(text.slice("plugin:".length, 80));
  else if (key === "script") found.scripts++;
  else if (/^https?:/i.test(text) || /(^|_)url$/i.test(key)) noteAddress(text, found);
}

// noteAddress reads an address as the engine does: http:// is put before one without a scheme.
function noteAddress(address: string, found: Found): void {
  const whole = /^http/i.test(address) ? address : "http://" + address;
  const authority = /^https?:[/\\]*([^/\\?#]*)/i.exec(whole)?.[1] ?? "";
  if (authority.includes("{") || !URL.canParse(whole)) found.made = true;
  else found.hosts.add(new URL(whole).host);
}
