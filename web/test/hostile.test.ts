// Forms of canvases that somebody else made: no value of a document breaks them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Writable } from "node:stream";
import { createElement } from "react";
import { renderToPipeableStream } from "react-dom/server";
import { DatasetNames } from "../run/dataset-names.ts";
import { Session } from "../run/session.ts";
import { ServerNames } from "../run/server-names.ts";
import { Store } from "../run/store.ts";
import type { World } from "../run/player.ts";
import { AppContext, type App, type Look } from "../view/context.tsx";
import SettingsForm from "../view/form/form.tsx";
import { settingsSchema } from "../view/form/settings.generated.ts";
import { specs as components } from "./specs.ts";

const specs = new Map(components).set("settings", {
  name: "settings", category: "flow", group: "flow", icon: "box", params: settingsSchema,
});
const never = new Promise<never>(() => undefined);
const session = new Session(never, { fetch: () => never } as unknown as World, { models: () => never });
session.specs.set(specs);
const closed = { status: "closed", name: "", canvases: [], total: 0, models: [] };
const host = { state: new Store(closed), request: () => never };
const app = {
  session, host,
  look: new Store<Look>({ language: "en", dark: false, tab: "node", panel: true, wheel: "pan" }),
  datasetNames: new DatasetNames({ find: () => never }, host as never),
  serverNames: new ServerNames(host as never),
} as unknown as App;

/** errorsOf opens a canvas with one step and draws the form of its settings. */
async function errorsOf(kind: string, params: unknown): Promise<unknown[]> {
  const components = { "X:1": { obj: { component_name: kind, params }, downstream: [], upstream: [] } };
  session.open(JSON.stringify({ components }), "x");
  const own = session.document.get()?.model.byId.get("X:1")?.params ?? {};
  const form = createElement(SettingsForm, {
    node: "X:1", spec: specs.get(kind), params: own, changed: {}, onChange: () => undefined,
  });
  const errors: unknown[] = [];
  await new Promise<void>((resolve) => {
    const { pipe } = renderToPipeableStream(createElement(AppContext, { value: app }, form), {
      onError: (err) => void errors.push(err),
      onShellError: () => resolve(),
      onAllReady: () => void pipe(new Writable({ write: (_chunk, _encoding, done) => done(), final: () => resolve() })),
    });
  });
  return errors;
}

// Members that editors read. Each is an object that String() cannot convert.
const broken = { toString: 1, valueOf: 1 };
const members = [
  "key", "value", "op", "operator", "name", "type", "role", "content", "component_name", "params", "id", "mcp_id",
  "tools", "variable", "input_mode", "items", "to", "logical_operator", "cpn_id", "ref", "description", "options",
  "auth_type", "token", "hmac", "ip_whitelist", "rate_limit", "max_body_size", "method", "manual", "examples",
];
const all = (value: unknown): object => Object.fromEntries(members.map((name) => [name, value]));
const hostile: Record<string, unknown> = {
  "an object": broken, "a list": [broken], "objects": [all(broken)], "members": { x: all(broken), y: broken },
  "lists": [all([broken])], "numbers": [all(1)], "nulls": [all(null), null], "a section": all(broken),
  "security by signature": { auth_type: "hmac", hmac: all(broken), ip_whitelist: [broken], rate_limit: all(broken) },
  "security by token": { auth_type: "jwt", jwt: { secret: broken, audience: [broken], required_claims: broken } },
  "a filter": { method: "manual", manual: [all(broken)], logic: broken, semi_auto: [broken] },
  "a prototype": JSON.parse('{"__proto__": {"a": 1}, "constructor": 1, "hasOwnProperty": 2, "toString": 3}'),
};

for (const [label, value] of Object.entries(hostile)) {
  test(`no form breaks by ${label} in any of its params`, async () => {
    for (const spec of new Set(specs.values())) {
      const names = Object.keys(spec.params?.properties ?? {});
      const params = Object.fromEntries([...names, "outputs", "other"].map((name) => [name, value]));
      for (const given of [params, { ...params, mode: "Webhook", operations: "filter", db_type: "mysql" }])
        assert.deepEqual(await errorsOf(spec.name, given), [], spec.name);
    }
  });
}
