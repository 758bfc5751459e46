// The profile of a run: the critical path of executions, waits in queues, and the time that one
// more slot would have saved. `easel run --profile` computes the same (host/internal/cli/profile);
// both are tested with the cases of that package.

import type { RunEvent } from "@easel/engine";
import type { CanvasModel } from "../canvas/drawing.ts";

/** Graph holds the dependencies of the nodes of a canvas, by id. */
export type Graph = Record<string, { parent?: string; needs?: string[] }>;

/** Span is one execution in time, in seconds from the start of the run. */
export interface Span {
  node: string;
  /** Which execution of its node, from 1. */
  run: number;
  name: string;
  /** Indexes of the elements of bodies that run at once, the outer body first. */
  items?: number[];
  /** Index in Profile.steps of the container around it, or -1. */
  parent: number;
  from: number;
  until: number;
  /** Each after the call in which it was made. */
  calls: Call[];
  /** Waits for slots. */
  queues: [from: number, until: number][];
  /** The run waited for it. */
  on_path: boolean;
}

/** Call is one call of a model or a tool. */
export interface Call {
  kind: "model" | "tool";
  name: string;
  /** The number of calls of agents around it. */
  depth: number;
  from: number;
  until: number;
}

/** PathStep is one execution that the run waited for. */
export interface PathStep {
  node: string;
  run: number;
  name: string;
  start: number;
  work: number;
  queued: number;
  /** Time from the end of its dependencies to its start. */
  held: number;
}

/** Profile describes how the time of a run was spent, in seconds. */
export interface Profile {
  wall: number;
  /** Longest chain of work that depends on each other. */
  critical: number;
  work: number;
  queued: number;
  /** Maximum number of nodes that worked concurrently. */
  slots: number;
  /** Time that one more slot would have saved. */
  saved: number;
  path: PathStep[];
  steps: Span[];
}

interface Interval {
  from: number;
  until: number;
}

interface Made extends Interval {
  kind: Call["kind"];
  name: string;
  /** The path of agents that made it. */
  agent: unknown;
}

interface Execution extends Interval {
  index: number;
  node: string;
  name: string;
  number: number;
  items?: number[];
  /** The items as text. */
  path: string;
  begin: number;
  end: number;
  calls: Made[];
  queues: Interval[];
  container: boolean;
  outer?: Execution;
  deps: Execution[];
  inner: Execution[];
  /** Of a container: the end of each element, by path. */
  ends: Map<string, number>;
  longest?: number;
  onPath: boolean;
}

/** tolerance is the largest difference of two equal times: events have microseconds. */
const tolerance = 2e-6;

/** graphOf reads the graph of a canvas: edges, and the nodes that params name. */
export function graphOf(model: CanvasModel): Graph {
  const graph: Graph = {};
  for (const node of model.nodes) {
    const needs = new Set<string>();
    for (const edge of model.edges) if (edge.target === node.id && edge.role === "flow") needs.add(edge.source);
    for (const [, id] of JSON.stringify(node.params).matchAll(/([A-Za-z0-9_]+(?::[A-Za-z0-9_-]+)?)@/g)) {
      if (id && id !== node.id && model.byId.has(id)) needs.add(id);
    }
    graph[node.id] = { parent: node.parent, needs: [...needs] };
  }
  return graph;
}

/** profileOf computes the profile of a run from its events; undefined if no node has finished. */
export function profileOf(events: readonly RunEvent[], graph: Graph): Profile | undefined {
  const run = new Run(events, graph);
  if (run.all.length === 0) return undefined;
  run.link();
  const leaves = run.all.filter((e) => !e.container);
  const slots = slotsOf(leaves);
  const path = pathOf(run);
  return {
    wall: micros(run.until - run.from), critical: micros(Math.max(...run.all.map(chain))),
    work: micros(sum(leaves.map(work))), queued: micros(sum(leaves.map(queued))), slots,
    saved: micros(Math.max(0, simulate(leaves, slots) - simulate(leaves, slots + 1))),
    path, steps: run.all.map((e) => spanOf(e, run.from)),
  };
}

const micros = (seconds: number): number => Math.round(seconds * 1e6) / 1e6;
const sum = (list: number[]): number => list.reduce((all, each) => all + each, 0);
const queued = (e: Execution): number =>
  sum(e.queues.map((q) => Math.max(0, Math.min(q.until, e.end) - Math.max(q.from, e.begin))));
const work = (e: Execution): number => Math.max(0, e.end - e.begin - queued(e));

class Run implements Interval {
  from = Infinity;
  until = -Infinity;
  readonly all: Execution[] = [];
  private readonly byNode = new Map<string, Execution[]>();

