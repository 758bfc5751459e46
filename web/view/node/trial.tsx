// A test of a script below it: values for its inputs, and what came of them.

import { useState } from "react";
import { isObject, own, word } from "../../canvas/dsl.ts";
import { useApp, useBusy, useStore } from "../context.tsx";
import { brief, like, show } from "../text.ts";
import { Value } from "../value.tsx";
import { usePlace } from "../where.tsx";
import type { ControlProps } from "../form/props.ts";
import { useLastStep } from "../form/tried.ts";
import { useNodeText } from "./text.ts";

/** Trial runs a script with values for its inputs. */
export function Trial({ node, around }: ControlProps): React.ReactNode {
  const n = useNodeText();
  const { session } = useApp();
  const busy = useBusy();
  const place = usePlace();
  const given = around.params["arguments"];
  const names = isObject(given) ? Object.keys(given) : [];
  const known = useStore(session.player.play, (play) => play.shown);
  const [values, setValues] = useState<Record<string, string>>({});
  // The value of the last run: the input of the script, or the output of its source.
  const lastOf = (name: string): unknown => {
    const input = own(own(known.latest, node)?.inputs, name);
    if (input !== undefined) return input;
    const ref = word((isObject(given) ? given[name] : "") ?? "").replace(/^\{(.*)\}$/, "$1");
    const [source = "", output] = ref.split("@", 2);
    return output === undefined ? known.variables[ref] : own(own(known.latest, source)?.outputs, output);
  };
  const textOf = (name: string): string => own(values, name) ?? show(lastOf(name) ?? "");
  const run = (): void =>
    session.player.debug(node, Object.fromEntries(names.map((name) => [name, like(lastOf(name), textOf(name))])));
  return (
    <details className="more trial">
      <summary>{n("trial")}</summary>
      {names.map((name) => (
        <label key={name} className="member">
          <code>{name}</code>
          <textarea
            rows={1} spellCheck={false} value={textOf(name)}
            onChange={(event) => setValues({ ...values, [name]: event.target.value })}
          />
        </label>
      ))}
      {names.length > 0 && <small>{n("trial_hint")}</small>}
      <div className="connect-acts">
        <button type="button" disabled={busy} onClick={run}>{n(`trial_${place}`)}</button>
      </div>
      <Outcome node={node} />
    </details>
  );
}

// Outcome shows the last execution, with where it failed.
function Outcome({ node }: { node: string }): React.ReactNode {
  const n = useNodeText();
  const step = useLastStep(node);
  if (!step) return null;
  if (step.status === "running") return <p className="quiet small" role="status"><span className="spinner" /></p>;
  if (step.error) return <p className="fault small" role="alert">{brief(step.error, 2000)}</p>;
  const outputs = Object.entries(step.outputs ?? {})
    .filter(([name, value]) => !name.startsWith("_") && value !== null && value !== "");
  return (
    <section className="inset values" aria-label={n("trial_result")}>
      <p className="small good-text" role="status">{n("trial_ok")}</p>
      {outputs.map(([name, value]) => <Value key={name} name={name} value={value} />)}
    </section>
  );
}
