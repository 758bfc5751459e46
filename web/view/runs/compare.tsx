// Two runs side by side, node by node: how they ended, how long they took, what they used and what
// they gave.

import { replay, type RunState, type Step } from "@easel/engine/state";
import type { HostRun, Runs } from "../../run/remote.ts";
import { Fault, useLoaded } from "../area/parts.tsx";
import { moneyOf, useAreaText } from "../area/text.ts";
import { useLook, useText } from "../context.tsx";
import { Icon } from "../icons.tsx";
import { bare, brief, seconds, show } from "../text.ts";
import { eventsOf } from "./case.ts";

/** Pair is one execution of a node in both runs. */
interface Pair {
  key: string;
  name: string;
  steps: [Step | undefined, Step | undefined];
}

/** Compare shows two runs. */
export function Compare({
  api,
  runs,
  names,
  currency,
  onClose,
}: {
  api: Runs;
  runs: [HostRun, HostRun];
  names: string[];
  currency: string | undefined;
  onClose(): void;
}): React.ReactNode {
  const t = useText();
  const a = useAreaText();
  const language = useLook((look) => look.language);
  const ordered = [...runs].sort((x, y) => x.created.localeCompare(y.created)) as [HostRun, HostRun];
  const states = useLoaded(ordered.map(({ id }) => id).join(" "), () =>
    Promise.all(ordered.map(async ({ id }) => replay(await eventsOf(api, id)))),
  );
  const when = new Intl.DateTimeFormat(language, { dateStyle: "short", timeStyle: "medium" });
  return (
    <>
      <div className="tools">
        <button type="button" onClick={onClose}>
          <Icon name="undo" />
          {a("run.back")}
        </button>
      </div>
      <Fault text={states.fault} onAgain={states.reload} />
      {!states.value && !states.fault && (
        <p className="quiet" role="status">
          <span className="spinner" /> {t("host.asking")}
        </p>
      )}
      {states.value && (
        <div className="scroll" tabIndex={0} role="group" aria-label={a("run.compared")}>
          <table className="compare">
            <caption className="sr">{a("run.compared")}</caption>
            <thead>
              <tr>
                <th scope="col">{a("run.node")}</th>
                {ordered.map((run, i) => (
                  <th key={run.id} scope="col">
                    {names[runs.indexOf(run)] ?? ""}
                    <br />
                    <small>
                      {i + 1} · {when.format(new Date(run.created))}
                    </small>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              <tr>
                <th scope="row">{a("run.whole")}</th>
                {ordered.map((run, i) => (
                  <td key={run.id}>
                    <Whole run={run} state={states.value?.[i]} currency={currency} />
                  </td>
                ))}
              </tr>
              {pairs(states.value as [RunState, RunState]).map(({ key, name, steps }) => (
                <tr key={key} data-differs={differs(steps) || undefined}>
                  <th scope="row">
                    {name}
                    {differs(steps) && <span className="badge">{a("run.differs")}</span>}
                  </th>
                  {steps.map((step, i) => (
                    <td key={i}>
                      <StepCell step={step} currency={currency} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

interface WholeProps {
  run: HostRun;
  state: RunState | undefined;
  currency: string | undefined;
}

function Whole({ run, state, currency }: WholeProps): React.ReactNode {
  const language = useLook((look) => look.language);
  const t = useText();
  const a = useAreaText();
  const { elapsed, usage } = state ?? {};
  const facts = [
    t(`status.${run.status}`),
    elapsed === undefined ? "" : seconds(elapsed),
    usage?.total_tokens ? t("node.tokens", usage.total_tokens) : "",
    usage?.cost ? a("run.cost", moneyOf(language, usage.cost, currency)) : "",
  ];
  return (
    <>
      {facts.filter(Boolean).join(" · ")}
      {run.error && <p className="reason">{brief(run.error, 300)}</p>}
    </>
  );
}

interface StepProps {
  step: Step | undefined;
  currency: string | undefined;
}

function StepCell({ step, currency }: StepProps): React.ReactNode {
  const language = useLook((look) => look.language);
  const t = useText();
  const a = useAreaText();
  if (!step) return <span className="quiet">{t("status.idle")}</span>;
  const facts = [
    t(`status.${step.status}`),
    step.elapsed === undefined ? "" : seconds(step.elapsed),
    step.usage?.total_tokens ? t("node.tokens", step.usage.total_tokens) : "",
    step.usage?.cost ? a("run.cost", moneyOf(language, step.usage.cost, currency)) : "",
  ];
  return (
    <>
      <small>{facts.filter(Boolean).join(" · ")}</small>
      {Object.entries(bare(step.outputs)).map(([name, value]) => (
        <p key={name}>
          <b>{name}</b> {brief(value, 300)}
        </p>
      ))}
      {step.error && <p className="reason">{brief(step.error, 300)}</p>}
    </>
  );
}

// pairs puts the executions of each node side by side, in the order of the first run.
function pairs([first, second]: [RunState, RunState]): Pair[] {
  const all = new Map<string, Pair>();
  [first, second].forEach((state, side) => {
    for (const step of state.steps) {
      const key = `${step.node} ${step.run}`;
      const pair = all.get(key) ?? {
        key,
        name: step.run > 1 ? `${step.name || step.node} (${step.run})` : step.name || step.node,
        steps: [undefined, undefined],
      };
      pair.steps[side] = step;
      all.set(key, pair);
    }
  });
  return [...all.values()];
}

function differs([first, second]: [Step | undefined, Step | undefined]): boolean {
  return first?.status !== second?.status || show(bare(first?.outputs)) !== show(bare(second?.outputs));
}
