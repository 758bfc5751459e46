// One node: its settings and its last run.

import { lazy, Suspense, useEffect, useMemo, useState } from "react";
import type { Diagnostic, FormField } from "@easel/engine";
import type { ModelUse, Step } from "@easel/engine/state";
import { own, type Params } from "../canvas/dsl.ts";
import type { CanvasModel, CanvasNode } from "../canvas/drawing.ts";
import { canBeOff } from "../canvas/model.ts";
import { useApp, useBusy, useLook, useSpecText, useStore, useText } from "./context.tsx";
import { Field } from "./field.tsx";
import { hueOf, Icon, iconOfNode } from "./icons.tsx";
import { Withheld } from "./plugins.tsx";
import { Routes } from "./routes.tsx";
import { bare, like, seconds, show, titled } from "./text.ts";
import { JsonEdit, Value, Values } from "./value.tsx";
import { Unsaved, usePlace } from "./where.tsx";
import { Reason, reasonOf } from "./reason.tsx";

const load = (): Promise<typeof import("./form/form.tsx")> => import("./form/form.tsx");
const SettingsForm = lazy(load);

/** preloadForm fetches the form of settings when the page has nothing else to do. */
export function preloadForm(): () => void {
  const idle = setTimeout(() => void load().catch(() => undefined), 400);
  return () => clearTimeout(idle);
}

/** Inspector returns a page of the drawer. */
export function Inspector(): React.ReactNode {
  const t = useText();
  const { session } = useApp();
  const selected = useLook((look) => look.selected);
  const node = useStore(session.document, (document) => (selected ? document?.model.byId.get(selected) : undefined));
  if (!node) return <p className="quiet">{t("node.none")}</p>;
  return <Node key={node.id} node={node} />;
}

function Node({ node }: { node: CanvasNode }): React.ReactNode {
  const t = useText();
  const words = useSpecText();
  const { session, look } = useApp();
  const spec = useStore(session.specs, (specs) => specs.get(node.kind));
  const history = useStore(session.document, (document) => document?.history);
  const edits = useMemo(() => history?.edited(node.id) ?? {}, [history, node.id]);
  const problems = useStore(session.problems, (all) => all);
  const steps = useStore(session.player.play, (play) => play.shown.steps).filter((step) => step.node === node.id);
  const chosen = useLook((all) => all.step);
  const step = steps.find((each) => each.index === chosen) ?? steps.at(-1);
  const mine = problems.filter((problem) => problem.node === node.id);
  const real = node.role !== "tool" && node.role !== "agent" && node.role !== "note";
  return (
    <div className="inspector">
      <header data-hue={hueOf(spec)}>
        <span className="glyph">
          <Icon name={iconOfNode(node)} />
        </span>
        <div className="node-title">
          <h2 className="sr">{node.name || node.kind}</h2>
          <input
            className="node-name"
            aria-label={t("edit.name")}
            value={node.name}
            onChange={(event) => session.editing.rename(node.id, event.target.value)}
          />
          <p className="quiet small">
            {words(titled(node.spec, node.kind))} · <code>{node.kind}</code> · <code>{node.id}</code>
          </p>
        </div>
      </header>
      {spec?.description && <p className="small">{words(spec.description)}</p>}
      <Withheld kind={node.kind} />
      {spec?.missing && <p className="fault">{t("node.missing", spec.missing)}</p>}
      {mine
        .filter(({ param }) => param === undefined || !own(spec?.params?.properties, param))
        .map((problem, i) => (
          <p key={i} className="problem small" data-severity={problem.severity}>
            <Reason code={problem.code} message={problem.message} most={600} />
          </p>
        ))}
      {real && <Actions node={node} step={step} />}
      {node.role === "note" ? (
        <textarea
          rows={8}
          aria-label={t("edit.note_text")}
          placeholder={t("edit.note_hint")}
          value={node.text ?? ""}
          onChange={(event) => session.editing.write(node.id, event.target.value)}
        />
      ) : (
        node.role !== "tool" && (
          <Settings node={node} edits={edits} problems={mine} />
        )
      )}
      {steps.length > 1 && (
        <select
          aria-label={t("node.which")}
          value={step?.index}
          onChange={(event) => look.update({ step: Number(event.target.value) })}
        >
          {steps.map((each, i) => (
            <option key={each.index} value={each.index}>
              {i + 1} · {t(`status.${each.status}`)}
              {each.elapsed === undefined ? "" : ` · ${seconds(each.elapsed)}`}
            </option>
          ))}
        </select>
      )}
      {real && step && <Routes node={node.id} />}
      {real && (step ? <Did step={step} /> : <p className="quiet small">{t("node.not_run")}</p>)}
    </div>
  );
}

