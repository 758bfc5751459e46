// Saves a run of the host as a test of its canvas, or as a case file of `easel test`.

import type { RunEvent } from "@easel/engine";
import { obstacle, readCase, writeCase } from "../../run/cases/case.ts";
import { settled } from "../../run/cases/make.ts";
import { play } from "../../run/cases/play.ts";
import { CaseStore } from "../../run/cases/store.ts";
import { questionOf } from "../../run/cases/suite.ts";
import type { HostRun, Runs } from "../../run/remote.ts";
import { caseOf, CaseError } from "../../run/testcase.ts";
import type { AreaText } from "../area/text.ts";
import type { App } from "../context.tsx";
import { save } from "../save.ts";

/** Made is a run as a case. The canvas in it is that of the host as it is now. */
interface Made {
  name: string;
  text: string;
}

async function caseOfRun(
  { host, session }: Pick<App, "host" | "session">, api: Runs, run: HostRun, title: string, a: AreaText,
): Promise<Made> {
  const { text } = await host.canvas(run.canvas);
  const events = await eventsOf(api, run.id);
  const name = `${title.replace(/[^\p{L}\p{N}]+/gu, "_").toLowerCase()}_${run.id.slice(0, 8)}`;
  const { dsl } = JSON.parse(text) as { dsl: unknown };
  const specs = session.specs.get();
  try {
    return { name, text: caseOf({ name, dsl, events, asks: (kind) => specs.get(kind)?.category === "model" }) };
  } catch (err) {
    if (!(err instanceof CaseError)) throw err;
    throw new Error(a(err.code === "tools" ? "run.case_tools" : "run.case_models"), { cause: err });
  }
}

/** downloadCase offers the case as a file. */
export async function downloadCase(
  app: Pick<App, "host" | "session">, api: Runs, run: HostRun, title: string, a: AreaText,
): Promise<void> {
  const { name, text } = await caseOfRun(app, api, run, title, a);
  save(text, `${name}.json`);
}

/** keepCase adds the case to the tests of the canvas in this browser. */
export async function keepCase(
  app: Pick<App, "host" | "session">, api: Runs, run: HostRun, title: string, a: AreaText,
): Promise<void> {
  const { text } = await caseOfRun(app, api, run, title, a);
  const read = readCase(text);
  const named = { ...read, name: questionOf(read) || title };
  const { engine, specs, player } = app.session;
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
