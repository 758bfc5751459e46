// Two users, or two tabs, change one canvas: changes that are merged, and conflicts.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Draft } from "../canvas/edit/draft.ts";
import { dict, type Dsl } from "../canvas/dsl.ts";
import { History } from "../canvas/history.ts";
import { merge, settle } from "../canvas/merge.ts";
import { rebase } from "../canvas/rebase.ts";

const node = (kind: string, params: object, to: string[] = [], from: string[] = []): Dsl["components"][string] => ({
  obj: { component_name: kind, params: { ...params } },
  downstream: to,
  upstream: from,
});

const picture = (id: string, form: object, x = 0): object => ({
  id,
  position: { x, y: 0 },
  data: { name: id, form: { ...form } },
});

function base(): Dsl {
  return {
    components: dict({
      begin: node("Begin", { prologue: "Hi" }, ["llm"]),
      llm: node("LLM", { sys_prompt: "Be kind.", temperature: 0.1 }, ["out"], ["begin"]),
      out: node("Message", { content: ["{llm@content}"] }, [], ["llm"]),
    }),
    graph: {
      nodes: [
        picture("begin", { prologue: "Hi" }),
        picture("llm", { sys_prompt: "Be kind.", temperature: 0.1 }),
        picture("out", { content: ["{llm@content}"] }),
      ],
      edges: [
        { id: "begin-llm", source: "begin", target: "llm" },
        { id: "llm-out", source: "llm", target: "out" },
      ],
    },
    globals: { "sys.query": "", "env.city": "Ulm" },
    history: [],
  };
}

function changed(dsl: Dsl, change: (draft: Draft) => void): Dsl {
  const draft = new Draft(dsl);
  change(draft);
  return draft.dsl;
}

const param = (id: string, name: string): string[] => ["components", id, "obj", "params", name];
const form = (id: string, name: string): string[] => ["graph", "nodes", id, "data", "form", name];
const set = (draft: Draft, id: string, name: string, value: unknown): void => {
  draft.set(param(id, name), value);
  draft.set(form(id, name), value);
};
const valueOf = (dsl: Dsl, id: string, name: string): unknown => dsl.components[id]?.obj.params[name];

test("changes of one side only are merged unchanged, since the other may have changed the title", () => {
  const changed = base();
  changed.components["out"] = node("Message", { content: ["Bye"] }, [], ["llm"]);
  assert.deepEqual(merge(base(), changed, base()), { ...merge(base(), base(), base()), dsl: changed });
  assert.deepEqual(merge(base(), base(), changed).dsl, changed);
});

test("changes of different settings, nodes and edges are merged", () => {
  const start = base();
  const mine = changed(start, (draft) => {
    set(draft, "llm", "sys_prompt", "Be brief.");
    draft.set(["components", "note"], node("Message", { content: ["mine"] }, [], ["llm"]));
    draft.set(["components", "llm", "downstream"], ["out", "note"]);
    draft.draw(picture("note", {}) as never);
    draft.wire({ id: "llm-note", source: "llm", target: "note" });
  });
  const theirs = changed(start, (draft) => {
    set(draft, "llm", "temperature", 0.7);
    draft.set(["components", "log"], node("Message", { content: ["theirs"] }, [], ["llm"]));
    draft.set(["components", "llm", "downstream"], ["out", "log"]);
    draft.draw(picture("log", {}) as never);
    draft.set(["globals", "env.city"], "Bonn");
  });
  const { dsl, conflicts } = merge(start, mine, theirs);
  assert.deepEqual(conflicts, []);
  assert.equal(valueOf(dsl, "llm", "sys_prompt"), "Be brief.");
  assert.equal(valueOf(dsl, "llm", "temperature"), 0.7);
  assert.deepEqual(dsl.components["llm"]?.downstream, ["out", "log", "note"]);
  assert.deepEqual(Object.keys(dsl.components), ["begin", "llm", "out", "log", "note"]);
  assert.equal(dsl.globals?.["env.city"], "Bonn");
  assert.deepEqual(dsl.graph, {
    ...(dsl.graph as object),
    edges: [...(start.graph as { edges: object[] }).edges, { id: "llm-note", source: "llm", target: "note" }],
  });
});

