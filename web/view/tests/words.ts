// Differences in the words of a builder.

import type { Difference } from "../../run/cases/differences.ts";
import { get, written } from "../../run/cases/value.ts";
import { testText, type TestKey, type TestText } from "../../words/tests.ts";
import { useLook } from "../context.tsx";
import { show } from "../text.ts";

/** useTestText returns the texts of the tests in the person's language. */
export function useTestText(): TestText {
  return testText[useLook((look) => look.language)];
}

/** headOf returns the heading of a difference; `name` is the name of its node. */
export function headOf({ part, what = "", path, rule }: Difference, name: string, t: TestText): string {
  const model = name || t("any_node");
  switch (part) {
    case "runs": return t("at_runs");
    case "load": return t("at_load");
    case "error": return t("at_run_error");
    case "memory": return t("at_memory");
    case "debug": return t("at_output", name, path);
    case "tool": case "trace": return t("at_tool", what);
    case "call": {
      const [, index] = /^messages\[(\d+)\]/.exec(path) ?? [];
      if (path === "") return what ? t("at_call", model, what) : t("at_calls");
      if (path === "system") return t("at_system", model);
      if (path === "messages") return t("at_roles", model);
      return index === undefined
        ? t("at_settings", model, path.replace(/^gen_conf\.?/, "") || path)
        : t("at_prompt", model, Number(index) + 1);
    }
    case "state": {
      const outputs = /^outputs\.?(.*)$/.exec(path);
      if (outputs) return t("at_output", name, outputs[1] ?? "");
      if (path.startsWith("history")) return t("at_history");
      if (path.startsWith("globals.")) return t("at_variables", path.slice("globals.".length));
      return t("at_state", path);
    }
    case "event": {
      if (path === "" && rule === "missing") return t("at_step");
      if (path === "" && rule === "extra") return t("at_extra");
      if (what === "message") return path === "audio_binary" ? t("at_sound") : t("at_message", name);
      if (what === "user_inputs") return t("at_form", path);
      if (what === "workflow_finished" || what === "workflow_started") return t("at_end", path);
      const [, side, member = ""] = /^(inputs|outputs)\.?(.*)$/.exec(path) ?? [];
      if (side === "outputs") return t("at_output", name, member);
      if (side === "inputs") return t("at_input", name, member);
      return path === "error" ? t("at_error", name) : t("at_event", name, path);
    }
  }
}

/** sidesOf returns what was expected and what there is, as texts. */
export function sidesOf(
  difference: Difference, nameOf: (id: string) => string, t: TestText,
): [expected: string, actual: string] {
  const { rule, expected, actual, part, path } = difference;
  const shown = (value: unknown): string =>
    value === undefined || value === null || value === "" ? t("nothing") : show(value);
  switch (rule) {
    case "something": case "no_error": case "json":
      return [t(`rule_${rule}`), shown(actual)];
    case "an_error":
      return [t("rule_an_error"), t("rule_no_error")];
    case "contain": case "lack": case "start":
      return [t(`rule_${rule}`, written(expected)), shown(actual)];
    case "count":
      return part === "call"
        ? [t("calls_times", written(expected)), t("calls_times", written(actual))]
        : [shown(expected), shown(actual)];
    case "missing": case "extra":
      if (part === "event" && path === "") return [stepOf(expected, nameOf, t), stepOf(actual, nameOf, t)];
      if (part === "tool") return [argumentsOf(expected, shown), argumentsOf(actual, shown)];
      return [shown(expected), shown(actual)];
    case "same": case "roles":
      return [shown(expected), shown(actual)];
  }
}

function argumentsOf(call: unknown, shown: (value: unknown) => string): string {
  return shown(get(call, "arguments") ?? call);
}

const steps = [
  "workflow_started", "node_started", "node_finished", "message", "message_end", "user_inputs", "workflow_finished",
];

// stepOf names an event from its label: the event and the node.
function stepOf(label: unknown, nameOf: (id: string) => string, t: TestText): string {
  const [event = "", ...id] = written(label).split(" ");
  if (event === "") return t("step_none");
  const key = `step_${event}` as TestKey;
  return steps.includes(event) ? t(key, nameOf(id.join(" "))) : written(label);
}
