// Reads a stream with the parser used by RAGFlow's pages. Arguments: URL, key, body. Prints the
// parsed events as one JSON object: {type, events: [{id, event, data}], done, comments, errors}.
import { createParser } from "eventsource-parser";

const [, , url, key, body] = process.argv;
const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", accept: "text/event-stream" };
const response = await fetch(url, body ? { method: "POST", headers, body } : { headers });
const out = { type: response.headers.get("content-type"), events: [], done: false, comments: 0, errors: [] };
const parser = createParser({
  onEvent({ id, event, data }) {
    if (data === "[DONE]") out.done = true;
    else out.events.push({ id: id ?? "", event: event ?? "", data: JSON.parse(data) });
  },
  onComment: () => out.comments++,
  onError: (error) => out.errors.push(String(error)),
});
const decoder = new TextDecoder();
for await (const piece of response.body) parser.feed(decoder.decode(piece, { stream: true }));
console.log(JSON.stringify(out));
