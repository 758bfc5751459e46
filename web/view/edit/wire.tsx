// An edge. One that the pointer is on, or that is selected, has buttons: a step goes into it, or it
// goes.

import { BaseEdge, EdgeLabelRenderer, getBezierPath, type EdgeProps } from "@xyflow/react";
import { memo } from "react";
import { useApp, useText } from "../context.tsx";
import { Icon } from "../icons.tsx";
import { useEdited } from "./state.ts";

/** Wire draws an edge. */
export const Wire = memo(function Wire(props: EdgeProps): React.ReactNode {
  const [path, x, y] = getBezierPath(props);
  const { markerEnd, style, interactionWidth = 16, data, selected, id } = props;
  return (
    <>
      <BaseEdge
        id={id}
        path={path}
        interactionWidth={interactionWidth}
        {...(markerEnd ? { markerEnd } : {})}
        {...(style ? { style } : {})}
      />
      {(selected || data?.["hovered"]) && data?.["fixed"] !== true && <Buttons edge={props} x={x} y={y} />}
    </>
  );
});

function Buttons({ edge: { source, target, data }, x, y }: { edge: EdgeProps; x: number; y: number }): React.ReactNode {
  const t = useText();
  const { session } = useApp();
  const edited = useEdited();
  const branch = data?.["branch"] as string | undefined;
  const wire = { source, target, ...(branch === undefined ? {} : { branch }) };
  return (
    <EdgeLabelRenderer>
      <div
        className="wire-buttons nodrag nopan"
        style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` }}
      >
        <button
          type="button"
          title={t("edit.insert")}
          aria-label={t("edit.insert")}
          onClick={(event) =>
            edited.update({ overlay: "add", spot: { between: wire }, at: { x: event.clientX, y: event.clientY } })
          }
        >
          <Icon name="plus" />
        </button>
        <button
          type="button"
          title={t("edit.delete_edge")}
          aria-label={t("edit.delete_edge")}
          onClick={() => session.editing.remove([], [wire])}
        >
          <Icon name="cross" />
        </button>
      </div>
    </EdgeLabelRenderer>
  );
}