test("a setting that both changed is one conflict, and either value can be chosen", () => {
  const start = base();
  const mine = changed(start, (draft) => set(draft, "llm", "sys_prompt", "Be brief."));
  const theirs = changed(start, (draft) => set(draft, "llm", "sys_prompt", "Be exact."));
  const merged = merge(start, mine, theirs);
  assert.deepEqual(
    merged.conflicts.map(({ node: of, name, base: before, mine: our, theirs: other }) => [
      of,
      name,
      before,
      our,
      other,
    ]),
    [["llm", "sys_prompt", "Be kind.", "Be brief.", "Be exact."]],
  );
  const [conflict] = merged.conflicts;
  for (const [keys, wanted] of [[[conflict?.key ?? ""], "Be brief."], [[], "Be exact."]] as const) {
    const dsl = settle(merged, new Set(keys));
    assert.equal(valueOf(dsl, "llm", "sys_prompt"), wanted);
    assert.equal(new Draft(dsl).get(form("llm", "sys_prompt")), wanted, "the picture repeats it");
  }
});

test("a removed node is a conflict only if the other side changed its behaviour", () => {
  const start = base();
  const without = changed(start, (draft) => {
    draft.remove(["components", "out"]);
    draft.set(["components", "llm", "downstream"], []);
    draft.remove(["graph", "nodes", "out"]);
    draft.unwire(({ target }) => target === "out");
  });
  const moved = changed(start, (draft) => draft.set(["graph", "nodes", "out", "position"], { x: 9, y: 9 }));
  for (const [mine, theirs] of [[without, moved], [moved, without]] as const) {
    const { dsl, conflicts } = merge(start, mine, theirs);
    assert.deepEqual(conflicts, []);
    assert.deepEqual(Object.keys(dsl.components), ["begin", "llm"]);
    assert.deepEqual(dsl.components["llm"]?.downstream, []);
    assert.equal(new Draft(dsl).picture("out"), undefined);
  }
  const written = changed(start, (draft) => set(draft, "out", "content", ["More: {llm@content}"]));
  for (const [mine, theirs] of [[without, written], [written, without]] as const) {
    const merged = merge(start, mine, theirs);
    assert.deepEqual(merged.conflicts.map(({ key, name }) => [key, name]), [["out", undefined]]);
    const kept = settle(merged, new Set(mine === written ? ["out"] : []));
    assert.deepEqual(valueOf(kept, "out", "content"), ["More: {llm@content}"]);
    const gone = settle(merged, new Set(mine === written ? [] : ["out"]));
    assert.equal(gone.components["out"], undefined);
    assert.deepEqual(gone.components["llm"]?.downstream, []);
    assert.equal(new Draft(gone).edges().some(({ target }) => target === "out"), false);
  }
});

test("an edge to a node that the other side removed is removed, and edges to missing nodes are kept", () => {
  const start = changed(base(), (draft) => draft.set(["components", "begin", "downstream"], ["llm", "nowhere"]));
  const mine = changed(start, (draft) => draft.set(["components", "begin", "downstream"], ["llm", "nowhere", "out"]));
  const theirs = changed(start, (draft) => {
    draft.remove(["components", "out"]);
    draft.remove(["graph", "nodes", "out"]);
  });
  const { dsl, conflicts } = merge(start, mine, theirs);
  assert.deepEqual(conflicts, []);
  assert.deepEqual(dsl.components["begin"]?.downstream, ["llm", "nowhere"]);
});

