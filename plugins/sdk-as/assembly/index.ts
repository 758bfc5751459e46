// The SDK for plugins in AssemblyScript:
//
//   import { Call, Value, run } from "@easel/plugin/assembly";
//
//   function greet(call: Call): Value {
//     return Value.object().set("text", Value.text("Hello, " + call.argument("city").str()));
//   }
//   export function easel_invoke(): i32 { return run(greet); }
//
// Build with `asc plugin.ts --use abort=PATH/assembly/index/abort` (see
// plugins/examples/typewriter), then `easel plugin pack` writes manifest.json into the file.
import * as host from "./host";
import { Body, encode } from "./body";
import { Value, Kind, parse } from "./json";

export { Body, bytesOf } from "./body";
export { Value, Kind, parse } from "./json";
export { Items, Received } from "./trigger";

/** One call of the plugin. */
export class Call {
  code: string = ""; // set by fail
  message: string = "";
  retryable: bool = false;
  data: Value = new Value(); // details of the error, an object; retry_after_ms with rate_limited
  artifacts: Value = Value.list();
  usage: Value = new Value();
  /** The branch of the manifest by which the run continues. */
  next: string = "";
  constructor(private input: Value) {}

  understood(): bool { return this.input.kind == Kind.Object; }
  /** A param of the node; null if it is not set. */
  param(name: string): Value { return this.input.get("params").get(name); }
  /** An argument from a model or a node; null if it is absent. */
  argument(name: string): Value { return this.input.get("arguments").get(name); }
  /** All params of the node, an object. */
  params(): Value { return this.input.get("params"); }
  /** All arguments, an object; null if the call has none. */
  arguments(): Value { return this.input.get("arguments"); }
  /** Data of the call: id, run, node, attempt, deadline_ms, locale, preview, secret_mark. */
  info(name: string): Value { return this.input.get("call").get(name); }
  /**
   * The placeholder of a secret for a header value, the query of a URL or a body, with the mark of
   * this call. The host replaces it by the value; similar text without the mark is not replaced.
   */
  secret(name: string): string {
    const mark = this.info("secret_mark").str();
    return "{{secret:" + name + (mark == "" ? "" : ":" + mark) + "}}";
  }

