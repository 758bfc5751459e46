// A selection becomes a separate canvas and is merged back: runs stay the same, and each edit can
// be undone.

import assert from "node:assert/strict";
import { test } from "node:test";
import { createEngine } from "../../wasm/js/src/node.ts";
import { build as module } from "../../wasm/js/test/module.ts";
import { dict, type Dsl } from "../canvas/dsl.ts";
import { Draft, setParam } from "../canvas/edit/draft.ts";
import { inline } from "../canvas/edit/inline.ts";
import { addNode } from "../canvas/edit/nodes.ts";
import { extract, type Extraction } from "../canvas/edit/subcanvas.ts";
import { connect, errorHandle } from "../canvas/edit/wires.ts";
import { build } from "../canvas/model.ts";
import { apply, invert } from "../canvas/patch.ts";
import { specs } from "./specs.ts";

interface Bot {
  draft: Draft;
  find: string;
  ask: string;
  polish: string;
  say: string;
}

// bot returns begin -> find -> ask -> polish -> say, where say reads two of the earlier steps.
function bot(): Bot {
  const draft = new Draft({ components: dict({}), globals: { "sys.query": "", "env.tone": "kind" }, variables: {} });
  addNode(draft, specs, "Begin", "begin", { x: 0, y: 0 });
  const [find, ask, polish] = ["Find", "Ask", "Polish"].map((name, at) =>
    addNode(draft, specs, "StringTransform", name, { x: 300 * (at + 1), y: 0 }, { method: "merge", delimiters: [""] }),
  ) as [string, string, string];
  const say = addNode(draft, specs, "Message", "Say", { x: 1200, y: 0 });
  setParam(draft, find, "script", "notes on {sys.query}");
  setParam(draft, ask, "script", "{begin@topic} {env.tone} {sys.query}: {" + find + "@result}");
  setParam(draft, polish, "script", "<{" + ask + "@result}>");
  setParam(draft, say, "content", [`{${polish}@result} from {${ask}@result}`]);
  setParam(draft, "begin", "inputs", { topic: { name: "Topic", type: "line", optional: true, value: "tea" } });
  for (const [from, to] of [["begin", find], [find, ask], [ask, polish], [polish, say]] as const) {
    connect(draft, specs, from, to);
  }
  return { draft, find, ask, polish, say };
}

const modelOf = (dsl: Dsl): ReturnType<typeof build> => build(dsl, specs);

function taken(dsl: Dsl, ids: string[]): Extraction {
  const made = extract(dsl, modelOf(dsl), specs, ids);
  assert.ok(typeof made !== "string", String(made));
  return made;
}

test("values that a selection reads become inputs, values that others read from it outputs", () => {
  const { draft, find, ask, polish, say } = bot();
  const made = taken(draft.dsl, [ask, polish]);
  const sub = made.dsl.components;
  assert.deepEqual(Object.keys(sub).slice(0, 3), ["begin", ask, polish], "ids stay");
  assert.equal(sub[ask]?.obj.params["script"], "{begin@topic} {begin@tone} {sys.query}: {begin@result}");
  assert.equal(sub[polish]?.obj.params["script"], `<{${ask}@result}>`);
  assert.deepEqual(sub["begin"]?.downstream, [ask]);

  const act = new Draft(draft.dsl);
  const id = made.put(act, "polishing", "Polish it");
  const inputs = { topic: "{begin@topic}", tone: "{env.tone}", result: `{${find}@result}` };
  assert.deepEqual(act.params(id)["inputs"], inputs);
  assert.deepEqual(act.params(say)["content"], [`{${id}@outputs.result} from {${id}@outputs.result_2}`]);
  assert.deepEqual([act.dsl.components[find]?.downstream, act.dsl.components[id]?.downstream], [[id], [say]]);
  assert.equal(act.dsl.components[ask], undefined);
  assert.equal(JSON.stringify(apply(act.dsl, invert(act.changes))), JSON.stringify(draft.dsl), "one act, undone");
});

test("a canvas replaces the node that runs it, with the same bytes as before", () => {
  const { draft, ask, polish } = bot();
  const before = draft.dsl;
  for (const ids of [[polish], [ask, polish]]) {
    const made = taken(before, ids);
    const act = new Draft(before);
    const id = made.put(act, "polishing", "Polish it");
    const back = new Draft(act.dsl);
    const put = inline(back, specs, id, made.dsl);
    assert.deepEqual(new Set(put as string[]), new Set(ids));
    const sorted = (dsl: Dsl): unknown => Object.fromEntries(Object.entries(dsl.components).toSorted());
    assert.deepEqual(sorted(back.dsl), sorted(before));
    const places = (dsl: Dsl): unknown => modelOf(dsl).nodes.map(({ id: each, x, y }) => [each, x, y]).toSorted();
    assert.deepEqual(places(back.dsl), places(before));
    assert.equal(JSON.stringify(apply(back.dsl, invert(back.changes))), JSON.stringify(act.dsl));
  }
});