test("state that runs store in a document is never a conflict", () => {
  const start = base();
  const mine = changed(start, (draft) => draft.set(["history"], ["mine"]));
  const theirs = changed(start, (draft) => {
    draft.set(["history"], ["theirs"]);
    draft.set(["globals", "sys.query"], "weather");
  });
  const { dsl, conflicts } = merge(start, mine, theirs);
  assert.deepEqual(conflicts, []);
  assert.deepEqual(dsl["history"], ["theirs"]);
});

test("random edits of two users: no change of either side is lost without a conflict", () => {
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
  const ids = ["begin", "llm", "out"];
  const names = ["a", "b", "c"];
  const edit = (start: Dsl, tag: string): Dsl =>
    changed(start, (draft) => {
      for (let count = 1 + random(3); count > 0; count--) {
        set(draft, ids[random(3)] as string, names[random(3)] as string, `${tag}${random(100)}`);
      }
    });
  for (let round = 0; round < 300; round++) {
    const start = edit(base(), "base");
    const [mine, theirs] = [edit(start, "mine"), edit(start, "theirs")];
    const merged = merge(start, mine, theirs);
    const asked = new Set(merged.conflicts.map(({ node: of, name }) => `${of}/${name}`));
    const kept = settle(merged, new Set(merged.conflicts.map(({ key }) => key)));
    for (const id of ids) {
      for (const name of names) {
        const [b, m, t] = [valueOf(start, id, name), valueOf(mine, id, name), valueOf(theirs, id, name)];
        const both = b !== m && b !== t && m !== t;
        assert.equal(asked.has(`${id}/${name}`), both);
        assert.equal(valueOf(merged.dsl, id, name), both || m === b ? t : m);
        assert.equal(valueOf(kept, id, name), m === b ? t : m);
        assert.equal(new Draft(kept).get(form(id, name)), valueOf(kept, id, name));
      }
    }
  }
});

test("edits remain steps of undo after changes of others were merged", () => {
  const start = base();
  const first = new Draft(start);
  set(first, "llm", "sys_prompt", "Be brief.");
  const second = new Draft(first.dsl);
  set(second, "out", "content", ["Mine"]);
  const history = new History(start).act({ changes: first.changes }).act({ changes: second.changes });
  const stored = history.undo().dsl; // the first edit was saved, then another user saved
  assert.equal(stored, history.since(stored) && stored);
  const theirs = changed(stored, (draft) => set(draft, "begin", "prologue", "Hello"));
  const { dsl } = merge(stored, history.dsl, theirs);
  const rebased = rebase(history, stored, theirs, dsl);
  assert.deepEqual(rebased.history.dsl, dsl);
  assert.equal(rebased.history.acts.length, 2);
  assert.equal(rebased.history.since(rebased.base)?.length, 1);
  assert.equal(valueOf(rebased.history.undo().dsl, "out", "content") instanceof Array, true);
  assert.equal(valueOf(rebased.history.undo().undo().dsl, "llm", "sys_prompt"), "Be kind.");
  assert.equal(valueOf(rebased.history.undo().undo().dsl, "begin", "prologue"), "Hello", "theirs stays");

  const collides = changed(stored, (draft) => set(draft, "llm", "sys_prompt", "Be exact."));
  const other = rebase(history, stored, collides, merge(stored, history.dsl, collides).dsl);
  assert.equal(other.history.acts.length, 1, "one step for what is not stored");
  assert.equal(other.base, collides);
});

test("edits that the stored document has already remain steps of undo, and none is unstored", () => {
  const start = base();
  const draft = new Draft(start);
  set(draft, "llm", "sys_prompt", "Be brief.");
  const history = new History(start).act({ changes: draft.changes });
  const theirs = JSON.parse(JSON.stringify(history.dsl)) as Dsl;
  const rebased = rebase(history, start, theirs, merge(start, history.dsl, theirs).dsl);
  assert.deepEqual(rebased.history.since(rebased.base), []);
  assert.equal(valueOf(rebased.history.undo().dsl, "llm", "sys_prompt"), "Be kind.");
});
