// What comes next on a canvas that is empty or has nothing but its start.

import { useReactFlow, ViewportPortal } from "@xyflow/react";
import type { CanvasModel } from "../../canvas/drawing.ts";
import { sizeOf } from "../../canvas/places.ts";
import { useText } from "../context.tsx";
import { Icon } from "../icons.tsx";
import { useEdited } from "./state.ts";

const apart = 80; // between boxes, as added steps stand

/** Ghost offers the first step, or the one behind the start; it is connected when it is added. */
export function Ghost({ model }: { model: CanvasModel }): React.ReactNode {
  const t = useText();
  const edited = useEdited();
  const flow = useReactFlow();
  const steps = model.nodes.filter(({ role }) => role !== "note");
  const [start] = steps;
  if (steps.length > 1 || (start && start.spec?.role !== "start")) return null;
  const at = start ? { x: start.x + sizeOf(start).width + apart, y: start.y } : { x: 0, y: 0 };
  const add = (event: React.MouseEvent): void => {
    const { left, top } = event.currentTarget.getBoundingClientRect();
    edited.update({
      overlay: "add", at: { x: left, y: top },
      spot: start ? { at: flow.screenToFlowPosition({ x: left, y: top }), after: { node: start.id } } : { at },
    });
  };
  return (
    <ViewportPortal>
      <button
        type="button" className="ghost nopan nodrag" onClick={add}
        style={{ transform: `translate(${at.x}px, ${at.y}px)` }}
      >
        <Icon name="plus" />
        {t(start ? "edit.next_step" : "edit.first_step")}
      </button>
    </ViewportPortal>
  );
}