  /** Emits a piece of the answer. False means that the call is cancelled: return soon. */
  emit(text: string): bool { return send(1, text); }
  /** Emits a piece of the reasoning. */
  think(text: string): bool { return send(2, text); }
  /** Reports the progress of the work in percent. */
  progress(percent: f64, note: string): bool {
    return send(3, Value.object().set("pct", Value.number(percent)).set("note", Value.text(note)).json());
  }
  /** Emits a piece of one output. */
  partial(output: string, delta: string): bool {
    return send(4, Value.object().set("key", Value.text(output)).set("delta", Value.text(delta)).json());
  }
  /** Adds a file to the answer. */
  attach(name: string, mime: string, ref: string): void {
    this.artifacts.push(Value.object().set("name", Value.text(name)).set("mime", Value.text(mime)).set("ref", Value.text(ref)));
  }
  /** Reports usage of the plugin's own models, not of the host's: {"total_tokens": 12}. */
  used(usage: Value): void { this.usage = usage; }
  /** Writes a line to the host's log: 0 trace, 1 debug, 2 info, 3 warn, 4 error. */
  log(level: i32, text: string): void {
    const b = String.UTF8.encode(text);
    host.log(level, changetype<usize>(b), b.byteLength);
  }
  /**
   * Sends a request to the host: ask("http.fetch", args). The response has a member "ok" or
   * "error"; a denied request is an error with the code "denied". Null means that the call is
   * cancelled.
   */
  ask(op: string, args: Value): Value {
    const b = String.UTF8.encode(Value.object().set("op", Value.text(op)).set("args", args).json());
    const n = host.call(0, changetype<usize>(b), b.byteLength);
    if (n < 0) return new Value();
    const answer = new ArrayBuffer(n);
    host.result_read(changetype<usize>(answer), n);
    return parse(String.UTF8.decode(answer));
  }
  /**
   * Sends the request of "http.fetch" and returns its body for reading in pieces, so that it may be
   * larger than the memory: for (let b = body.read(); b; b = body.read()) {…}. A refusal is in
   * body.error.
   */
  open(request: Value): Body { return new Body(this, this.ask("http.fetch", request.set("stream", Value.bool(true)))); }
  /** A file of the run by its id: "ok" has name, mime, size and the content, see bytesOf. */
  readFile(id: string): Value { return this.ask("file.read", Value.object().set("id", Value.text(id))); }
  /** A file of the run whose bytes are read piece by piece; name, mime and size are in headers. */
  openFile(id: string): Body {
    const args = Value.object().set("id", Value.text(id)).set("stream", Value.bool(true));
    return new Body(this, this.ask("file.read", args));
  }
  /** Stores a file of at most 3 MB as an attachment of the node: "ok" has its id. */
  putFile(name: string, mime: string, data: ArrayBuffer): Value {
    const args = Value.object().set("name", Value.text(name)).set("mime", Value.text(mime));
    return this.ask("file.put", args.set("body_base64", Value.text(encode(data))));
  }
  /** The text stored under a key; null if it is absent. A refusal makes the call fail. */
  load(key: string): string | null {
    const found = this.kept("kv.get", Value.object().set("key", Value.text(key)));
    return found.get("found").isTrue() ? found.get("value").str() : null;
  }
  /** Stores a text under a key, with the permission kv. A refusal, false, makes the call fail. */
  store(key: string, value: string): bool {
    return !this.kept("kv.set", Value.object().set("key", Value.text(key)).set("value", Value.text(value))).isNull();
  }
  private kept(op: string, args: Value): Value {
    const answer = this.ask(op, args), error = answer.get("error");
    if (!error.isNull()) this.fail(error.get("code").str(), error.get("message").str());
    return answer.get("ok");
  }
  /** The called component of a file with several; "" for the only one. */
  component(): string { return this.info("component").str(); }
  /**
   * Makes the call fail with a code of the contract; return its result. Set data and retryable
   * afterwards.
   */
  fail(code: string, message: string): Value {
    this.code = code;
    this.message = message;
    this.retryable = code == "rate_limited" || code == "upstream";
    return new Value();
  }
}

function send(kind: i32, text: string): bool {
  const b = String.UTF8.encode(text);
  return host.emit(kind, changetype<usize>(b), b.byteLength) == 0;
}

/** Runs a plugin's function, which returns an object of outputs, on the message of the host. */
export function run(f: (call: Call) => Value): i32 {
  const call = received();
  const outputs = call.code == "" ? f(call) : new Value();
  if (call.code != "") return failed(call);
  const answer = Value.object().set("outputs", outputs);
  if (call.artifacts.items.length > 0) answer.set("artifacts", call.artifacts);
  if (!call.usage.isNull()) answer.set("usage", call.usage);
  if (call.next != "") answer.set("next", Value.text(call.next));
  const text = String.UTF8.encode(answer.json());
  host.output_write(changetype<usize>(text), text.byteLength);
  return 0;
}

/**
 * Runs a check of params, for `export function easel_check(): i32 { return check(f); }`. It fails
 * with call.fail.
 */
export function check(f: (call: Call) => void): i32 {
  const call = received();
  if (call.code == "") f(call);
  return call.code == "" ? 0 : failed(call);
}

/** The message of the host. */
function received(): Call {
  const b = new ArrayBuffer(host.input_len());
  host.input_read(changetype<usize>(b), b.byteLength);
  const call = new Call(parse(String.UTF8.decode(b)));
  if (!call.understood()) call.fail("invalid_argument", "the input is no JSON object");
  return call;
}

function failed(call: Call): i32 {
  const e = Value.object().set("code", Value.text(call.code)).set("message", Value.text(call.message)).set("retryable", Value.bool(call.retryable));
  if (!call.data.isNull()) e.set("data", call.data);
  const text = String.UTF8.encode(e.json());
  host.error_write(changetype<usize>(text), text.byteLength);
  return 1;
}

/** The compiler calls it for a runtime error; the host reports a panic. */
export function abort(message: string | null, file: string | null, line: u32, column: u32): void {
  const place = (file ? file : "?") + ":" + line.toString() + ":" + column.toString();
  const text = String.UTF8.encode((message ? message : "abort") + " at " + place);
  host.error_write(changetype<usize>(text), text.byteLength);
  unreachable();
}
