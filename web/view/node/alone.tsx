// The run of one node alone, with values that a person enters.

import { useEffect, useState } from "react";
import type { FormField } from "@easel/engine";
import { useApp, useBusy, useStore, useText } from "../context.tsx";
import { Field } from "../field.tsx";
import { reasonOf } from "../reason.tsx";
import { like, show } from "../text.ts";
import { usePlace } from "../where.tsx";
import { named } from "./names.ts";

/**
 * Alone is the form of the values that one node runs with, filled with those of the shown run;
 * onRun is called when it runs.
 */
export function Alone({ node, onRun }: { node: string; onRun?(): void }): React.ReactNode {
  const t = useText();
  const { session } = useApp();
  const onHost = usePlace() === "host";
  const busy = useBusy();
  const model = useStore(session.document, (document) => document?.model);
  const [fields, setFields] = useState<Record<string, FormField>>();
  const [values, setValues] = useState<Record<string, unknown>>({});
  const [fault, setFault] = useState<string>();
  useEffect(() => {
    let gone = false;
    session.player.form(node).then(
      (form) => {
        if (!gone) setFields(form);
      },
      (err: unknown) => {
        if (!gone) setFault(reasonOf(err));
      },
    );
    return () => { gone = true; };
  }, [session, node]);
  if (fault !== undefined) return <p className="fault" role="alert">{fault}</p>;
  if (!fields) return <p className="quiet small"><span className="spinner" /></p>;
  const names = Object.keys(fields);
  const labelOf = (name: string): string =>
    name.includes("@") ? named(name, model) : fields[name]?.name || name;
  const valueOf = (name: string): unknown => (name in values ? values[name] : fields[name]?.value);
  return (
    <form
      className="alone"
      noValidate
      aria-label={t("node.alone")}
      onSubmit={(event) => {
        event.preventDefault();
        onRun?.();
        session.player.debug(node, Object.fromEntries(names.map((name) => [name, valueOf(name)])));
      }}
    >
      {names.length === 0 && <p className="quiet small">{t("node.no_values")}</p>}
      {names.map((name) =>
        typeof fields[name]?.value === "object" && fields[name].value !== null ? (
          <label key={name} className="field">
            {labelOf(name)}
            <textarea
              rows={4}
              value={show(valueOf(name))}
              onChange={(event) => setValues({ ...values, [name]: like(fields[name]?.value, event.target.value) })}
            />
          </label>
        ) : (
          <Field
            key={name}
            name={name}
            field={{ ...fields[name], name: labelOf(name) }}
            value={valueOf(name)}
            files={session.player.files}
            onChange={(value) => setValues({ ...values, [name]: value })}
          />
        ),
      )}
      <button type="submit" className="primary" disabled={busy}>
        {t(onHost ? "node.debug_host" : "node.debug")}
      </button>
    </form>
  );
}