  constructor(events: readonly RunEvent[], private readonly graph: Graph) {
    const parents = new Set(Object.values(graph).map((node) => node.parent));
    for (const each of events) if (each.event === "node_finished") this.finished(each.data, parents);
    for (const each of events) this.detail(each);
    for (const e of this.all) settle(e);
  }

  private finished(
    data: Extract<RunEvent, { event: "node_finished" }>["data"], parents: ReadonlySet<string | undefined>,
  ): void {
    const start = data.outputs["_created_time"];
    const until = data.created_at;
    const from = typeof start === "number" ? Math.min(start, until) : until - data.elapsed_time;
    const same = this.byNode.get(data.component_id) ?? [];
    const items = data.index_path;
    const e: Execution = {
      index: this.all.length, node: data.component_id, name: data.component_name, number: same.length + 1,
      ...(items ? { items } : {}), path: pathText(items), from, until, begin: from, end: until,
      calls: [], queues: [], container: parents.has(data.component_id), deps: [], inner: [], ends: new Map(),
      onPath: false,
    };
    this.byNode.set(e.node, [...same, e]);
    this.all.push(e);
    this.from = Math.min(this.from, from);
    this.until = Math.max(this.until, until);
  }

  private detail(each: RunEvent): void {
    switch (each.event) {
      case "workflow_finished":
        this.until = Math.max(this.until, each.data.created_at);
        this.from = Math.min(this.from, each.data.created_at - each.data.elapsed_time);
        return;
      case "usage": case "tool_finished": case "queued": case "worked": {
        const { component_id: node, created_at: until, elapsed_time: elapsed } = each.data;
        if (until === undefined || elapsed === undefined) return;
        const e = this.around(node, pathText("index_path" in each.data ? each.data.index_path : undefined), until);
        if (!e) return;
        const from = until - elapsed;
        if (each.event === "worked") e.end = until;
        else if (each.event === "queued") e.queues.push({ from, until }); // in eager runs, before the node starts
        else {
          const model = each.event === "usage";
          const name = model ? each.data.model : each.data.tool;
          if (name === undefined) return; // a step of the agent itself
          e.calls.push({
            from: Math.max(from, e.from), until, kind: model ? "model" : "tool", name, agent: each.data.path,
          });
        }
      }
    }
  }

  private around(node: string, path: string, at: number): Execution | undefined {
    return this.byNode.get(node)
      ?.find((e) => e.path === path && e.from - tolerance <= at && at <= e.until + tolerance);
  }

  /** link finds the dependencies of each execution. */
  link(): void {
    for (const e of this.all) {
      const outer = e.outer = this.containerOf(e);
      outer?.inner.push(e);
      outer?.ends.set(e.path, Math.max(outer.ends.get(e.path) ?? 0, e.end));
    }
    for (const e of this.all) {
      const { outer } = e;
      e.deps = this.needs(e);
      if (outer && e.deps.some((dep) => dep.outer === outer)) continue;
      if (outer) e.deps = [...this.needs(outer), ...list(turnBefore(e, outer))];
      else if (e.deps.length === 0) e.deps = list(endedBefore(e, this.all));
    }
    // A reader of a stream is at work from its first piece, but only waits for the last one.
    for (const e of this.all) for (const dep of e.deps) if (dep.end > e.begin) e.begin = Math.min(dep.end, e.end);
  }

  // The path of a container whose body runs for several elements at once lacks the last index.
  private containerOf(e: Execution): Execution | undefined {
    const parent = this.graph[e.node]?.parent;
    if (parent === undefined) return undefined;
    return this.around(parent, e.path, e.until) ?? this.around(parent, pathText(e.items?.slice(0, -1)), e.until);
  }

  private needs(e: Execution): Execution[] {
    return (this.graph[e.node]?.needs ?? []).flatMap((id) => {
      let latest: Execution | undefined;
      for (const dep of this.byNode.get(id) ?? []) {
        const same = e.path.startsWith(dep.path) || dep.path.startsWith(e.path); // the same elements
        if (dep === e || !same || dep.from > e.from + tolerance || dep.outer === e) continue;
        if (!latest || dep.from >= latest.from) latest = dep;
      }
      return list(latest);
    });
  }
}

const pathText = (items: readonly number[] | undefined): string => (items ?? []).map((i) => `${i}/`).join("");

const list = <T>(one: T | undefined): T[] => (one === undefined ? [] : [one]);

// settle joins queues that overlap and finds when the work began: a streamed answer is requested
// when its reader is reached.
function settle(e: Execution): void {
  const queues: Interval[] = [];
  for (const each of e.queues.sort((a, b) => a.from - b.from)) {
    const open = queues.at(-1);
    if (open && each.from <= open.until) open.until = Math.max(open.until, each.until);
    else queues.push(each);
  }
  e.queues = queues;
  const parts = [...e.calls, ...queues];
  if (parts.length > 0) e.begin = Math.min(e.end, ...parts.map((part) => part.from));
}

