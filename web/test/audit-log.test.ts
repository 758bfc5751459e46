// Questions to the audit log: pages of an export, and days.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { dayBounds, exported, pageOf, queryOf } from "../run/audit-log.ts";
import { actions, actWords } from "../words/audit.ts";

test("an export reads page after page until one is not full", async () => {
  const last = 3;
  const lines = (from: number, to: number): string => {
    let text = "";
    for (let number = from; number >= to; number--) text += `${JSON.stringify({ number })}\n`;
    return text;
  };
  const pages = [lines(2 * pageOf.export + last, pageOf.export + last + 1), lines(pageOf.export + last, last + 1), ""];
  for (const end of [lines(last, 1), ""]) {
    const answers = [pages[0], pages[1], end];
    const asked: string[] = [];
    const parts = await exported({ action: "signIn" }, (query) => {
      asked.push(query);
      return Promise.resolve(answers[asked.length - 1] ?? assert.fail("one page too many"));
    });
    assert.equal(parts.join(""), answers.join(""));
    assert.deepEqual(asked, [
      "?action=signIn", `?action=signIn&before=${pageOf.export + last + 1}`, `?action=signIn&before=${last + 1}`,
    ]);
  }
});

test("filters are written without what is empty, and days have both ends", () => {
  assert.equal(queryOf({ user: "", object: "a&b", before: undefined }), "?object=a%26b");
  assert.equal(queryOf({ ...dayBounds("", "") }), "");
  const { from = "", to = "" } = dayBounds("2026-11-28", "2026-11-28");
  assert.equal(Date.parse(to) - Date.parse(from), 86_400_000 - 1);
});

test("every act that the log records has words in both languages", () => {
  const api = readFileSync(new URL("../../docs/api.md", import.meta.url), "utf8");
  const named = [...api.matchAll(/^### (\w+)\n\n`(\w+) [^\n]*\n\n([^\n]*)/gm)];
  assert.ok(named.length > 150);
  // Reads, searches and runs have records elsewhere, see unaudited in host/internal/api/audit.go.
  const elsewhere = ["listTables", "testProvider", "findLocalProviders", "listMCPTools", "previewChunks", "debugNode"];
  const recorded = named.flatMap(([, name = "", method, about = ""]) => {
    const scoped = /Scope: (edit|admin|host)\./.test(about);
    return method !== "GET" && scoped && !elsewhere.includes(name) ? [name] : [];
  });
  const source = readFileSync(new URL("../../host/internal/app/audit.go", import.meta.url), "utf8");
  const signing = [...source.matchAll(/Act\w+ += "(\w+)"/g)].map(([, name = ""]) => name);
  assert.ok(recorded.length > 60 && signing.length > 5);
  for (const name of [...recorded, ...signing]) {
    assert.notEqual(actWords(name, "en"), name, `${name} has no words in words/audit.ts`);
    assert.match(actWords(name, "zh"), /\p{Script=Han}/u);
  }
  const known = new Set([...named.map(([, name]) => name), ...signing]);
  assert.deepEqual(actions.filter((name) => !known.has(name)), []);
  assert.equal(actWords("PUT /api/v1/agents/{id}", "en"), "PUT /api/v1/agents/{id}");
  assert.equal(actWords("constructor", "en"), "constructor");
});