test("it gives the same answer with a part in a canvas of its own", async () => {
  const built = module();
  const engine = await createEngine({ wasm: built.wasm, runtime: built.runtime, worker: false });
  try {
    const { draft, ask, polish } = bot();
    const made = taken(draft.dsl, [ask, polish]);
    const act = new Draft(draft.dsl);
    made.put(act, "polishing", "Polish it");
    const stored = JSON.stringify(made.dsl);
    const answers: string[] = [];
    for (const dsl of [draft.dsl, act.dsl]) {
      assert.deepEqual((await engine.validate(JSON.stringify(dsl))).filter(({ severity }) => severity === "error"), []);
      const canvas = await engine.load(JSON.stringify(dsl));
      let answer = "";
      const ports = { canvas: () => ({ dsl: stored }) };
      for await (const event of canvas.run({ query: "leaves", inputs: { topic: "tea" } }, { ports })) {
        if (event.event === "message") answer += event.data.content;
      }
      answers.push(answer);
    }
    assert.match(answers[0] ?? "", /^<tea kind leaves: notes on leaves> from tea kind leaves: /);
    assert.equal(answers[1], answers[0]);
    assert.deepEqual((await engine.validate(stored)).filter(({ severity }) => severity === "error"), []);
  } finally {
    engine.close();
    built.remove();
  }
});

test("a selection that would run differently is refused with its reason", () => {
  const { draft, find, ask, polish, say } = bot();
  const unfit = (ids: string[], dsl = draft.dsl): unknown => {
    const made = extract(dsl, modelOf(dsl), specs, ids);
    return typeof made === "string" ? made : "fits";
  };
  assert.equal(unfit([]), "nothing");
  assert.equal(unfit(["begin", find]), "start");
  assert.equal(unfit([find, polish]), "ways_in");
  assert.equal(unfit([say]), "says");
  assert.equal(unfit([polish]), "fits");

  const branched = new Draft(draft.dsl);
  const choose = addNode(branched, specs, "Switch", "Choose", { x: 0, y: 300 });
  connect(branched, specs, find, choose);
  connect(branched, specs, choose, polish, "Case 1");
  assert.equal(unfit([choose], branched.dsl), "ways_out", "which way it takes is decided inside");

  const guarded = new Draft(draft.dsl);
  connect(guarded, specs, ask, say, errorHandle);
  assert.equal(unfit([ask], guarded.dsl), "ways_out");

  const assigning = new Draft(draft.dsl);
  const change = addNode(assigning, specs, "VariableAssigner", "Change", { x: 0, y: 300 });
  connect(assigning, specs, find, change);
  assert.equal(unfit([change], assigning.dsl), "assigns");

  const grouped = new Draft(draft.dsl);
  const loop = addNode(grouped, specs, "Loop", "Again", { x: 0, y: 300 });
  const inside = addNode(grouped, specs, "StringTransform", "Inside", { x: 0, y: 0, parent: loop });
  assert.equal(unfit([find, inside], grouped.dsl), "mixed");
  assert.equal(unfit([loop], grouped.dsl), "fits");
});

test("a canvas that cannot replace its node is refused with its reason", () => {
  const { draft, ask, polish, say } = bot();
  const made = taken(draft.dsl, [ask, polish]);
  const act = new Draft(draft.dsl);
  const id = made.put(act, "polishing", "Polish it");
  const refused = (change: (draft: Draft) => void, sub = made.dsl): unknown => {
    const changed = new Draft(act.dsl);
    change(changed);
    const before = changed.dsl;
    const answer = inline(changed, specs, id, sub);
    if (typeof answer === "string") assert.equal(changed.dsl, before, "nothing is changed");
    return typeof answer === "string" ? answer : "fits";
  };
  assert.equal(refused(() => undefined), "fits");
  assert.equal(refused((on) => setParam(on, id, "inputs", { topic: "tea" })), "input");
  assert.equal(refused((on) => setParam(on, say, "content", [`{${id}@content}`])), "answer");
  assert.equal(refused((on) => connect(on, specs, id, say, errorHandle)), "error");
  const bare = new Draft({ components: dict({}) });
  addNode(bare, specs, "Begin", "begin", { x: 0, y: 0 });
  assert.equal(refused((on) => setParam(on, say, "content", [""]), bare.dsl), "end");
  const talking = new Draft(made.dsl);
  const extra = addNode(talking, specs, "Message", "Done", { x: 0, y: 300 });
  connect(talking, specs, ask, extra);
  assert.equal(refused(() => undefined, talking.dsl), "says");
  const own = new Draft(made.dsl);
  setParam(own, polish, "script", "{env.mine}");
  assert.equal(refused(() => undefined, own.dsl), "variables");
});

test("the answer of a canvas is read from the source of its last message", () => {
  const { draft, find, say } = bot();
  const answering = new Draft({ components: dict({}) });
  addNode(answering, specs, "Begin", "begin", { x: 0, y: 0 });
  const made = addNode(answering, specs, "StringTransform", "Make", { x: 300, y: 0 }, { method: "merge", script: "!" });
  const told = addNode(answering, specs, "Message", "Tell", { x: 600, y: 0 }, { content: [`{${made}@result}`] });
  connect(answering, specs, "begin", made);
  connect(answering, specs, made, told);
  const act = new Draft(draft.dsl);
  const id = addNode(act, specs, "Canvas", "Other", { x: 300, y: 300 });
  setParam(act, say, "content", [`{${id}@content}`]);
  connect(act, specs, find, id);
  connect(act, specs, id, say);
  const put = inline(act, specs, id, answering.dsl);
  assert.deepEqual(put, [made]);
  assert.deepEqual(act.params(say)["content"], [`{${made}@result}`]);
  assert.ok(act.dsl.components[made]?.downstream?.includes(say));
});
