// Input and outputs of a trigger, a plugin with "trigger": "poll" or "webhook" in its manifest. A
// schedule of a canvas calls it, and a run of the canvas begins for each item.
import { bytesOf } from "./body";
import { Call } from "./index";
import { Value } from "./json";

/**
 * The outputs of a trigger. Values of call.store, such as its position, are written after the runs
 * of its items; an item that is returned again begins no second run.
 */
export class Items {
  private items: Value = Value.list();
  private response: Value = new Value();

  /** Adds an event. The same id begins one run only; a webhook may leave it empty. */
  add(id: string, query: string, inputs: Value = new Value()): Items {
    const item = Value.object();
    if (id != "") item.set("id", Value.text(id));
    item.set("query", Value.text(query));
    if (!inputs.isNull()) item.set("inputs", inputs);
    this.items.push(item);
    return this;
  }
  /** Answers the request of a webhook, which otherwise gets 200 and an empty body. */
  reply(status: i32, body: string, contentType: string = "text/plain"): Items {
    this.response = Value.object()
      .set("status", Value.number(status)).set("content_type", Value.text(contentType)).set("body", Value.text(body));
    return this;
  }
  outputs(): Value {
    const out = Value.object().set("items", this.items);
    return this.response.isNull() ? out : out.set("response", this.response);
  }
}

/** The request of a webhook. Report an invalid proof as the error "unauthorized". */
export class Received {
  private request: Value;
  constructor(call: Call) { this.request = call.argument("request"); }

  method(): string { return this.request.get("method").str(); }
  /** Path and query, as they were sent. */
  url(): string { return this.request.get("url").str(); }
  /** The first value of a parameter of the query. */
  query(name: string): string { return this.request.get("query").get(name).str(); }
  /** A header by its lower-case name; several values are joined with a comma. */
  header(name: string): string { return this.request.get("headers").get(name).str(); }
  /** The body as it was sent, for signatures. */
  bytes(): ArrayBuffer { return bytesOf(this.request); }
  /** The body as text. */
  text(): string { return String.UTF8.decode(this.bytes()); }
}
