// What can be done with one node: run it or to it, pin it, switch it off.

import { useEffect, useState } from "react";
import type { FormField } from "@easel/engine";
import type { Step } from "@easel/engine/state";
import type { CanvasNode } from "../../canvas/drawing.ts";
import { canBeOff } from "../../canvas/model.ts";
import { useApp, useBusy, useStore, useText } from "../context.tsx";
import { Field } from "../field.tsx";
import { Icon } from "../icons.tsx";
import { reasonOf } from "../reason.tsx";
import { bare, like, show } from "../text.ts";
import { JsonEdit } from "../value.tsx";
import { Unsaved, usePlace } from "../where.tsx";
import { named } from "./names.ts";

/** Actions are the buttons of a node. */
export function Actions({ node, step }: { node: CanvasNode; step: Step | undefined }): React.ReactNode {
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
  const { session, look } = useApp();
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
        look.update({ part: "out" });
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
