// Damaged canvases: real ones with members removed, renamed, of other types, huge, deep or
// cyclic. Each is shown and checked, or refused with a reason; no other exception is thrown.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { after, test } from "node:test";
import { createElement, type ComponentType } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { EngineError } from "../../wasm/js/src/errors.ts";
import { createEngine } from "../../wasm/js/src/node.ts";
import { build as buildModule } from "../../wasm/js/test/module.ts";
import { CanvasError } from "../canvas/dsl.ts";
import type { CanvasModel } from "../canvas/drawing.ts";
import { build } from "../canvas/model.ts";
import { rows } from "../canvas/places.ts";
import { DatasetNames } from "../run/dataset-names.ts";
import { Datasets } from "../run/datasets.ts";
import { Host } from "../run/host.ts";
import { Together } from "../run/together.ts";
import { ServerNames } from "../run/server-names.ts";
import { Session, type Source } from "../run/session.ts";
import { Store } from "../run/store.ts";
import { Drawing } from "../view/board.tsx";
import { AppContext, type Look, type Tab } from "../view/context.tsx";
import { Panel } from "../view/panel.tsx";
import { brief } from "../view/text.ts";

const folders = ["../examples/", "../../host/examples/", "../../host/examples/plugins/", "../../plugins/examples/"].map((path) => new URL(path, import.meta.url));
const canvases = folders.flatMap((folder) => readdirSync(folder).filter((name) => name.endsWith(".json")).sort().map((name) => readFileSync(new URL(name, folder), "utf8")));

const built = buildModule();
const engine = createEngine({ wasm: built.wasm, runtime: built.runtime, worker: new URL("../../wasm/js/src/worker.node.ts", import.meta.url) });
after(async () => {
  (await engine).close();
  built.remove();
});

type Random = (below: number) => number;

function generator(seed: number): Random {
  let state = seed * 7919 + 1;
  return (below) => (state = (state * 48_271) % 2_147_483_647) % below;
}

const odd: (() => unknown)[] = [
  () => null, () => 0, () => -1.5e308, () => true, () => "", () => "constructor", () => "{{{", () => [], () => ({}), () => [[null]], () => [null, 1, "a", {}], () => ({ toString: 1, length: -1 }),
  () => "x".repeat(100_000), () => nested(1_000), () => ({ a: nested(100) }), () => "begin", () => Array.from({ length: 200 }, () => "begin"),
];

function nested(depth: number): unknown {
  let value: unknown = [];
  for (let i = 0; i < depth; i++) value = i % 2 ? [value] : { a: value };
  return value;
}

type Record_ = Record<string, unknown>;

function objectsIn(value: unknown): Record_[] {
  if (typeof value !== "object" || value === null) return [];
  return [value as Record_, ...Object.values(value).flatMap(objectsIn)];
}

// damage changes one member somewhere in a document.
function damage(document: Record_, random: Random): void {
  const places = objectsIn(document);
  const at = places[random(places.length)] as Record_;
  const keys = Object.keys(at);
  const key = keys[random(keys.length || 1)] ?? "x";
  switch (random(6)) {
    case 0: delete at[key]; break;
    case 1:
      if (Array.isArray(at)) at.reverse();
      else {
        const value = at[key];
        delete at[key];
        at[["__proto__", "toString", "", key + "\u0000", "x".repeat(5_000), "begin"][random(6)] as string] = value;
      }
      break;
    case 2: circle(document, random); break;
    default: at[key] = odd[random(odd.length)]?.();
  }
}

// circle makes nodes parents or successors of each other and of themselves.
function circle(document: Record_, random: Random): void {
  const dsl = (document["dsl"] ?? document) as Record_;
  const components = dsl["components"] as Record<string, Record_ | null> | undefined;
  const ids = Object.keys(components ?? {});
  for (const id of ids) {
    const component = components?.[id];
    if (typeof component !== "object" || component === null) continue;
    const other = ids[random(ids.length)] as string;
    if (random(2)) component["parent_id"] = other;
    else component["downstream"] = [other, id];
  }
}

