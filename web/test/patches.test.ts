// Patches, their inverses, and the text that an edited canvas is written to.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { diff } from "../canvas/diff.ts";
import { isObject, open } from "../canvas/dsl.ts";
import { Draft } from "../canvas/edit/draft.ts";
import { compact, History } from "../canvas/history.ts";
import { apply, find, invert, PatchError, same, type Change, type Path } from "../canvas/patch.ts";
import { rewrite } from "../canvas/rewrite.ts";

const folders = ["../examples/", "../../host/examples/"].map((path) => new URL(path, import.meta.url).pathname);
if (process.env["EASEL_CANVASES"]) folders.push(process.env["EASEL_CANVASES"].replace(/\/?$/, "/"));
const files = folders.flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".json"))
    .map((name) => folder + name),
);

interface Case {
  name: string;
  before: unknown;
  after?: unknown;
  patch: Change[];
  /** Part of the error of a refused patch. */
  error?: string;
  /** Diff of before and after returns the patch. */
  diff?: boolean;
}

const cases = JSON.parse(readFileSync(new URL("patches.json", import.meta.url), "utf8")) as Case[];

for (const { name, before, after, patch, error, diff: made } of cases) {
  test(`patch: ${name}`, () => {
    if (error !== undefined) {
      assert.throws(
        () => apply(before, patch),
        (err) => err instanceof PatchError && err.message.includes(error),
      );
      return;
    }
    assert.equal(JSON.stringify(apply(before, patch)), JSON.stringify(after));
    assert.equal(JSON.stringify(apply(after, invert(patch))), JSON.stringify(before));
    if (made) assert.deepEqual(diff(before, after), patch);
  });
}

type Random = (below: number) => number;

function generator(seed: number): Random {
  let state = seed * 7919 + 1;
  return (below) => (state = (state * 48_271) % 2_147_483_647) % below;
}

const odd: (() => unknown)[] = [
  () => null,
  () => 0.5,
  () => "",
  () => 'a "b"\n\u{1F642}',
  () => [],
  () => ({}),
  () => ({ id: "x", n: [1] }),
  () => [{ id: "x" }, { id: "y" }],
];

// place returns a random list or object in a document.
function place(document: unknown, random: Random): Path {
  const path: (string | number)[] = [];
  let value = document;
  for (let depth = random(7); depth > 0; depth--) {
    const keys = Array.isArray(value) ? [...value.keys()] : isObject(value) ? Object.keys(value) : [];
    const key = keys[random(keys.length || 1)];
    const next = key === undefined ? undefined : (value as Record<string, unknown>)[key];
    if (key === undefined || typeof next !== "object" || next === null) break;
    path.push(key);
    value = next;
  }
  return path;
}

function mutate(draft: Draft, random: Random): void {
  const path = place(draft.dsl, random);
  const value = find(draft.dsl, path);
  const made = odd[random(odd.length)]?.();
  if (Array.isArray(value)) {
    const at = random(value.length + 1);
    if (random(2)) draft.insert(path, made, at);
    else if (at < value.length) draft.remove([...path, at]);
  } else if (isObject(value)) {
    const keys = Object.keys(value);
    const key = random(2) ? keys[random(keys.length || 1)] : `k${random(30)}`;
    if (key === undefined) return;
    if (random(2)) draft.remove([...path, key]);
    else draft.set([...path, key], made);
  }
}

for (const file of files) {
  test(`random patches and their inverses restore the bytes of ${file.split("/").at(-1)}`, () => {
    const random = generator(file.length);
    const { dsl: base, text } = open(readFileSync(file, "utf8"));
    const draft = new Draft(base);
    const count = file.includes("tea-house") ? 10_000 : 200;
    for (let i = 0; i < count; i++) {
      const before = draft.changes.length;
      mutate(draft, random);
      if (draft.changes.length === before || i % 40) continue;
      assert.ok(
        same(JSON.parse(rewrite(text, base, draft.dsl)), JSON.parse(JSON.stringify(draft.dsl))),
        "the text says what the document is",
      );
      assert.ok(same(apply(base, diff(base, draft.dsl)), draft.dsl), "the difference makes the document");
    }
    const compacted = compact(draft.changes.slice(0, 200));
    assert.ok(
      same(apply(base, compacted), apply(base, draft.changes.slice(0, 200))),
      "a compacted patch does the same",
    );
    const back = apply(draft.dsl, invert(draft.changes));
    assert.equal(rewrite(text, base, back), text);
    assert.equal(JSON.stringify(back), JSON.stringify(base));
  });

  test(`${file.split("/").at(-1)} is saved with all bytes that were not edited`, () => {
    const whole = readFileSync(file, "utf8");
    const { dsl, text, wrap } = open(whole);
    assert.equal(wrap(text), whole);
    for (const id of Object.keys(dsl.components)) {
      const draft = new Draft(dsl);
      draft.set(["components", id, "obj", "params", "easel_test"], "edited");
      const made = wrap(rewrite(text, dsl, draft.dsl));
      const [head, tail] = [shared(whole, made), shared(reversed(whole), reversed(made))];
      const added = made
        .slice(head, made.length - tail)
        .trim()
        .replace(/^,\s*/, "")
        .replace(/,$/, "");
      assert.ok(head + tail >= whole.length - 2, `${id}: only one place differs`);
      assert.match(added, /easel_test/);
      assert.ok(added.length < 200, added.slice(0, 300));
      assert.ok(same(open(made).dsl.components[id]?.obj.params, draft.dsl.components[id]?.obj.params));
    }
  });
}

function shared(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}

function reversed(text: string): string {
  return [...text].reverse().join("");
}

test("numbers beyond JavaScript's precision, duplicate keys and spaces are preserved", () => {
  const params = `{"n":9007199254740993,"m": 1.0, "n":1e400,"s":"\\u00e9"}`;
  const text = `{ "components" : {"a":{"obj":{"component_name":"X","params":${params} }}},\n"z":1.50 }`;
  const { dsl } = open(text);
  const draft = new Draft(dsl);
  draft.set(["components", "a", "obj", "params", "m"], 2);
  assert.equal(rewrite(text, dsl, draft.dsl), text.replace("1.0", "2"));
  draft.remove(["components", "a", "obj", "params", "m"]);
  assert.match(rewrite(text, dsl, draft.dsl), /\{"n":1e400,"s":"\\u00e9"\}/);
});

test("consecutive edits with one key are one step, and an edit without a change is none", () => {
  const { dsl } = open(`{"components":{"a":{"obj":{"component_name":"X","params":{"s":""}}}}}`);
  const type = (history: History, after: string): History => {
    const draft = new Draft(history.dsl);
    draft.set(["components", "a", "obj", "params", "s"], after);
    return history.act({ changes: draft.changes, key: "a/s" });
  };
  let history = new History(dsl);
  for (const text of ["h", "he", "hey"]) history = type(history, text);
  assert.equal(history.acts.length, 1);
  assert.equal(history.undo().dsl, dsl);
  assert.equal(history.undo().redo().dsl, history.dsl);
  history = type(history, "");
  assert.equal(history.canUndo, false);
  assert.equal(history.dsl, dsl);
});
