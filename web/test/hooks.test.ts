// The settings of webhooks as forms change them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { hookExample, hookFields, hookSchema, hookTypes, type HookField } from "../canvas/hook-schema.ts";
import {
  entriesOf, freeName, keyOf, newKey, proofOf, withKey, withPart, withProof, type Preset, type Proof,
} from "../canvas/hook-security.ts";

const github: Preset = {
  name: "github", title: "GitHub", key: "hmac.secret",
  security: { auth_type: "hmac", hmac: { header: "X-Hub-Signature-256", algorithm: "sha256", prefix: "sha256=" } },
};

test("a preset is stored with its settings and the limits that were there", () => {
  const limits = { rate_limit: { limit: 5, per: "minute" }, ip_whitelist: ["10.0.0.0/8"] };
  const before = { auth_type: "token", token: { token_header: "X", token_value: "old" }, ...limits };
  const now = withKey(withProof(before, github), "{{secret:HOOK}}");
  assert.deepEqual(now, {
    auth_type: "hmac",
    hmac: { header: "X-Hub-Signature-256", algorithm: "sha256", prefix: "sha256=", secret: "{{secret:HOOK}}" },
    ...limits,
  });
  assert.equal(keyOf(now), "{{secret:HOOK}}");
  assert.equal(Object.hasOwn(github.security["hmac"] as object, "secret"), false, "the preset is not changed");
  assert.deepEqual(withProof(now, ""), limits);
});

test("the kind of proof is read as the host reads it", () => {
  const cases: [unknown, string][] = [
    [undefined, ""], [null, ""], [{}, ""], ["x", ""], [[], ""], [{ rate_limit: {} }, ""],
    [{ auth_type: "none" }, ""], [{ auth_type: "none", allow_anonymous: true }, "none"],
    [{ auth_type: "", allow_anonymous: true }, "none"],
    [{ auth_type: "hmac" }, "hmac"], [{ auth_type: "basic" }, "basic"],
    [{ auth_type: "oauth" }, "unknown"], [{ auth_type: "toString" }, "unknown"], [{ auth_type: 7 }, "unknown"],
  ];
  for (const [security, kind] of cases) assert.equal(proofOf(security), kind, JSON.stringify(security));
});

test("each kind of proof takes a key at its place", () => {
  const places: Record<Proof, string> = {
    token: "token.token_value", basic: "basic_auth.password", jwt: "jwt.secret", hmac: "hmac.secret",
  };
  for (const [kind, path] of Object.entries(places)) {
    const made = withKey(withProof(undefined, kind as Proof), "k");
    const [part = "", member = ""] = path.split(".");
    assert.equal((made[part] as Record<string, unknown>)[member], "k");
    assert.equal(keyOf(withKey(made, "")), "");
  }
  const changed = withPart(withProof(undefined, "jwt"), { issuer: "shop", algorithm: undefined });
  assert.deepEqual(changed, { auth_type: "jwt", jwt: { issuer: "shop" } });
});

test("keys are random, long, and in the encoding of the sender", () => {
  const plain = newKey(withProof(undefined, github));
  assert.match(plain, /^[0-9a-f]{64}$/);
  assert.notEqual(plain, newKey(withProof(undefined, github)));
  const based = newKey(withPart(withProof(undefined, "hmac"), { secret_encoding: "base64" }));
  assert.match(based, /^whsec_[A-Za-z0-9+/]{43}=$/);
});

test("names of new secrets come from the title, and are free", () => {
  assert.equal(freeName("Orders of the shop", []), "WEBHOOK_ORDERS_OF_THE_SHOP");
  assert.equal(freeName("订单", ["WEBHOOK", "WEBHOOK_2"]), "WEBHOOK_3");
  assert.deepEqual([entriesOf(" a, b\n\nc "), entriesOf(" \n")], [["a", "b", "c"], undefined]);
});

test("values to read are rows, and rows are written without losing what else is stored", () => {
  const schema = {
    body: { type: "object", properties: { order: { type: "number", description: "its number" } }, required: ["order"] },
    headers: { properties: { "X-Event": { type: "string" } }, required: [] },
  };
  const rows = hookFields(schema);
  assert.deepEqual(rows, [
    { part: "body", name: "order", type: "number", required: true },
    { part: "headers", name: "X-Event", type: "string", required: false },
  ]);
  assert.deepEqual(hookSchema(schema, rows), schema);
  const more: HookField[] = [...rows, { part: "query", name: "page", type: "", required: true }];
  assert.deepEqual(hookSchema(schema, more)["query"], { properties: { page: {} }, required: ["page"] });
  assert.deepEqual(hookFields(hookSchema(schema, more)).length, 3);
  assert.deepEqual(hookSchema(schema, [])["body"], { type: "object", properties: {}, required: [] });
  for (const odd of [undefined, null, "x", [], { body: 1 }, { body: { properties: [], required: "x" } }]) {
    assert.deepEqual(hookFields(odd), []);
  }
});

test("an example of a body adds its members with their types", () => {
  const known: HookField[] = [{ part: "body", name: "id", type: "string", required: true }];
  const text = `{"id": 7, "paid": true, "items": [{"n": 1}], "tags": ["a"], "mixed": [1, "a"], "none": null,
    "who": {}}`;
  const rows = hookExample(known, text);
  assert.ok(Array.isArray(rows));
  assert.deepEqual(rows.map(({ name, type, required }) => [name, type, required]), [
    ["id", "string", true], ["paid", "boolean", false], ["items", "array<object>", false],
    ["tags", "array<string>", false],
    ["mixed", "array", false], ["none", "", false], ["who", "object", false],
  ]);
  assert.deepEqual(hookExample(known, `{"id": 1}`), known);
  for (const text of ["", "{", "order=7"]) assert.equal(hookExample([], text), "not_json");
  for (const text of ["[]", "1", "null", `"x"`]) assert.equal(hookExample([], text), "not_object");
  assert.ok(hookTypes.includes("array<object>"));
});

test("rows that are not edited keep what they cannot show", () => {
  const properties = { a: { type: ["string", "null"], enum: [1] }, b: { $ref: "#/x" }, c: 5, d: { type: "string" } };
  const before = { body: { type: "object", properties, required: ["a", "gone"] }, other: 1 };
  assert.deepEqual(hookSchema(before, hookFields(before)), before);
  const next = hookFields(before).map((row) => (row.name === "d" ? { ...row, type: "number" } : row));
  const changed = { ...properties, d: { type: "number" } };
  assert.deepEqual(hookSchema(before, next), { ...before, body: { ...before.body, properties: changed } });
});
