// A card to approve or reject a tool call or a node, with editable arguments.

import { useId, useState } from "react";
import type { Approval } from "@easel/engine";
import { useText } from "./context.tsx";

/** suffix ends the name of the field that takes other arguments. */
const suffix = ":arguments";

/** isArguments reports whether a field belongs to the approval of another one. */
export function isArguments(name: string, fields: Record<string, { approval?: Approval }>): boolean {
  return name.endsWith(suffix) && fields[name.slice(0, -suffix.length)]?.approval !== undefined;
}

/** ApprovalCard takes a decision; arguments are editable before approval. */
export function ApprovalCard({ name, approval, values, onChange }: {
  name: string; approval: Approval; values: Record<string, unknown>; onChange(values: Record<string, unknown>): void;
}): React.ReactNode {
  const t = useText();
  const id = useId();
  const [text, setText] = useState(() => JSON.stringify(approval.arguments ?? {}, undefined, 2));
  const broken = !isJSON(text);
  const decide = (decision: "yes" | "no") => onChange({ ...values, [name]: decision, [name + suffix]: text });
  const button = (decision: "yes" | "no") => (
    <button
      type="button" aria-pressed={values[name] === decision} className={values[name] === decision ? "primary" : ""}
      disabled={decision === "yes" && broken} onClick={() => decide(decision)}
    >
      {t(`approval.${decision}`)}
    </button>
  );
  return (
    <div className="field approval">
      <label htmlFor={id}>{t("approval.asks", approval.tool_name || approval.component_id)}</label>
      <textarea
        id={id} rows={Math.min(10, text.split("\n").length)} value={text} spellCheck={false} aria-invalid={broken}
        onChange={(event) => {
          setText(event.target.value);
          if (values[name] !== undefined) onChange({ ...values, [name + suffix]: event.target.value });
        }}
      />
      {broken && <small role="alert">{t("approval.broken")}</small>}
      <div className="row">{button("yes")}{button("no")}</div>
    </div>
  );
}

function isJSON(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
