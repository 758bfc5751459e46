// A plugin with several components for easel.
import { Call, Value, run } from "./easel/index";
{{range .}}
export function {{.Snake}}(): i32 { return run((call: Call): Value => answer(call, "{{.Name}}")); }
{{- end}}

// answer is shared by the components.
function answer(call: Call, component: string): Value {
  const city = call.argument("city").str();
  if (city == "") return call.fail("invalid_argument", "city is empty");
  return Value.object().set("text", Value.text(component + ": " + city));
}
