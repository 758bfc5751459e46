// typewriter emits a text word by word.
//
// The lesson: streaming. Each emit immediately becomes a piece of the node's answer; when emit
// returns false, the call is cancelled and the plugin ends. The pieces need not be the whole text:
// the host appends the rest of the output at the end.
import { Call, Value, run } from "../../sdk-as/assembly/index";

export function easel_invoke(): i32 { return run(type); }

function type(call: Call): Value {
  const text = call.argument("text").str();
  if (text == "") return call.fail("invalid_argument", "text is empty");
  const pause = call.param("pause_ms").num(0);
  const words = text.split(" ");
  for (let i = 0; i < words.length; i++) {
    if (i > 0 && pause > 0) {
      const waited = call.ask("sleep", Value.object().set("ms", Value.number(pause)));
      if (waited.isNull()) break;
    }
    if (!call.emit(i == 0 ? words[i] : " " + words[i])) break;
  }
  return Value.object().set("text", Value.text(text));
}