function Settings({
  node,
  edits,
  problems,
}: {
  node: CanvasNode;
  edits: Params;
  problems: readonly Diagnostic[];
}): React.ReactNode {
  const t = useText();
  const { session } = useApp();
  const spec = useStore(session.specs, (specs) => specs.get(node.kind));
  return (
    <details className="block" open>
      <summary>{t("node.settings")}</summary>
      <Suspense fallback={<span className="spinner" />}>
        <SettingsForm
          node={node.id}
          spec={spec}
          params={node.params}
          tool={node.role === "agent"}
          changed={edits}
          problems={problems}
          onChange={(key, value) => session.edit(node.id, key, value)}
        />
      </Suspense>
    </details>
  );
}

function Actions({ node, step }: { node: CanvasNode; step: Step | undefined }): React.ReactNode {
  const t = useText();
  const { session } = useApp();
  const busy = useBusy();
  const pinned = useStore(session.player.pins, (pins) => Object.hasOwn(pins, node.id));
  const [editing, setEditing] = useState<"outputs" | "debug">();
  const inside = node.role === "item" || node.parent !== undefined;
  const outputs = bare(step?.outputs);
  const onHost = usePlace() === "host";
  const stored = useStore(session.player.play, ({ turns, chosen }) => turns[chosen]?.run !== undefined);
  const repeats = step !== undefined && (!onHost || stored); // the host repeats its own runs
  return (
    <>
      <div className="actions">
        <button type="button" disabled={busy || inside} onClick={() => session.player.runUntil(node.id)}>
          {t("node.until")}
        </button>
        <button
          type="button"
          disabled={busy || inside || !repeats}
          title={onHost && !stored ? t("node.from_host") : undefined}
          onClick={() => session.player.runFrom(node.id)}
        >
          {t("node.from")}
        </button>
        <button
          type="button"
          disabled={busy || node.role !== "node"}
          aria-expanded={editing === "debug"}
          onClick={() => setEditing(editing === "debug" ? undefined : "debug")}
        >
          {t(onHost ? "node.debug_page" : "node.debug")}
        </button>
        <button
          type="button"
          disabled={!pinned && !step?.outputs}
          aria-pressed={pinned}
          onClick={() => session.player.pin(node.id, pinned ? undefined : outputs)}
        >
          <Icon name="pin" />
          {t(pinned ? "node.unpin" : "node.pin")}
        </button>
        {canBeOff(node) && (
          <button type="button" aria-pressed={node.off === true} onClick={() => session.editing.switch([node.id])}>
            <Icon name="off" />
            {t(node.off ? "node.on" : "node.off")}
          </button>
        )}
        {step?.outputs && (
          <button
            type="button"
            disabled={busy || inside || !repeats}
            aria-expanded={editing === "outputs"}
            onClick={() => setEditing(editing === "outputs" ? undefined : "outputs")}
          >
            {t("node.edit_outputs")}
          </button>
        )}
      </div>
      <Unsaved onRun={() => session.player.runUntil(node.id)} />
      {editing === "debug" && <Alone node={node.id} />}
      {editing === "outputs" && (
        <JsonEdit
          key="outputs"
          value={outputs}
          label={t("node.outputs")}
          action={t("node.apply")}
          onDone={(changed) => {
            session.player.pin(node.id, (changed ?? {}) as Record<string, unknown>);
            session.player.runFrom(node.id);
          }}
        />
      )}
    </>
  );
}

