// Questions to the audit log of a host, and its export.

/** AuditFilter selects entries; empty members select all. */
export interface AuditFilter {
  user?: string;
  action?: string;
  object?: string;
  /** Times of RFC 3339. */
  from?: string;
  to?: string;
  /** Only entries with a lower number. */
  before?: number | undefined;
}

/** pageOf bounds the entries of an answer. */
export const pageOf = { list: 100, export: 10_000 };

/** queryOf writes a filter behind a path. */
export function queryOf(filter: AuditFilter): string {
  const set = Object.entries(filter).filter(([, value]) => value !== undefined && value !== "");
  return set.length > 0 ? `?${new URLSearchParams(set.map(([name, value]) => [name, String(value)]))}` : "";
}

/** dayBounds are the first and the last moment of days in the time zone of the person. */
export function dayBounds(from: string, to: string): Pick<AuditFilter, "from" | "to"> {
  return {
    ...(from ? { from: new Date(`${from}T00:00:00`).toISOString() } : {}),
    ...(to ? { to: new Date(`${to}T23:59:59.999`).toISOString() } : {}),
  };
}

/** exported reads all pages of an export, in the order of the log. */
export async function exported(filter: AuditFilter, read: (query: string) => Promise<string>): Promise<string[]> {
  const parts: string[] = [];
  for (let before: number | undefined; ; ) {
    const text = await read(queryOf({ ...filter, before }));
    parts.push(text);
    const lines = text.split("\n").filter(Boolean);
    const last = lines.at(-1);
    if (last === undefined || lines.length < pageOf.export) return parts;
    before = (JSON.parse(last) as { number: number }).number;
  }
}
