// The canvas itself, on React Flow. Places come from the model; status does not go
// through React Flow at all, see nodes.tsx.

import { Background, BackgroundVariant, Controls, MarkerType, MiniMap, ReactFlow, useReactFlow, useStore as useFlow, type Edge, type Node, type NodeChange } from "@xyflow/react";
import { useEffect, useMemo, useRef } from "react";
import type { CanvasModel, CanvasNode } from "../canvas/drawing.ts";
import { sizeOf } from "../canvas/places.ts";
import { useApp, useLook, useSelect, useText } from "./context.tsx";
import { nodeTypes, type BoxData } from "./nodes.tsx";

const mini = { width: 150, height: 100 };
const fit = { padding: 0.08, maxZoom: 1.1 };

/** Below this zoom nothing in a box can be read, and drawing it would cost most of a frame. */
const readable = 0.2;

/** Board draws the opened canvas. */
export function Board({ model, title }: { model: CanvasModel; title: string }): React.ReactNode {
  const t = useText();
  const { look } = useApp();
  const dark = useLook((look) => look.dark);
  const selected = useLook((look) => look.selected);
  const select = useSelect();
  const board = useRef<HTMLElement>(null);
  const nodes = useMemo(() => model.nodes.map((node) => drawn(node, t("canvas.node", node.name, node.kind, "").replace(/[,，]\s*$/, ""))), [model, t]);
  const edges = useMemo(() => model.edges.map((edge) => ({
    id: edge.id, source: edge.source, target: edge.target, focusable: false,
    ...(edge.branch === undefined ? {} : { sourceHandle: edge.branch }),
    ...(edge.role === "tool" ? { sourceHandle: "tool", targetHandle: "top", className: "tool-edge" } : { markerEnd: { type: MarkerType.ArrowClosed, width: 16, height: 16 } }),
    ...(edge.role === "error" ? { className: "error-edge" } : {}),
  }) satisfies Edge), [model]);
  const shown = useMemo(() => nodes.map((node) => (node.id === selected ? { ...node, selected: true } : node)), [nodes, selected]);
  // New functions would make React Flow go through all its nodes.
  const handlers = useMemo(() => ({
    onNodeClick: (_: unknown, node: Node) => { if (node.type !== "note") select(node.id, { tab: "node" }); },
    onPaneClick: () => select(undefined),
    // The keyboard selects through here; a click has its own handler.
    onNodesChange: (changes: NodeChange[]) => {
      const chosen = changes.find((change) => change.type === "select" && change.selected);
      if (chosen && "id" in chosen && chosen.id !== look.get().selected) select(chosen.id);
    },
  }), [select, look]);

  return (
    <section ref={board} className="board" aria-label={t("canvas.label", title)} data-many={model.nodes.length > 100 || undefined}>
      <ReactFlow
        nodes={shown} edges={edges} nodeTypes={nodeTypes} colorMode={dark ? "dark" : "light"} fitView fitViewOptions={fit} minZoom={0.1} maxZoom={2}
        nodesDraggable={false} nodesConnectable={false} edgesFocusable={false} elementsSelectable deleteKeyCode={null}
        {...handlers}
      >
        <Background variant={BackgroundVariant.Dots} gap={22} size={1.4} />
        <Controls showInteractive={false} />
        {model.nodes.length > 12 && <MiniMap pannable ariaLabel={null} nodeStrokeWidth={3} style={mini} />}
        <Camera model={model} />
        <Distance board={board} />
      </ReactFlow>
    </section>
  );
}

// Camera moves the view: to everything for a new canvas, to one node when asked.
function Camera({ model }: { model: CanvasModel }): null {
  const flow = useReactFlow();
  const reveal = useLook((look) => look.reveal);
  const ids = model.nodes.map((node) => node.id).join();
  const first = useRef(ids);
  useEffect(() => {
    if (first.current === ids) return;
    first.current = ids;
    requestAnimationFrame(() => void flow.fitView(fit));
  }, [ids, flow]);
  useEffect(() => {
    if (reveal) void flow.fitView({ nodes: [{ id: reveal.node }], maxZoom: 1, duration: matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 250 });
  }, [reveal, flow]);
  return null;
}

// Distance tells the style sheet when boxes are too small to be read; then they are plain.
function Distance({ board }: { board: React.RefObject<HTMLElement | null> }): null {
  const far = useFlow((state) => state.transform[2] < readable);
  useEffect(() => { board.current?.toggleAttribute("data-far", far); }, [board, far]);
  return null;
}

function drawn(node: CanvasNode, label: string): Node<BoxData> {
  const { width, height } = sizeOf(node);
  const fixed = node.role === "group" || node.role === "note";
  return {
    id: node.id, type: node.role === "group" ? "container" : node.role, position: { x: node.x, y: node.y }, data: { node }, ariaLabel: label,
    ...(node.parent ? { parentId: node.parent } : {}),
    ...(fixed ? { width, height } : { initialWidth: width, initialHeight: height }),
    ...(node.role === "note" ? { selectable: false, focusable: false, zIndex: -1 } : {}),
  };
}
