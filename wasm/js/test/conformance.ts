// Runs the conformance cases of the engine, in Node or in a page. The module contains their
// stand-ins (build tag conformance); its observations must equal those of the native engine.

import type { Client } from "../src/client.ts";
import { isWire, type Engine, type RunEvent } from "../src/index.ts";

/** Turn is the observation of one run of a case. */
export interface Turn {
  /** Why the canvas did not load. */
  load_error?: string;
  /** Its events, as the engine wrote them. */
  lines?: string[];
  /** Why it failed. */
  error?: string;
}

interface Case {
  runs: { kwargs?: Record<string, unknown>; fresh?: boolean; debug?: unknown }[];
}

/** whole runs a case in one request; the response is the text of the observation. */
export function whole(client: Client, body: string): Promise<string> {
  return client.request({ op: "play", concurrency: 1 } as never, body);
}

/**
 * turns runs a case run by run, as a user of the package would. The last run may be one without
 * events.
 */
export async function turns(engine: Engine, body: string, canvas: string): Promise<Turn[]> {
  const played = JSON.parse(body) as Case;
  const seen: Turn[] = [];
  let stored = canvas;
  for (const [n, { kwargs, fresh, debug }] of played.runs.entries()) {
    if (debug) return seen; // a run of one node has no events
    if (fresh) stored = canvas;
    const refused = await engine.load(stored).then((loaded) => loaded.close(), (err: Error) => err.message);
    if (refused !== undefined) {
      seen.push({ load_error: refused });
      continue;
    }
    const held = await engine.load(stored);
    const run = held.run({ ...kwargs, play: { case: played, run: n } } as Record<string, unknown>);
    const lines: string[] = [];
    for await (const line of run.lines())
      if (isWire(JSON.parse(line) as RunEvent)) lines.push(line.replace(/,"seq":\d+\}$/, "}"));
    const { status, error } = await run.result;
    seen.push(status === "failed" ? { lines, error: error?.message } : { lines });
    stored = await held.save();
    held.close();
  }
  return seen;
}
