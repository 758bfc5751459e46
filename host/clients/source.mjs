// Reads the events of a run with EventSource until it stops reconnecting. Arguments: URL and key.
// Prints {ids, kinds, requests: [{id, status}], code} where id is the Last-Event-ID of a request
// and code the final status.
import { EventSource } from "eventsource";

const [, , url, key] = process.argv;
const out = { ids: [], kinds: [], requests: [], code: 0 };
const source = new EventSource(url, {
  async fetch(address, init) {
    const headers = { ...init.headers, Authorization: `Bearer ${key}` };
    const response = await fetch(address, { ...init, headers });
    out.requests.push({ id: init.headers["Last-Event-ID"] ?? "", status: response.status });
    return response;
  },
});
const kinds = ["workflow_started", "node_started", "node_finished", "message", "message_end", "workflow_finished",
  "end"];
for (const kind of kinds) {
  source.addEventListener(kind, ({ lastEventId }) => {
    out.ids.push(lastEventId);
    out.kinds.push(kind);
  });
}
source.addEventListener("error", ({ code }) => {
  if (source.readyState !== EventSource.CLOSED && out.requests.length < 4) return;
  source.close();
  out.code = code ?? 0;
  console.log(JSON.stringify(out));
});
