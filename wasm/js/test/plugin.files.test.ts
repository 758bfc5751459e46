// file.read and file.put in the page: the twin of request_file_test.go of the Go host.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Desk } from "../src/plugin/desk.ts";
import type { Permissions } from "../src/plugin/permission.ts";
import { MemoryFiles } from "./plugin.files.ts";

const all: Permissions["files"] = { read: true, write_bytes: 40, reason: "r" };

interface Answer {
  ok?: Record<string, unknown>;
  error?: { code: string; message: string };
}

/** desk handles requests of one call with these files and this grant. */
function desk(files: MemoryFiles | undefined, grant: Permissions["files"]): {
  ask(op: string, args: object): Promise<Answer>;
  desk: Desk;
} {
  const granted: Permissions = grant ? { files: grant } : {};
  const plugin = { name: "p", version: "1.0.0" };
  const of = new Desk(plugin, granted, files ? { files } : {}, async () => null, new AbortController().signal);
  return {
    desk: of,
    ask: async (op, args) => {
      const answer = await of.answer(new TextEncoder().encode(JSON.stringify({ op, args })));
      return JSON.parse(new TextDecoder().decode(answer!)) as Answer;
    },
  };
}

describe("files of a run", () => {
  test("are read whole and in pieces", async () => {
    const files = new MemoryFiles();
    const { ask } = desk(files, all);
    const head = { name: "year.csv", mime: "text/csv", size: 11 };
    assert.deepEqual(await ask("file.read", { id: "f1" }), { ok: { ...head, body: "Ålesund,3\n" } });
    assert.deepEqual(await ask("file.read", { id: "f1", stream: true }), { ok: { ...head, stream: 1 } });
    const piece = await ask("http.read", { stream: 1, max: 4096 });
    assert.equal(piece.ok?.["body"], "Ålesund,3\n");
  });

  test("keep their bytes and are described", async () => {
    const files = new MemoryFiles();
    const { ask, desk: of } = desk(files, all);
    const bytes = Uint8Array.of(0, 255, 13, 10);
    const mime = "application/x-thing";
    const body_base64 = Buffer.from(bytes).toString("base64");
    assert.deepEqual(await ask("file.put", { name: "b.bin", mime, body_base64 }), { ok: { id: "f2" } });
    assert.deepEqual([...files.all.get("f2")!.bytes], [...bytes]);
    const names = { file_name: "b.bin", filename: "b.bin" };
    assert.deepEqual(of.stored, [{ doc_id: "f2", format: "csv", ...names, mime_type: mime, size: 4 }]);
  });

  const put = (more: object): [string, object] => ["file.put", { name: "b", body: "B", ...more }];
  const refused: [string, [string, object], string, { grant?: Permissions["files"]; none?: boolean }?][] = [
    ["reading is granted apart", ["file.read", { id: "f1" }], "denied", { grant: { write_bytes: 9 } }],
    ["storing is granted apart", put({}), "denied", { grant: { read: true } }],
    ["a host without files", ["file.read", { id: "f1" }], "unsupported", { none: true }],
    ["a host that stores nothing", put({}), "unsupported", { none: true }],
    ["a file that is not there", ["file.read", { id: "../f1" }], "not_found"],
    ["no id", ["file.read", {}], "invalid_argument"],
    ["a number as id", ["file.read", { id: 7 }], "invalid_argument"],
    ["a long id", ["file.read", { id: "x".repeat(1025) }], "invalid_argument"],
    ["more than 10 MiB at once", ["file.read", { id: "large" }], "upstream"],
    ["more bytes than granted", put({ body: "x".repeat(41) }), "denied"],
    ["no name", put({ name: "" }), "invalid_argument"],
    ["a path", put({ name: "../b" }), "invalid_argument"],
    ["another path", put({ name: "..\\b" }), "invalid_argument"],
    ["the folder above", put({ name: ".." }), "invalid_argument"],
    ["a line end in the name", put({ name: "a\nb" }), "invalid_argument"],
    ["a name that turns around", put({ name: "a\u202etxt.exe" }), "invalid_argument"],
    ["a long name", put({ name: "n".repeat(201) }), "invalid_argument"],
    ["no media type", put({ mime: "text" }), "invalid_argument"],
    ["a header in it", put({ mime: "text/csv\r\nX: 1" }), "invalid_argument"],
    ["no base64", put({ body_base64: "*" }), "invalid_argument"],
  ];
  for (const [name, [op, args], code, { grant = all, none = false } = {}] of refused) {
    test(name, async () => {
      const files = new MemoryFiles();
      files.all.set("large", { name: "l", mime: "", bytes: new Uint8Array((10 << 20) + 1) });
      const { ask, desk: of } = desk(none ? undefined : files, grant);
      const answer = await ask(op, args);
      assert.equal(answer.error?.code, code, JSON.stringify(answer));
      assert.deepEqual(of.stored, []);
    });
  }

  test("end at their limits", async () => {
    const { ask, desk: of } = desk(new MemoryFiles(), { read: true, write_bytes: 1 << 30 });
    for (let i = 0; i < 16; i++) assert.ok((await ask("file.put", { name: "b", body: "B" })).ok);
    assert.equal((await ask("file.put", { name: "b", body: "B" })).error?.code, "denied");
    assert.equal(of.stored.length, 16);
    for (let i = 0; i < 8; i++) assert.ok((await ask("file.read", { id: "f1", stream: true })).ok);
    assert.equal((await ask("file.read", { id: "f1", stream: true })).error?.code, "denied");
  });
});
