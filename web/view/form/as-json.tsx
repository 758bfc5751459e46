// A value as JSON: a second view of lists and objects, and the editor of values that no other fits.

import { useState } from "react";
import { useText } from "../context.tsx";
import { brief } from "../text.ts";
import { JsonEdit } from "../value.tsx";
import type { ControlProps } from "./props.ts";

/** AsJson edits a value as JSON. */
export function AsJson({
  id,
  label,
  value,
  schema,
  open: shown = false,
  onChange,
}: ControlProps & { open?: boolean }): React.ReactNode {
  const t = useText();
  const [open, setOpen] = useState(shown);
  const now = value ?? schema.default ?? null;
  return (
    <div>
      <button id={id} type="button" className="json-button" aria-expanded={open} onClick={() => setOpen(!open)}>
        {now === null ? t("form.unset") : brief(now, 60)}
      </button>
      {open && (
        <JsonEdit
          value={now}
          label={t("form.json", label)}
          action={t("model.done")}
          onDone={(next) => {
            onChange(next);
            setOpen(false);
          }}
        />
      )}
    </div>
  );
}

/** Composite shows a form of a list or an object, and its JSON as a second view. */
export function Composite({ children, ...props }: ControlProps & { children: React.ReactNode }): React.ReactNode {
  const t = useText();
  const [json, setJson] = useState(false);
  return (
    <div className="composite">
      {json ? <AsJson {...props} open /> : children}
      <button type="button" className="link" onClick={() => setJson(!json)}>
        {t(json ? "form.as_form" : "form.as_json")}
      </button>
    </div>
  );
}
