// Saves a run of the host as a test of its canvas, or as a case file of `easel test`.

import type { RunEvent } from "@easel/engine";
import { obstacle, readCase, writeCase } from "../../run/cases/case.ts";
import { settled } from "../../run/cases/make.ts";
import { play } from "../../run/cases/play.ts";
import { CaseStore } from "../../run/cases/store.ts";
import { questionOf } from "../../run/cases/suite.ts";
import type { HostRun, Runs } from "../../run/remote.ts";
import type { App } from "../context.tsx";
import { save } from "../save.ts";

/** downloadCase offers the case as a file. */
export async function downloadCase(api: Runs, run: HostRun, title: string): Promise<void> {
  const name = `${title.replace(/[^\p{L}\p{N}]+/gu, "_").toLowerCase()}_${run.id.slice(0, 8)}`;
  save(writeCase({ ...readCase(await api.case(run.id)), name }), `${name}.json`);
}

/** keepCase adds the case to the tests of the canvas in this browser. */
export async function keepCase(
  { session }: Pick<App, "session">, api: Runs, run: HostRun, title: string,
): Promise<void> {
  const read = readCase(await api.case(run.id));
  const named = { ...read, name: questionOf(read) || title };
  const { engine, specs, player } = session;
  const playing = { engine: await engine, code: player.scripts };
  const why = obstacle(named, named.dsl, (component) => specs.get().has(component));
  const made = why ? named : settled(named, await play(named, named.canvas, playing));
  const store = new CaseStore(indexedDB);
  try {
    const canvas = `host:${run.canvas}`;
    await store.put({ id: crypto.randomUUID(), canvas, added: Date.now(), text: writeCase(made) });
  } finally {
    store.close();
  }
}

/** eventsOf reads all events of a run that has ended. */
export async function eventsOf(api: Runs, id: string): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of api.stored(id)) {
    if (event.event === "takeover") events.length = event.keep;
    else events.push(event);
  }
  return events;
}
