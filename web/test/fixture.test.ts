// A component that exists in the module only, built with the tag fixture: it is drawn, offered and
// edited by its description.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { renderToStaticMarkup } from "react-dom/server";
import { createElement } from "react";
import { createEngine } from "../../wasm/js/src/node.ts";
import { build as buildModule } from "../../wasm/js/test/module.ts";
import { dict, type Dsl } from "../canvas/dsl.ts";
import type { Specs } from "../canvas/drawing.ts";
import { build } from "../canvas/model.ts";
import { DatasetNames } from "../run/dataset-names.ts";
import { Datasets } from "../run/datasets.ts";
import { Host } from "../run/host.ts";
import { Together } from "../run/together.ts";
import { ServerNames } from "../run/server-names.ts";
import { Session } from "../run/session.ts";
import { standInsOf } from "../run/standins.ts";
import { Store } from "../run/store.ts";
import { AppContext, type Look } from "../view/context.tsx";
import SettingsForm from "../view/form/form.tsx";
import { partsOf } from "../view/form/shown.ts";
import { hueOf, Icon, iconOf, type IconName } from "../view/icons.tsx";
import { Panel } from "../view/panel.tsx";

const built = buildModule("fixture");
const engine = await createEngine({ wasm: built.wasm, runtime: built.runtime, worker: false });
const all = await engine.components();
const specs: Specs = new Map(all.flatMap((spec) => [spec.name, ...(spec.aliases ?? [])].map((name) => [name, spec])));
const spec = specs.get("Signpost") ?? assert.fail("the module has no fixture");
after(() => {
  engine.close();
  built.remove();
});

const params = {
  roads: [{ leads_to: ["Message:A"] }, { leads_to: "Message:B" }], home: ["Message:A", "Message:B"], unknown: 1, paint: "red",
};
const dsl: Dsl = { components: dict({
  begin: { obj: { component_name: "Begin", params: {} }, downstream: ["OldSignpost:S"] },
  "OldSignpost:S": { obj: { component_name: "OldSignpost", params }, downstream: ["Message:A", "Message:B"] },
  "Message:A": { obj: { component_name: "Message", params: { content: ["a"] } }, downstream: [] },
  "Message:B": { obj: { component_name: "Message", params: { content: ["b"] } }, downstream: [] },
}) };

test("it is in the palette with its category, icon and texts", () => {
  const { category, icon, role, description } = spec;
  assert.deepEqual([category, icon, role, description], ["flow", "fork", "branch", "Shows the way."]);
  assert.equal(hueOf(spec), "flow");
  const drawing = (name: IconName): string => renderToStaticMarkup(createElement(Icon, { name }));
  assert.equal(drawing(iconOf(spec)), drawing("fork"));
  assert.notEqual(drawing(iconOf(spec)), drawing("box"));
});

test("it is drawn with its branches, under its earlier name too", () => {
  const model = build(dsl, specs);
  const node = model.byId.get("OldSignpost:S");
  assert.deepEqual(node?.branches, [
    { id: "Road 1", label: "Road 1", to: ["Message:A"] }, { id: "Road 2", label: "Road 2", to: ["Message:B"] },
    { id: "home", label: "Way home", to: ["Message:A", "Message:B"] },
  ]);
  const ways = model.edges.filter(({ source }) => source === "OldSignpost:S").map((edge) => [edge.branch, edge.target]);
  assert.deepEqual(ways, [
    ["Road 1", "Message:A"], ["Road 2", "Message:B"], ["home", "Message:A"], ["home", "Message:B"],
  ]);
});

test("its form has its params in parts with labels, without params that have no effect", () => {
  const parts = Object.fromEntries(partsOf(spec, params).map(({ section, names }) => [section, names]));
  assert.deepEqual(parts["main"], ["roads", "home", "writing_on_it", "plan"]);
  assert.deepEqual(parts["advanced"]?.filter((name) => name !== "approval"), ["height", "unknown"]);
  assert.ok(parts["fail"]?.includes("exception_method"));
  const { writing_on_it: writing, height, plan } = spec.params?.properties ?? {};
  assert.deepEqual([writing?.title, height?.title, plan?.format], ["Writing on it", "Height (m)", "code"]);
});

test("its stand-in answers in a preview", async () => {
  const answer = standInsOf(all, Promise.resolve(engine))["Signpost"] ?? assert.fail("no stand-in");
  assert.deepEqual(await answer({ way: "north" }, {}), { outputs: { echo: { way: "north" } }, invented: true });
  await assert.rejects(engine.standIn("Begin", {}, {}), { code: "unsupported" });
});

test("a canvas with it is valid", async () => {
  const found = await engine.validate(dsl as unknown as Record<string, unknown>);
  assert.deepEqual(found.map(({ code, param }) => [code, param]), [["unknown_param", "unknown"]]);
});

test("the page shows its form", async () => {
  const host = { models: () => Promise.reject(new Error("no run asks the host")) };
  const session = new Session(Promise.resolve(engine), {}, host);
  await new Promise<void>((resolve) => { session.specs.subscribe(resolve); });
  session.open(JSON.stringify(dsl), "fixture", { kind: "example" });
  const look = new Store<Look>({ language: "en", dark: false, tab: "node", panel: true, wheel: "pan", selected: "OldSignpost:S" });
  const here = new Host();
  const datasetNames = new DatasetNames(new Datasets(here), here);
  const [together, serverNames] = [new Together(here, session), new ServerNames(here)];
  const app = { session, host: here, together, datasetNames, serverNames, look };
  const html = renderToStaticMarkup(createElement(AppContext, { value: app }, createElement(Panel)));
  for (const text of ["Shows the way.", 'data-hue="flow"']) assert.ok(html.includes(text), text);
  const props = { node: "OldSignpost:S", spec, params, changed: {}, onChange: () => undefined };
  const form = createElement(SettingsForm, props);
  const settings = renderToStaticMarkup(createElement(AppContext, { value: app }, form));
  const shown = ["Writing on it", "What it says", "Height (m)", "Advanced"];
  for (const text of shown) assert.ok(settings.includes(text), text);
  assert.ok(!settings.includes("paint"));
});
