// Permissions of plugins in parts: forms, upper bounds, and requests of manifests.

import assert from "node:assert/strict";
import { test } from "node:test";
import { presetOf, presetsFor, providerOf, type Permissions } from "../run/admin.ts";
import { allowedBy, boundOf, granted, parts, partsAsked } from "../run/grants.ts";

test("without an upper bound everything is allowed, and the form of everything bounds nothing", () => {
  const form = allowedBy(null);
  assert.deepEqual(Object.keys(form), [...parts]);
  const bound = boundOf(form, null);
  assert.deepEqual(bound.http, { hosts: ["*"], methods: ["*"], private: true });
  assert.deepEqual(allowedBy(bound), form);
});

test("single parts are allowed, and nothing else", () => {
  const bound = boundOf({ http: "a.example, *.b.example", kv: "1.5", files_store: "" }, null);
  assert.deepEqual(bound, {
    http: { hosts: ["a.example", "*.b.example"], methods: ["*"], private: true },
    kv: { bytes: 1_500_000 },
    files: { write_bytes: Number.MAX_SAFE_INTEGER },
  });
  assert.deepEqual(allowedBy(bound), { http: "a.example, *.b.example", kv: "1.5", files_store: "" });
  assert.deepEqual(boundOf({}, bound), {});
  assert.throws(() => boundOf({ llm: "many" }, null), /many: expected a number above 0/);
});

test("what the form does not show stays as it is", () => {
  const before: Permissions = {
    http: { hosts: ["a.example"], methods: ["GET"], private: false },
    secrets: { TOKEN: { hosts: ["a.example"] } },
    variables: { read: ["env.x"] },
  };
  const bound = boundOf({ ...allowedBy(before), http: "b.example", llm: "3" }, before);
  assert.deepEqual(bound, { ...before, http: { ...before.http, hosts: ["b.example"] }, llm: { max_calls: 3 } });
});

test("a plugin of the page gets the parts that were allowed", () => {
  const asked: Permissions = {
    http: { hosts: ["a.example"] }, llm: { max_calls: 2 }, files: { read: true, write_bytes: 10 },
    clock: { precise: true },
  };
  assert.deepEqual(partsAsked(asked), ["http", "llm", "files_read", "files_store", "clock"]);
  assert.deepEqual(granted(asked, ["llm", "files_store"]), { llm: { max_calls: 2 }, files: { write_bytes: 10 } });
  assert.deepEqual(granted(asked, partsAsked(asked)), asked);
  assert.deepEqual(granted(asked, ["clock"]), { clock: { precise: true } });
  assert.deepEqual(granted(asked, []), {});
});

test("a changed provider keeps its key, its limits and the details of its models", () => {
  const small = { name: "small", context: 8_000 };
  const before = {
    name: "Local", api: "azure", base_url: "http://a/v1", has_key: true, header_names: ["X-Team"], timeout_seconds: 9,
    limits: { concurrency: 2 },
    models: [small, { name: "vectors", kind: "embedding" as const }],
  };
  const models = { chat: ["small", "large"], embedding: [], speech: ["voice"], rerank: [], transcription: [] };
  assert.deepEqual(providerOf({ url: "http://b/v1", key: "", models }, before), {
    api: "azure",
    base_url: "http://b/v1",
    timeout_seconds: 9,
    limits: { concurrency: 2 },
    models: [small, { name: "large", kind: "chat" }, { name: "voice", kind: "speech" }],
  });
  const none = { chat: [], embedding: [], speech: [], rerank: [], transcription: [] };
  const made = providerOf({ api: "gemini", url: "", key: "sk", models: none });
  assert.deepEqual(made, { api: "gemini", base_url: "", key: "sk", models: [] });
});

test("a preset is found by its name or an alias in any case", () => {
  const presets = [
    { name: "Gemini", aliases: ["Google"], api: "gemini", local: false },
    { name: "Groq", api: "openai", local: false },
  ];
  assert.equal(presetOf(" google ", presets)?.name, "Gemini");
  assert.equal(presetOf("goo", presets), undefined);
  assert.deepEqual(presetsFor("GO", presets).map(({ name }) => name), ["Gemini"]);
  assert.deepEqual(presetsFor("", presets), presets);
});
