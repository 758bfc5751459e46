// Names of others: nothing in them is hidden, and the text around them keeps its direction.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { shown } from "../words/shown.ts";
import { filler, learn, translator } from "../words/words.ts";

test("hidden characters are written out, wherever they stand", () => {
  assert.equal(shown("safe\u202Efdp.exe"), "safe⟨U+202E⟩fdp.exe");
  assert.equal(shown("a\u200Bb\uFEFFc\u00ADd"), "a⟨U+200B⟩b⟨U+FEFF⟩c⟨U+00AD⟩d");
  assert.equal(shown("tag\u{E0041}"), "tag⟨U+E0041⟩");
  assert.equal(shown("a\u0000\u0007b"), "a⟨U+0000⟩⟨U+0007⟩b");
  assert.equal(shown("admin\u200D"), "admin⟨U+200D⟩");
  for (const direction of "\u202A\u202B\u202C\u202D\u202E\u2066\u2067\u2068\u2069\u200E\u200F\u061C") {
    assert.ok(!shown(`x${direction}y`).includes(direction));
  }
});

test("ordinary names stay as they are, in every script", () => {
  const names = ["Support bot", "知识库 2", "Köln", "👩‍👩‍👧 family", "🏳️‍🌈", "नमस्ते", "line\nline\ttab", ""];
  for (const name of names) assert.equal(shown(name), name);
});

test("names that run leftwards are isolated", () => {
  assert.equal(shown("שלום"), "\u2068שלום\u2069");
  assert.equal(shown("می\u200Cخواهم"), "\u2068می\u200Cخواهم\u2069", "a joiner inside of a Persian word");
});

test("all texts with values show them so", () => {
  assert.equal(filler({ gone: "Delete {0}?" })("gone", "x\u202Ey"), "Delete x⟨U+202E⟩y?");
});

test("lists of people, projects and what they share show names so", () => {
  const folder = new URL("../view/sharing/", import.meta.url);
  const raw = /\{(?:\w+\.)?(?:name|title|email|nickname|each)(?: \|\| [^}]*)?\}<\//g;
  const found = readdirSync(folder).flatMap((file) =>
    [...readFileSync(new URL(file, folder), "utf8").matchAll(raw)].map(([text]) => `${file}: ${text}`));
  assert.deepEqual(found, []);
});

test("texts that arrive after the page was drawn in English replace the English ones", async () => {
  const before = translator("zh");
  assert.equal(before("bar.undo"), translator("en")("bar.undo"), "not there yet");
  assert.equal(translator("zh"), before, "the same function for the same texts");
  await learn("zh");
  assert.match(translator("zh")("bar.undo"), /\p{Script=Han}/u);
  assert.equal(translator("zh"), translator("zh"));
});
