// Saves a run of the host as a test case of `easel test`.

import type { ComponentSpec, RunEvent } from "@easel/engine";
import type { Host } from "../../run/host.ts";
import type { HostRun, Runs } from "../../run/remote.ts";
import { caseOf, CaseError } from "../../run/testcase.ts";
import type { AreaText } from "../area/text.ts";
import { save } from "../save.ts";

/** saveCase offers the case as a file. The canvas in it is that of the host as it is now. */
export async function saveCase(
  host: Host,
  api: Runs,
  run: HostRun,
  title: string,
  specs: ReadonlyMap<string, ComponentSpec>,
  a: AreaText,
): Promise<void> {
  const { text } = await host.canvas(run.canvas);
  const events = await eventsOf(api, run.id);
  const name = `${title.replace(/[^\p{L}\p{N}]+/gu, "_").toLowerCase()}_${run.id.slice(0, 8)}`;
  const { dsl } = JSON.parse(text) as { dsl: unknown };
  try {
    save(
      caseOf({ name, dsl, events, asks: (component) => specs.get(component)?.category === "model" }),
      `${name}.json`,
    );
  } catch (err) {
    throw err instanceof CaseError ? new Error(a(err.code === "tools" ? "run.case_tools" : "run.case_models")) : err;
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
