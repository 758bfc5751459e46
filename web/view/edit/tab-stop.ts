// The canvas is one stop of the Tab key; arrows lead from box to box, see keyboard.ts.

import type { ReactFlowProps } from "@xyflow/react";
import { useCallback, useMemo, useState } from "react";
import type { CanvasModel } from "../../canvas/drawing.ts";
import { useText } from "../context.tsx";

/** drawnWhole is the most boxes that are drawn wherever they stand. */
export const drawnWhole = 100;

/** tabbed and untabbed are the attributes of boxes that Tab stops at and skips. */
export const tabbed = { tabIndex: 0 };
export const untabbed = { tabIndex: -1 };

/**
 * useStop returns the one box that Tab stops at, the last that had the keyboard. Of a large canvas
 * the boxes in view alone are drawn: there Tab stops at the canvas, and an arrow leads into it.
 */
export function useStop(model: CanvasModel): [string | undefined, (event: React.FocusEvent) => void] {
  const [last, setLast] = useState<string>();
  const follow = useCallback(({ target }: React.FocusEvent) => {
    if (target instanceof HTMLElement && target.matches(".react-flow__node")) setLast(target.dataset["id"]);
  }, []);
  if (model.nodes.length > drawnWhole) return [undefined, follow];
  const start = model.nodes.find(({ spec }) => spec?.role === "start") ?? model.nodes[0];
  return [last !== undefined && model.byId.has(last) ? last : start?.id, follow];
}

/** useSpokenLabels returns React Flow's labels for screen readers in the person's language. */
export function useSpokenLabels(): ReactFlowProps["ariaLabelConfig"] {
  const t = useText();
  return useMemo(
    () => ({
      "node.a11yDescription.default": t("canvas.node_keys"),
      "node.a11yDescription.keyboardDisabled": t("canvas.node_keys"),
      "node.a11yDescription.ariaLiveMessage": ({ x, y }) => t("canvas.moved", x, y),
      "controls.ariaLabel": t("canvas.controls"),
      "controls.zoomIn.ariaLabel": t("edit.zoom_in"),
      "controls.zoomOut.ariaLabel": t("edit.zoom_out"),
      "controls.fitView.ariaLabel": t("edit.fit"),
    }),
    [t],
  );
}
