// Lines of boxes that are in line with the one that is dragged.

import { useEffect, useMemo } from "react";
import { useReactFlow, ViewportPortal, type NodeChange, type NodePositionChange, type Node } from "@xyflow/react";
import { snap, type Guide, type Rect } from "../../canvas/guides.ts";
import { Store } from "../../run/store.ts";
import { useStore } from "../context.tsx";

const reach = 6; // px of the screen
const none: Guide[] = [];

/** Dragging pulls boxes to the lines of others. */
export interface Dragging {
  lines: Store<Guide[]>;
  /** pulled returns changes with the places to which boxes are pulled. */
  pulled(changes: NodeChange[]): NodeChange[];
}

/** useDragging follows the key Alt, which lets boxes stand anywhere. */
export function useDragging(): Dragging {
  const flow = useReactFlow();
  const [dragging, free] = useMemo(() => {
    const free = { now: false };
    const lines = new Store<Guide[]>(none);
    const show = (guides: Guide[]): void => {
      if (guides.length > 0 || lines.get().length > 0) lines.set(guides);
    };
    const pulled = (changes: NodeChange[]): NodeChange[] => {
      const moved = changes.filter((each): each is NodePositionChange => each.type === "position" && !!each.position);
      if (moved.length === 0 || moved.every(({ dragging }) => dragging === undefined)) return changes;
      const held = moved.some((each) => each.dragging === true);
      const ids = new Set(moved.map(({ id }) => id));
      const of = flow.getNode(moved[0]?.id ?? "")?.parentId;
      const isMixed = moved.some(({ id }) => flow.getNode(id)?.parentId !== of);
      if (free.now || isMixed) return show(none), changes;
      const isOther = ({ id, parentId, type }: Node): boolean => parentId === of && !ids.has(id) && type !== "note";
      const others = flow.getNodes().filter(isOther);
      const way = snap(around(moved.flatMap(({ id, position }) => {
        const node = flow.getNode(id);
        return node && position ? rectOf(node, position) : [];
      })), others.map((node) => rectOf(node, node.position)), reach / flow.getZoom());
      const from = of === undefined ? { x: 0, y: 0 } : flow.getInternalNode(of)?.internals.positionAbsolute;
      show(held && from ? way.guides.map((guide) => shifted(guide, from)) : none);
      return changes.map((each) => (each.type === "position" && each.position
        ? { ...each, position: { x: each.position.x + way.x, y: each.position.y + way.y } } : each));
    };
    return [{ lines, pulled }, free];
  }, [flow]);
  useEffect(() => {
    const follow = (event: PointerEvent): void => { free.now = event.altKey; };
    addEventListener("pointermove", follow, true);
    return () => removeEventListener("pointermove", follow, true);
  }, [free]);
  return dragging;
}

function rectOf({ measured, width, height }: Node, { x, y }: { x: number; y: number }): Rect {
  return { x, y, width: measured?.width ?? width ?? 0, height: measured?.height ?? height ?? 0 };
}

function around(rects: Rect[]): Rect {
  const x = Math.min(...rects.map((rect) => rect.x));
  const y = Math.min(...rects.map((rect) => rect.y));
  const right = Math.max(...rects.map((rect) => rect.x + rect.width));
  return { x, y, width: right - x, height: Math.max(...rects.map((rect) => rect.y + rect.height)) - y };
}

function shifted({ axis, at, from, to }: Guide, by: { x: number; y: number }): Guide {
  const across = by[axis === "x" ? "y" : "x"];
  return { axis, at: at + by[axis], from: from + across, to: to + across };
}

/** Guides draws the lines. */
export function Guides({ lines }: { lines: Store<Guide[]> }): React.ReactNode {
  const guides = useStore(lines, (all) => all);
  if (guides.length === 0) return null;
  return (
    <ViewportPortal>
      {guides.map(({ axis, at, from, to }) => (
        <div
          key={`${axis}${at}`} className="guide" data-axis={axis} aria-hidden="true"
          style={axis === "x" ? { left: at, top: from, height: to - from } : { left: from, top: at, width: to - from }}
        />
      ))}
    </ViewportPortal>
  );
}
