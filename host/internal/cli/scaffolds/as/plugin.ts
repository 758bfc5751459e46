// A plugin for easel.
import { Call, Value, run } from "./easel/index";

export function easel_invoke(): i32 { return run(greet); }

function greet(call: Call): Value {
  const city = call.argument("city").str();
  if (city == "") return call.fail("invalid_argument", "city is empty");
  return Value.object().set("text", Value.text("Hello, " + city));
}
