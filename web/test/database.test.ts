// The connection of a database as its form changes it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { portAfter, settingsAfter, usesServer } from "../canvas/database.ts";

test("the port follows the kind of database until a person chooses one", () => {
  const cases: [object, string, boolean, number | undefined][] = [
    [{}, "postgres", true, 5432],
    [{ db_type: "mysql", port: 3306 }, "postgres", true, 5432],
    [{ db_type: "mysql", port: "3306" }, "postgres", true, 5432],
    [{ db_type: "postgres", port: 5432 }, "mysql", true, undefined],
    [{ db_type: "postgres", port: 5432 }, "mariadb", true, undefined],
    [{ db_type: "mysql", port: 3307 }, "postgres", false, undefined],
    [{ db_type: "postgres", port: 3306 }, "mysql", false, undefined],
    [{ db_type: "mysql", port: null }, "mariadb", false, undefined],
    [{ db_type: "mysql" }, "mariadb", false, undefined],
    [{ db_type: "mysql" }, "sqlite", false, undefined],
    [{ db_type: "sqlite" }, "postgres", true, 5432],
  ];
  for (const [params, kind, changed, port] of cases) {
    const found = portAfter(params as Record<string, unknown>, kind);
    assert.deepEqual(found, { changed, port }, JSON.stringify([params, kind]));
  }
  assert.deepEqual(settingsAfter("postgres", 5432), { db_type: "postgres", port: 5432 });
});

test("only a SQLite file has no server", () => {
  assert.deepEqual([{}, { db_type: "trino" }, { db_type: "sqlite" }].map(usesServer), [true, true, false]);
});