// Alone asks for the values that one node runs with, filled with what the shown run knows.
function Alone({ node }: { node: string }): React.ReactNode {
  const t = useText();
  const { session } = useApp();
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
        {t("node.debug")}
      </button>
    </form>
  );
}

// namedAll shows references to outputs by the names of their nodes; equal ones keep their ids.
function namedAll(values: Record<string, unknown>, model: CanvasModel | undefined): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(values)) {
    const label = named(key, model);
    shown[own(shown, label) === undefined ? label : key] = value;
  }
  return shown;
}

// named shows a reference to an output by the name of its node.
function named(ref: string, model: CanvasModel | undefined): string {
  const [id = "", ...output] = ref.split("@");
  const name = output.length > 0 ? model?.byId.get(id)?.name : undefined;
  return name ? `${name} · ${output.join("@")}` : ref;
}

function Did({ step }: { step: Step }): React.ReactNode {
  const t = useText();
  const words = useSpecText();
  const { session } = useApp();
  const model = useStore(session.document, (document) => document?.model);
  return (
    <>
      <p className="small did" data-status={step.status}>
        <b>{t(`status.${step.status}`)}</b>
        {step.elapsed !== undefined && <span>{seconds(step.elapsed)}</span>}
        {Boolean(step.usage?.total_tokens) && <span>{t("node.tokens", step.usage?.total_tokens ?? 0)}</span>}
      </p>
      {step.error && (
        <section aria-label={t("node.error")}>
          <h3>{t("node.error")}</h3>
          <pre className="fault" tabIndex={0}>
            {step.error}
          </pre>
        </section>
      )}
      {step.thoughts && <p className="small quiet">{words(step.thoughts)}</p>}
      <Values values={namedAll(step.inputs ?? {}, model)} label={t("node.inputs")} />
      <Values values={bare(step.outputs)} label={t("node.outputs")} />
      {step.tools.length > 0 && (
        <section className="values" aria-label={t("node.tools")}>
          <h3>{t("node.tools")}</h3>
          {step.tools.map((use, i) => (
            <details key={i} className="value">
              <summary>
                <span className="value-name">{use.name}</span>{" "}
                {use.elapsed !== undefined && <span className="quiet">{seconds(use.elapsed)}</span>}
              </summary>
              <Value name={t("node.arguments")} value={use.arguments} />
              <Value name={use.error ? t("node.error") : t("node.result")} value={use.error ?? use.result ?? null} />
            </details>
          ))}
        </section>
      )}
      {step.models.length > 0 && (
        <section className="values" aria-label={t("node.prompts")}>
          <h3>{t("node.prompts")}</h3>
          {step.models.map((use) => (
            <Prompt key={use.call} use={use} />
          ))}
        </section>
      )}
    </>
  );
}

function Prompt({ use }: { use: ModelUse }): React.ReactNode {
  const t = useText();
  return (
    <details className="value">
      <summary>
        <span className="value-name">{use.model || t("timeline.model")}</span>{" "}
        <span className="quiet">{use.usage ? t("node.tokens", use.usage.total_tokens) : ""}</span>
      </summary>
      {use.messages.map((message, i) => (
        <div key={i} className="prompt">
          <b>{message.role}</b>
          <pre tabIndex={0}>{show(message.content)}</pre>
        </div>
      ))}
      {use.text !== undefined && (
        <div className="prompt answer">
          <b>{t("node.answer")}</b>
          <pre tabIndex={0}>{use.text}</pre>
        </div>
      )}
      {use.error && (
        <pre className="fault" tabIndex={0}>
          {use.error}
        </pre>
      )}
    </details>
  );
}