function mutant(seed: number): string {
  const random = generator(seed);
  const text = canvases[random(canvases.length)] as string;
  if (random(20) === 0) return text.slice(0, random(text.length));
  const document = JSON.parse(text) as Record_;
  for (let count = 1 + random(8); count > 0; count--) damage(document, random);
  return JSON.stringify(document);
}

/** Internal words, which do not help a user. */
const unclear = /undefined|\bnull pointer|panic|goroutine|runtime error|is not a function|is not iterable|Cannot read|\[object|call stack|reflect\.|interface \{|map\[|\*?\bengine\.[A-Z]/;

function clear(message: string): void {
  assert.ok(message.length > 3 && message.length < 2_000, message.slice(0, 200));
  assert.doesNotMatch(message.replaceAll(/"[^"]*"/g, '""'), unclear);
}

async function refused(promise: Promise<unknown>): Promise<void> {
  await promise.catch((err: unknown) => {
    assert.ok(err instanceof EngineError, String((err as Error).stack));
    clear(brief(err.message, 600)); // as the page shows it
  });
}

function sound(model: CanvasModel): void {
  const numbers = model.nodes.flatMap(({ x, y, width = 1, height = 1 }) => [x, y, width, height]);
  assert.ok(numbers.every(Number.isFinite), "places are numbers");
  const texts = model.nodes.flatMap(({ id, name, kind, text = "", tools, branches }) => [id, name, kind, text, ...tools, ...branches.flatMap((branch) => [branch.id, branch.label, ...branch.to])]);
  assert.ok(texts.every((text) => typeof text === "string"), "texts are strings");
  assert.equal(new Set(model.nodes.map(({ id }) => id)).size, model.nodes.length, "each id stands once");
  assert.equal(new Set(model.edges.map(({ id }) => id)).size, model.edges.length, "each edge stands once");
}

const tabs: Tab[] = ["chat", "problems"];

// draw renders the canvas and pages of the panel, with two nodes inspected.
function draw(session: Session, random: Random): void {
  const document = session.document.get();
  assert.ok(document);
  const host = new Host();
  const datasetNames = new DatasetNames(new Datasets(host), host);
  const together = new Together(host, session);
  const render = (view: ComponentType<never>, props: object, look: Partial<Look>): void => {
    const app = {
      session, host, together, datasetNames, serverNames: new ServerNames(host),
      look: new Store<Look>({ language: "en", dark: false, tab: "chat", panel: true, wheel: "pan", ...look }) };
    renderToStaticMarkup(createElement(AppContext, { value: app }, createElement(view as ComponentType<object>, props)));
  };
  const view = { x: 0, y: 0, zoom: 1 };
  render(Drawing as ComponentType<never>, { model: document.model, title: "x", view }, {});
  for (const tab of tabs) render(Panel, {}, { tab });
  const { nodes } = document.model;
  for (const node of [nodes[0], nodes[random(nodes.length || 1)]]) render(Panel, {}, { tab: "node", selected: node?.id });
}

async function show(text: string): Promise<void> {
  const session = new Session(engine, {}, { models: () => Promise.reject(new Error("no run asks the host")) });
  const source: Source = { kind: text.length % 2 ? "link" : "example" };
  try {
    session.open(text, "mutant", source);
  } catch (err) {
    assert.ok(err instanceof CanvasError, String((err as Error).stack));
    clear(err.message);
    return;
  }
  const { dsl, opened, model } = session.document.get() ?? assert.fail();
  sound(model);
  sound(build(dsl, session.specs.get(), rows(model.nodes)));
  const machine = await engine;
  const problems = await machine.validate(opened.text);
  for (const problem of problems) clear(brief(problem.message, 600)); // as the page shows it
  await refused(machine.layout(opened.text));
  await refused(machine.load(opened.text).then(async (canvas) => {
    try {
      for (const id of Object.keys(dsl.components)) await refused(canvas.form(id));
    } finally {
      canvas.close();
    }
  }));
  draw(session, generator(text.length));
  session.close();
}

test("300 damaged canvases are shown or refused with a reason", async () => {
  await engine;
  const failures: string[] = [];
  for (let seed = 1; seed <= 300; seed++) {
    await show(mutant(seed)).catch((err: unknown) => failures.push(`seed ${seed}: ${String((err as Error).stack).slice(0, 700)}`));
  }
  assert.deepEqual(failures, []);
});
