// golden is the guest of plugins/sdk/testdata/golden in AssemblyScript; see there.
import { Call, Value, bytesOf, run, check } from "../assembly/index";

export function easel_invoke(): i32 { return run(golden); }

export function easel_check(): i32 {
  return check((call: Call) => {
    if (call.param("bad").isTrue()) call.fail("invalid_argument", "bad is true");
  });
}

function golden(call: Call): Value {
  const output = call.argument("output"), error = call.argument("error"), emit = call.argument("emit");
  if (!output.isNull()) {
    const files = output.get("artifacts").items;
    for (let i = 0; i < files.length; i++) call.attach(files[i].get("name").str(), files[i].get("mime").str(), files[i].get("ref").str());
    call.next = output.get("next").str();
    call.used(output.get("usage"));
    return output.get("outputs");
  }
  if (!error.isNull()) {
    const out = call.fail(error.get("code").str(), error.get("message").str());
    call.retryable = error.get("retryable").isTrue();
    call.data = error.get("data");
    return out;
  }
  if (!emit.isNull()) return said(call, emit);
  const request = call.argument("call");
  if (!request.isNull()) return Value.object().set("answer", asked(call, request.get("op").str(), request.get("args")));
  const named = call.argument("secret");
  if (!named.isNull()) return secret(call, named);
  const url = call.argument("read");
  if (!url.isNull()) return read(call, url);
  const message = call.argument("panic");
  if (!message.isNull()) throw new Error(message.str());
  const info = Value.object();
  const names = ["id", "run", "node", "attempt", "deadline_ms", "locale", "preview", "secret_mark", "component"];
  for (let i = 0; i < names.length; i++) info.set(names[i], call.info(names[i]));
  return Value.object().set("params", call.params()).set("arguments", call.arguments()).set("call", info);
}

// asked sends a request by the method for its operation, or by ask.
function asked(call: Call, op: string, args: Value): Value {
  if (op == "file.put") return call.putFile(args.get("name").str(), args.get("mime").str(), bytesOf(args));
  if (op != "file.read") return call.ask(op, args);
  if (!args.get("stream").isTrue()) return call.readFile(args.get("id").str());
  const file = call.openFile(args.get("id").str());
  file.close();
  return file.error.isNull() ? Value.object().set("ok", file.headers) : Value.object().set("error", file.error);
}

function said(call: Call, emit: Value): Value {
  const kind = <i32>emit.get("kind").num(), text = emit.get("text").str();
  if (kind == 1) call.emit(text);
  if (kind == 2) call.think(text);
  if (kind == 3) call.progress(emit.get("pct").num(), emit.get("note").str());
  if (kind == 4) call.partial(emit.get("key").str(), emit.get("delta").str());
  return Value.object();
}

// secret sends a secret to an address, and text that resembles a placeholder.
function secret(call: Call, named: Value): Value {
  const name = named.get("name").str();
  const headers = Value.object().set("X-Key", Value.text(call.secret(name))).set("X-Plain", Value.text("{{secret:" + name + "}}"));
  const answer = call.ask("http.fetch", Value.object().set("url", named.get("url")).set("headers", headers));
  const error = answer.get("error");
  if (!error.isNull()) return call.fail(error.get("code").str(), error.get("message").str());
  return Value.object().set("text", answer.get("ok").get("body")).set("sent", Value.text(call.secret(name)));
}

function read(call: Call, request: Value): Value {
  const body = call.open(request);
  let rest = new Uint8Array(0);
  for (let b = body.read(); b; b = body.read()) {
    const all = new Uint8Array(rest.length + b.byteLength);
    all.set(rest);
    all.set(Uint8Array.wrap(b), rest.length);
    rest = all;
  }
  if (!body.error.isNull()) return call.fail(body.error.get("code").str(), body.error.get("message").str());
  const text = String.UTF8.decode(rest.buffer);
  return Value.object().set("status", Value.number(body.status)).set("text", Value.text(text));
}
