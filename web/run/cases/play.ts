// Plays a case in the engine of the page, in a separate canvas and without requests: all answers
// are in the case.

import { isWire, messageOf, type Canvas, type CodeRunner, type Engine, type RunEvent } from "@easel/engine";
import { isObject } from "../../canvas/dsl.ts";
import type { Case, Obstacle } from "./case.ts";
import { standIns, type Seen } from "./stand-ins.ts";
import { isEmpty } from "./value.ts";

/** Observation records the behaviour of the runs of a case. */
export interface Observation {
  name: string;
  runs: Record<string, unknown>[];
  /** What a run needed and the page cannot play. */
  obstacle?: Obstacle;
}

/** Playing holds the settings of a play. */
export interface Playing {
  engine: Engine;
  /** Runs scripts, in a sandbox of this browser. */
  code?: CodeRunner | undefined;
  signal?: AbortSignal | undefined;
}

// The clock of `easel test` begins here, in local time, which canvases see.
const start = new Date(2025, 0, 1).getTime();

/** play plays a case with a canvas as JSON: that of the case, or another one. */
export async function play(played: Case, canvas: string, { engine, code, signal }: Playing): Promise<Observation> {
  const observation: Observation = { name: played.name, runs: [] };
  let stored = canvas;
  for (const run of played.runs) {
    signal?.throwIfAborted();
    if (run["fresh"] === true) stored = canvas;
    let loaded: Canvas;
    try {
      loaded = await engine.load(stored);
    } catch (err) {
      observation.runs.push({ load_error: messageOf(err) });
      continue;
    }
    try {
      await reset(loaded, run["reset_before"]);
      if (isObject(run["start"])) await loaded.restore(JSON.stringify(run["start"]));
      const { observed, seen } = await turn(loaded, run, code, signal);
      stored = await loaded.save();
      observation.runs.push({ ...observed, dsl_after: JSON.parse(stored) as unknown });
      if (seen.obstacle) observation.obstacle = seen.obstacle;
    } finally {
      loaded.close();
    }
  }
  return observation;
}

async function reset(loaded: Canvas, how: unknown): Promise<void> {
  if (how === "mem") await loaded.reset({ keepHistory: true });
  else if (!isEmpty(how)) await loaded.reset();
}

async function turn(
  loaded: Canvas, run: Record<string, unknown>, code: CodeRunner | undefined, signal: AbortSignal | undefined,
): Promise<{ observed: Record<string, unknown>; seen: Seen }> {
  const { ports, seen } = standIns(run, code);
  const kwargs = isObject(run["kwargs"]) ? run["kwargs"] : {};
  const running = loaded.run(kwargs, {
    ...ports, seed: typeof run["seed"] === "string" ? run["seed"] : 1, now: start,
    ...(isObject(run["start"]) ? { continue: true, rerun: run["rerun"] === true } : {}),
    ...(isObject(run["pins"]) ? { pins: run["pins"] as Record<string, Record<string, unknown>> } : {}),
    ...(typeof run["until"] === "string" ? { until: run["until"] } : {}),
    ...(signal ? { signal } : {}),
  });
  const events: Record<string, unknown>[] = [];
  const trace: unknown[] = [];
  for await (const event of running) {
    if (isWire(event)) events.push(bodyOf(event));
    else if (event.event === "tool_finished") trace.push(event.data);
  }
  const { status, error } = await running.result;
  signal?.throwIfAborted();
  const lists = {
    llm_calls: seen.calls, tool_calls: seen.tools, searches: seen.searches, tool_trace: trace, saved_memory: seen.saved,
  };
  const observed = {
    events,
    ...(status === "failed" ? { error: error?.message ?? "" } : {}),
    ...Object.fromEntries(Object.entries(lists).filter(([, each]) => each.length > 0)),
  };
  return { observed, seen };
}

function bodyOf({ event, data }: RunEvent): Record<string, unknown> {
  return { event, data };
}
