// The connection of a database in the params of a node.

import { word, type Params } from "./dsl.ts";

const usual = 3306;

/** usualPort returns the port of a kind of database. */
export function usualPort(kind: string): number {
  return kind === "postgres" || kind === "postgresql" ? 5432 : usual;
}

/** usesServer reports whether a connection goes to a server; other databases are files. */
export function usesServer(params: Params): boolean {
  return params["db_type"] !== "sqlite";
}

/** portAfter returns the port for another kind of database; a port that the user chose stays. */
export function portAfter(params: Params, kind: string): { changed: boolean; port: number | undefined } {
  const before = word(params["db_type"] ?? "mysql");
  const port = params["port"];
  const untouched = port === undefined || port === null || port === "" || Number(port) === usualPort(before);
  if (!untouched || kind === "sqlite") return { changed: false, port: undefined };
  const next = usualPort(kind) === usual ? undefined : usualPort(kind);
  return { changed: next !== (port ?? undefined), port: next };
}

/** settingsAfter returns the changes for another kind of database; undefined removes a setting. */
export function settingsAfter(kind: string, port: number | undefined): Params {
  return { db_type: kind, port };
}
