// What a plugin may do. The same form is the request in a manifest, the ceiling of
// whoever grants, and what is left when they are cut with each other. An empty one
// allows nothing.

export interface Permissions {
  http?: { hosts: string[]; methods?: string[]; private?: boolean; reason?: string };
  secrets?: Record<string, { hosts: string[]; reason?: string }>;
  llm?: { max_calls: number; reason?: string };
  embed?: { max_calls: number; reason?: string };
  kv?: { bytes: number; reason?: string };
  variables?: { read?: string[]; write?: string[]; reason?: string };
}

/** cut gives what both allow; reasons are those of what was asked. */
export function cut(asked: Permissions, ceiling: Permissions): Permissions {
  const out: Permissions = {};
  const { http, kv, variables } = asked;
  if (http && ceiling.http) {
    const hosts = common(http.hosts, ceiling.http.hosts, covers);
    const methods = common(methodsOf(http), methodsOf(ceiling.http), names);
    if (hosts.length && methods.length) out.http = { ...http, hosts, methods, private: !!(http.private && ceiling.http.private) };
  }
  for (const [name, secret] of Object.entries(asked.secrets ?? {})) {
    const most = own(ceiling.secrets, name) ?? own(ceiling.secrets, "*");
    const hosts = common(secret.hosts, most?.hosts ?? [], covers);
    if (hosts.length) (out.secrets ??= {})[name] = { ...secret, hosts };
  }
  for (const kind of ["llm", "embed"] as const) {
    const most = Math.min(asked[kind]?.max_calls ?? 0, ceiling[kind]?.max_calls ?? 0);
    if (most > 0) out[kind] = { ...asked[kind], max_calls: most };
  }
  const bytes = Math.min(kv?.bytes ?? 0, ceiling.kv?.bytes ?? 0);
  if (bytes > 0) out.kv = { ...kv, bytes };
  if (variables && ceiling.variables) {
    const read = common(variables.read ?? [], ceiling.variables.read ?? [], names);
    const write = common(variables.write ?? [], ceiling.variables.write ?? [], names);
    if (read.length + write.length) out.variables = { ...variables, read, write };
  }
  return out;
}

/** methodsOf are the methods that are allowed; none named means reading. */
export function methodsOf(http: NonNullable<Permissions["http"]>): string[] {
  return http.methods?.length ? http.methods : ["GET", "HEAD"];
}

/** covers reports whether a pattern allows every host that name allows; both may be patterns, with or without a port. */
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

const names = (pattern: string, name: string): boolean => pattern === "*" || pattern === name;

// common keeps what one of the other list covers.
function common(a: string[], b: string[], covers: (pattern: string, name: string) => boolean): string[] {
  const keep = (from: string[], by: string[]): string[] => from.filter((name) => by.some((pattern) => covers(pattern, name)));
  return [...new Set([...keep(a, b), ...keep(b, a)])];
}

function own<T>(record: Record<string, T> | undefined, name: string): T | undefined {
  return record && Object.hasOwn(record, name) ? record[name] : undefined;
}
