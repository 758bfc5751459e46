// A test call of a webhook: the host runs the canvas as a request from outside would, and the page
// follows the run by polling its events.

import { isObject } from "../canvas/dsl.ts";
import type { Host } from "./host.ts";
import { Runs, type HostRun } from "./remote.ts";

/** TestEvent is an event of a test run. The last one is finished, with success. */
export interface TestEvent {
  event: string;
  data?: { component_name?: string; content?: string };
  message?: string;
  success?: boolean;
}

interface Trace {
  webhook_id: string | null;
  events: TestEvent[];
  next_since_ts: number;
  finished: boolean;
}

const pause = 400; // milliseconds between two polls

/**
 * listen records the time before a call. The returned function reads the events of the run that the
 * call started; pass false if the call was refused.
 */
export async function listen(
  host: Pick<Host, "request">,
  canvas: string,
  signal: AbortSignal,
): Promise<(started: boolean) => AsyncGenerator<TestEvent>> {
  const path = `/api/v1/agents/${encodeURIComponent(canvas)}/webhook/logs`;
  const ask = async (query: string): Promise<Trace> =>
    (await host.request<{ data: Trace }>("GET", path + query)).data;
  let since = (await ask("")).next_since_ts;
  return async function* (started) {
    for (let id = ""; started && !signal.aborted;) {
      const named = id ? `&webhook_id=${encodeURIComponent(id)}` : "";
      const trace = await ask(`?since_ts=${since}${named}`);
      yield* trace.events;
      if (trace.finished) return;
      const found = !id && trace.webhook_id;
      if (found) id = found;
      since = trace.next_since_ts;
      if (!found) await new Promise((resolve) => setTimeout(resolve, pause));
    }
  };
}

/** HookAnswer is the answer to a test call. */
export interface HookAnswer {
  status: number;
  text: string;
  /** Names of the headers with which the host proved the call. */
  signed: string[];
}

/** HookRequest is a test call. */
export interface HookRequest {
  method: string;
  body?: string | undefined;
  /** Type of the body. */
  type?: string;
  /** The host adds the proof that the canvas requires, with the stored key. */
  sign: boolean;
}

/** testCall sends a request to the webhook as its owner. */
export async function testCall(
  host: Pick<Host, "call">, canvas: string, { method, body, type = "application/json", sign }: HookRequest,
): Promise<HookAnswer> {
  const path = `/api/v1/agents/${encodeURIComponent(canvas)}/webhook/test`;
  const more = { ...(body === undefined ? {} : { "content-type": type }), ...(sign ? { "x-easel-sign": "true" } : {}) };
  const { status, text, headers } = await host.call(method, path, body, more);
  const signed = (headers.get("x-easel-signed") ?? "").split(", ").filter(Boolean);
  return { status, text, signed };
}

/** HookCallRecord is the latest request from outside that started a run. */
export interface HookCallRecord {
  run: HostRun;
  /** The request as the canvas received it. */
  request?: unknown;
  /** The answer of the run. */
  answer: string;
}

/**
 * nextCall waits for the first call that starts a run after this one is asked, and returns it when
 * its run has ended.
 */
export async function nextCall(
  host: Pick<Host, "ask">, canvas: string, signal: AbortSignal,
): Promise<HookCallRecord | undefined> {
  const before = (await lastCall(host, canvas))?.run.id;
  while (!signal.aborted) {
    const call = await lastCall(host, canvas);
    if (call && call.run.id !== before && call.run.ended !== undefined) return call;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
  return undefined;
}

/** lastCall returns the latest call; a run that has not ended has no answer yet. */
export async function lastCall(host: Pick<Host, "ask">, canvas: string): Promise<HookCallRecord | undefined> {
  const runs = new Runs(host);
  const [run] = (await runs.list({ canvas, source: "webhook", page_size: 1 })).items;
  if (!run) return undefined;
  const record: HookCallRecord = { run, answer: "" };
  if (run.ended === undefined) return record;
  for await (const event of runs.stored(run.id)) {
    if (event.event === "takeover") record.answer = "";
    if (event.event === "message") record.answer += event.data.content ?? "";
    if (event.event !== "node_finished" || record.request !== undefined) continue;
    const outputs: unknown = event.data.outputs;
    if (isObject(outputs) && "raw_headers" in outputs) record.request = outputs;
  }
  return record;
}
