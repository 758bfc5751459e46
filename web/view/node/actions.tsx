// What can be done with one node: run it or to it, pin it, switch it off.

import { useState } from "react";
import type { Step } from "@easel/engine/state";
import type { CanvasNode } from "../../canvas/drawing.ts";
import { canBeOff } from "../../canvas/model.ts";
import { useApp, useBusy, useStore, useText } from "../context.tsx";
import { Icon } from "../icons.tsx";
import { bare } from "../text.ts";
import { JsonEdit } from "../value.tsx";
import { Unsaved, usePlace } from "../where.tsx";
import { Alone } from "./alone.tsx";

/** Actions are the buttons of a node. */
export function Actions({ node, step }: { node: CanvasNode; step: Step | undefined }): React.ReactNode {
  const t = useText();
  const { session, look } = useApp();
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
          {t(onHost ? "node.debug_host" : "node.debug")}
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
      {editing === "debug" && <Alone node={node.id} onRun={() => look.update({ part: "out" })} />}
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