// lastOf returns the execution that ended last; of bodies it is the last one inside.
function lastOf(among: readonly Execution[]): Execution | undefined {
  let found: Execution | undefined;
  for (const e of among) {
    if (!found || e.end > found.end || (e.end === found.end && e.index > found.index)) found = e;
  }
  return found?.container && found.inner.length > 0 ? lastOf(found.inner) : found;
}

function endedBefore(e: Execution, among: readonly Execution[]): Execution | undefined {
  return lastOf(among.filter((each) => each !== e && each.end <= e.from + tolerance && each.from < e.from));
}

// turnBefore returns the execution that ended last before a turn began. Concurrent elements depend
// only on executions that had ended.
function turnBefore(e: Execution, outer: Execution): Execution | undefined {
  const done = (path: string): boolean => path === e.path || (outer.ends.get(path) ?? 0) <= e.from + tolerance;
  return endedBefore(e, outer.inner.filter((each) => done(each.path)));
}

function pathOf(run: Run): PathStep[] {
  const path: PathStep[] = [];
  for (let e = lastOf(run.all); e && !e.onPath; e = lastOf(e.deps)) {
    e.onPath = true;
    const ready = Math.max(run.from, ...e.deps.map((dep) => dep.end));
    path.unshift({
      node: e.node, run: e.number, name: e.name, start: micros(e.begin - run.from),
      work: micros(work(e)), queued: micros(queued(e)), held: micros(Math.max(0, e.begin - ready)),
    });
  }
  return path;
}

// chain returns the longest chain of work that ends with an execution; 0 breaks a cycle, which
// events with equal times can show.
function chain(e: Execution): number {
  if (e.longest !== undefined) return e.longest;
  e.longest = 0;
  const before = Math.max(0, ...[...e.deps, ...e.inner].map(chain));
  e.longest = before + (e.container ? 0 : work(e));
  return e.longest;
}

function spanOf(e: Execution, from: number): Span {
  return {
    node: e.node, run: e.number, name: e.name, ...(e.items ? { items: e.items } : {}), parent: e.outer?.index ?? -1,
    from: micros(e.from - from), until: micros(e.end - from), calls: callTree(e.calls, from),
    queues: e.queues.map((each) => [micros(each.from - from), micros(each.until - from)]), on_path: e.onPath,
  };
}

// callTree returns calls in the order of their starts, those of an agent after the call of that
// agent.
function callTree(calls: Made[], from: number): Call[] {
  calls.sort((a, b) => a.from - b.from);
  const parents = calls.map((call) => calls.find((each) =>
    each.kind === "tool" && call.agent === `${String(each.agent)}-->${each.name}` &&
    each.from <= call.from + tolerance && call.until <= each.until + tolerance));
  const inside = (parent: Made | undefined, depth: number): Call[] =>
    calls.flatMap((call, i) => (parents[i] !== parent ? [] : [
      { kind: call.kind, name: call.name, depth, from: micros(call.from - from), until: micros(call.until - from) },
      ...inside(call, depth + 1),
    ]));
  return inside(undefined, 0);
}

// slotsOf returns the maximum number of executions that worked concurrently.
function slotsOf(leaves: readonly Execution[]): number {
  const edges: { at: number; by: number }[] = [];
  for (const e of leaves) {
    let at = e.begin;
    for (const { from, until } of [...e.queues, { from: e.end, until: e.end }]) {
      if (from - at > tolerance) edges.push({ at: at + tolerance, by: 1 }, { at: from, by: -1 });
      at = Math.max(at, until);
    }
  }
  edges.sort((a, b) => a.at - b.at || a.by - b.by);
  let now = 0;
  return edges.reduce((most, edge) => Math.max(most, (now += edge.by)), 1);
}

// simulate returns the duration of the run if each execution starts as soon as its dependencies
// have ended and a slot is free, in order of their start.
function simulate(leaves: readonly Execution[], slots: number): number {
  let waiting = [...leaves].sort((a, b) => a.begin - b.begin);
  let running: Execution[] = [];
  const ends = new Map<Execution, number>();
  let now = 0;
  const over = (e: Execution, depth = 0): boolean => {
    if (!e.container) return (ends.get(e) ?? Infinity) <= now;
    return depth > 50 || [...e.inner, ...e.deps].every((dep) => over(dep, depth + 1));
  };
  while (waiting.length + running.length > 0) {
    waiting = waiting.filter((e) => {
      if (running.length >= slots || !e.deps.every((dep) => over(dep))) return true;
      ends.set(e, now + work(e));
      running.push(e);
      return false;
    });
    if (running.length === 0) break;
    now = Math.min(...running.map((e) => ends.get(e) ?? 0));
    running = running.filter((e) => (ends.get(e) ?? 0) > now);
  }
  return now;
}
