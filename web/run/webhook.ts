// A test call of a webhook: the host runs the canvas as a request from outside would, and the page
// follows the run by polling its events.

import type { Host } from "./host.ts";

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

const pause = 400; // milliseconds between two questions

/**
 * listen records the time before a call. The returned function reads the events of the run that the
 * call started; with false there is none, because the call was refused.
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

/** testCall sends a request to the webhook as its owner. */
export function testCall(
  host: Pick<Host, "call">,
  canvas: string,
  method: string,
  body?: string,
): Promise<{ status: number; text: string }> {
  return host.call(method, `/api/v1/agents/${encodeURIComponent(canvas)}/webhook/test`, body);
}
