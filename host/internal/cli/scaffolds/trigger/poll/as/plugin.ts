// Begins a run for each new entry of a feed, which lists the newest first.
import { Call, Items, Value, parse, run } from "./easel/index";

export function easel_invoke(): i32 { return run(poll); }

function poll(call: Call): Value {
  const last = call.load("last");
  const answer = call.ask("http.fetch", Value.object().set("url", call.param("url")));
  const error = answer.get("error");
  if (!error.isNull()) return call.fail(error.get("code").str(), error.get("message").str());
  const status = answer.get("ok").get("status").num();
  if (status != 200) return call.fail("upstream", "the feed answered " + status.toString());
  const entries = parse(answer.get("ok").get("body").str()).items;
  let end = 0;
  while (end < entries.length && end < 100 && entries[end].get("id").str() != last) end++;
  const out = new Items();
  for (let i = end - 1; i >= 0; i--) out.add(entries[i].get("id").str(), entries[i].get("title").str());
  if (end > 0) call.store("last", entries[0].get("id").str());
  return out.outputs();
}
