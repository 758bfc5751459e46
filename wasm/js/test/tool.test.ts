// The input of a plugin that implements a component, compared with the cases of the server's twin
// in plugins/node.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { asUTF8 } from "../src/plugin/charset.ts";
import type { Manifest } from "../src/plugin/manifest.ts";
import { toolInput } from "../src/plugin/tool.ts";

interface Case {
  name: string;
  params: Record<string, unknown>;
  arguments: Record<string, unknown>;
  want: { params: unknown; arguments: unknown; keys: unknown };
}

const golden = new URL("../../../plugins/node/testdata/tool_input.json", import.meta.url);
const { manifest, cases } = JSON.parse(readFileSync(golden, "utf8")) as { manifest: Manifest; cases: Case[] };

for (const { name, params, arguments: args, want } of cases) {
  test(`input of a tool: ${name}`, () => {
    const { args: arguments_, ...given } = toolInput(manifest, params, args, "MARK");
    assert.deepEqual({ ...given, arguments: arguments_ }, want);
  });
}

test("text in other charsets is read as on a server", () => {
  const tea = [0xb2, 0xe8]; // in GBK
  const bytes = (before: string, after = ""): Uint8Array => (
    Uint8Array.from([...Buffer.from(before), ...tea, ...Buffer.from(after)]));
  for (const [type, body] of [
    ["application/json; charset=GBK", bytes('"', '"')],
    ["text/html", bytes('<html><head><meta charset="gbk"></head><body>')],
    ["text/html", bytes("<meta http-equiv=Content-Type content='text/html; charset=gb2312'>")],
    ["application/atom+xml", bytes('<?xml version="1.0" encoding="gbk"?><a>', "</a>")],
  ] as const) {
    const read = asUTF8(type, body);
    assert.match(new TextDecoder().decode(read.bytes), /茶/, type);
    assert.match(read.type, /; charset=utf-8$/);
  }
  const latin = asUTF8("text/html", Uint8Array.of(0x47, 0x72, 0xf6, 0xdf, 0x65));
  assert.equal(new TextDecoder().decode(latin.bytes), "Größe");
  const kept = ["image/png", "application/json", "application/json; charset=x-none", "text/html; charset=utf-8"];
  for (const type of kept) {
    assert.equal(asUTF8(type, bytes("")).type, type, "stays as it is");
  }
});
