// Permissions of plugins. The same form is the request in a manifest, the ceiling of a grant, and
// the intersection of both by the engine module. An empty one allows nothing. covers is the twin of
// CoversHost in plugins/contract, for the hosts of requests.

export interface Permissions {
  http?: { hosts: string[]; methods?: string[]; private?: boolean; reason?: string };
  secrets?: Record<string, { hosts: string[]; reason?: string }>;
  llm?: { max_calls: number; reason?: string };
  embed?: { max_calls: number; reason?: string };
  kv?: { bytes: number; reason?: string };
  variables?: { read?: string[]; write?: string[]; reason?: string };
  files?: { read?: boolean; write_bytes?: number; reason?: string };
  clock?: { precise?: boolean; reason?: string };
}

/** methodsOf returns the allowed methods; without a list those for reading. */
export function methodsOf(http: NonNullable<Permissions["http"]>): string[] {
  return http.methods?.length ? http.methods : ["GET", "HEAD"];
}

/**
 * covers reports whether a pattern allows every host that name allows; both may be patterns, with
 * or without a port.
 */
export function covers(pattern: string, name: string): boolean {
  pattern = pattern.toLowerCase();
  name = name.toLowerCase();
  if (pattern === "*" || pattern === name) return true;
  const [host, port] = splitPort(name);
  if (port) {
    const [p, pp] = splitPort(pattern);
    return (pp === "" || pp === port) && covers(p, host);
  }
  return pattern.startsWith("*.") && name.replace(/^\*/, "").endsWith(pattern.slice(1));
}

// A bare IPv6 address has no port.
function splitPort(text: string): [string, string] {
  const at = text.lastIndexOf(":");
  if (at < 0 || text.slice(0, at).includes(":") && !text.slice(0, at).endsWith("]")) return [text, ""];
  return [text.slice(0, at), text.slice(at + 1)];
}
