// The canvas itself, on React Flow. Places come from the model; dragged boxes are kept here until
// they are dropped, which is one act. Status does not go through React Flow at all, see nodes.tsx.

import {
  applyNodeChanges,
  Background,
  BackgroundVariant,
  Controls,
  getViewportForBounds,
  MarkerType,
  MiniMap,
  Position,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  useStore as useFlow,
  type Connection,
  type Edge,
  type EdgeChange,
  type FinalConnectionState,
  type Node,
  type NodeChange,
  type NodeHandle,
  type ReactFlowProps,
  type Viewport,
} from "@xyflow/react";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { CanvasEdge, CanvasModel, CanvasNode } from "../canvas/drawing.ts";
import { endsOf, handlesOf } from "../canvas/handles.ts";
import { canFail } from "../canvas/model.ts";
import { same } from "../canvas/patch.ts";
import { sizeOf } from "../canvas/places.ts";
import { errorHandle } from "../canvas/edit/wires.ts";
import type { Point, Spot, Wire as WireName } from "../run/editing.ts";
import { Store } from "../run/store.ts";
import type { Key } from "../words/en.ts";
import { useApp, useLook, useSelect, useSpecText, useStore, useText } from "./context.tsx";
import { fitPadding, leastZoom, legible, useCommands } from "./edit/commands.ts";
import { Ghost } from "./edit/ghost.tsx";
import { Guides, useDragging, type Dragging } from "./edit/guides.tsx";
import { useClipboard, useKeyboard } from "./edit/keyboard.ts";
import { Overlays } from "./edit/overlays.tsx";
import { dragType } from "./edit/palette.tsx";
import { choose, notify, useEdited, type MenuOf } from "./edit/state.ts";
import { drawnWhole, tabbed, untabbed, useSpokenLabels, useStop } from "./edit/tab-stop.ts";
import { Notice, Toolbar } from "./edit/toolbar.tsx";
import { Wire } from "./edit/wire.tsx";
import { preload } from "./form/prompt.tsx";
import { slow } from "./motion.ts";
import { DrawnContext, nodeTypes } from "./nodes.tsx";
import { titled } from "./text.ts";

const mini = { width: 150, height: 100 };
const minZoom = 0.1;
const fit = { padding: fitPadding, maxZoom: 1.1 };
const edgeTypes = { wire: Wire };

/** Below this zoom nothing in a box can be read, and drawing it would cost most of a frame. */
const readable = 0.2;

/**
 * Board draws the opened canvas. It chooses the view before the first drawing: a click on a box
 * that then moved away would be lost.
 */
export function Board({ model, title }: { model: CanvasModel; title: string }): React.ReactNode {
  const room = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<Viewport>();
  const first = useRef(model);
  useLayoutEffect(() => {
    if (room.current) setView(viewOf(first.current, room.current.getBoundingClientRect()));
  }, []);
  return view ? <Drawing model={model} title={title} view={view} /> : <div className="board" ref={room} />;
}

/** Drawing is a canvas in a view. */
export function Drawing(props: { model: CanvasModel; title: string; view: Viewport }): React.ReactNode {
  const { byId } = props.model;
  const [shown] = useState(() => new Store(byId));
  useLayoutEffect(() => shown.set(byId), [shown, byId]);
  return (
    <DrawnContext value={shown}>
      <ReactFlowProvider>
        <Plane {...props} />
      </ReactFlowProvider>
    </DrawnContext>
  );
}

function Plane({ model, title, view }: Parameters<typeof Drawing>[0]): React.ReactNode {
  const t = useText();
  const dark = useLook((look) => look.dark);
  const wheel = useLook((look) => look.wheel);
  const commands = useCommands();
  const board = useRef<HTMLElement>(null);
  const [stop, follow] = useStop(model);
  const [nodes, changeNodes] = useBoxes(model, stop);
  const [edges, edgeHandlers] = useWires(model);
  const dragging = useDragging();
  const handlers = useHandlers(changeNodes, dragging.pulled);
  const dropped = useDrop();
  const pointed = usePointed();
  useKeyboard(commands);
  useClipboard();
  useEffect(preload, []);
  return (
    <section
      ref={board}
      className="board"
      aria-label={t("canvas.label", title)}
      data-many={model.nodes.length > drawnWhole || undefined}
      tabIndex={stop === undefined ? 0 : -1}
      onFocus={follow}
      {...dropped}
      onDoubleClick={pointed}
    >
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        colorMode={dark ? "dark" : "light"}
        defaultViewport={view}
        minZoom={minZoom}
        maxZoom={2}
        onlyRenderVisibleElements={model.nodes.length > drawnWhole}
        deleteKeyCode={null}
        connectOnClick={false}
        edgesFocusable={false}
        elevateNodesOnSelect={false}
        nodeDragThreshold={3}
        panOnScroll={wheel === "pan"}
        zoomOnDoubleClick={false}
        ariaLabelConfig={useSpokenLabels()}
        {...handlers}
        {...edgeHandlers}
      >
        <Background variant={BackgroundVariant.Dots} gap={22} size={1.4} />
        <Controls showInteractive={false} fitViewOptions={fit} />
        {model.nodes.length > 12 && <MiniMap pannable zoomable ariaLabel={null} nodeStrokeWidth={3} style={mini} />}
        <Guides lines={dragging.lines} />
        <Ghost model={model} />
        <Camera />
        <Distance board={board} />
      </ReactFlow>
      <Toolbar commands={commands} />
      <Overlays commands={commands} />
      <Notice />
    </section>
  );
}

// useBoxes returns the boxes in React Flow's format; `stop` is the one that Tab stops at. A box
// that stands where it stood stays the same object, and the list too.
function useBoxes(model: CanvasModel, stop: string | undefined): [Node[], (changes: NodeChange[]) => void] {
  const t = useText();
  const edited = useEdited();
  const selection = useStore(edited, (state) => state.nodes);
  const words = useSpecText();
  const label = useCallback(
    (node: CanvasNode) => {
      const { name, role, kind } = node;
      const own = role === "tool" ? t("canvas.tools") : words(titled(node.spec, kind));
      const what = role === "note" ? t("edit.note_name") : own;
      return t("canvas.node", name, what, "").replace(/[,，]\s*$/, "");
    },
    [t, words],
  );
  const [shown, setShown] = useState<{ model?: CanvasModel; label?: unknown; nodes: Node[] }>({ nodes: [] });
  let { nodes } = shown;
  if (shown.model !== model || shown.label !== label) {
    const before = new Map(nodes.map((node) => [node.id, node]));
    nodes = unlessSame(nodes, model.nodes.map((node) => {
      const [old, then] = [before.get(node.id), shown.model?.byId.get(node.id)];
      if (old && then && shown.label === label && standsAs(node, then)) return old;
      return drawn(node, label(node), model.nodes.length > drawnWhole, old);
    }));
    setShown({ model, label, nodes });
  }
  const selected = useMemo(() => {
    const chosen = new Set(selection);
    return nodes.map((node) => {
      const [selected, domAttributes] = [chosen.has(node.id), node.id === stop ? tabbed : untabbed];
      const known = (node.selected ?? false) === selected && node.domAttributes === domAttributes;
      return known ? node : { ...node, selected, domAttributes };
    });
  }, [nodes, selection, stop]);
  const change = useCallback((changes: NodeChange[]) => {
    const measured = new Set(changes.flatMap((each) => (each.type === "dimensions" ? [each.id] : [])));
    setShown((state) => {
      const nodes = applyNodeChanges(changes, state.nodes);
      return { ...state, nodes: nodes.map((node) => (measured.has(node.id) ? withoutHandles(node) : node)) };
    });
  }, []);
  return [selected, change];
}

// standsAs reports whether React Flow gets the same box for both. The handles of a box that was
// never drawn are estimates, see estimate.
function standsAs(node: CanvasNode, then: CanvasNode): boolean {
  if (node === then) return true;
  return placing.every((key) => node[key] === then[key]) && same(handlesOf(node), handlesOf(then));
}

const placing = ["role", "kind", "name", "x", "y", "width", "height", "parent"] as const;

// unlessSame returns the list before where all its elements are the same.
function unlessSame<T>(before: T[], now: T[]): T[] {
  return before.length === now.length && now.every((each, i) => each === before[i]) ? before : now;
}

// useHandlers converts changes of boxes to acts. New functions would make React Flow update all its
// nodes, so they stay the same.
function useHandlers(change: (changes: NodeChange[]) => void, pulled: Dragging["pulled"]): Partial<ReactFlowProps> {
  const { session, look } = useApp();
  const edited = useEdited();
  const select = useSelect();
  const flow = useReactFlow();
  const t = useText();
  const latest = useRef(t);
  latest.current = t;
  return useMemo(() => {
    let dragged = false;
    const refused = (wire: WireName): boolean => {
      const reason = session.editing.refused(wire);
      if (reason) notify(edited, latest.current(`refused.${reason}` as Key));
      return reason !== undefined;
    };
    const menu = (event: MouseEvent | React.MouseEvent, of: MenuOf, spot?: Spot): void => {
      event.preventDefault();
      const at = { x: event.clientX, y: event.clientY };
      edited.update({ overlay: "menu", menu: of, at, spot: spot ?? { at: flow.screenToFlowPosition(at) } });
    };
    return {
      onNodeClick: (event, node) => {
        if (event.shiftKey || event.ctrlKey || event.metaKey) return;
        choose(edited, [node.id]); // also one of several
        select(node.id, node.type === "note" ? {} : { tab: "node" });
      },
      onPaneClick: () => select(undefined),
      onPaneContextMenu: (event) => menu(event, "canvas"),
      onNodeContextMenu: (event, { id }) => {
        const { nodes } = edited.get();
        const isOneOf = nodes.length > 1 && nodes.includes(id);
        if (!isOneOf) choose(edited, [id]);
        menu(event, isOneOf ? "selection" : "step", { after: { node: id } });
      },
      onSelectionContextMenu: (event) => menu(event, "selection"),
      onEdgeContextMenu: (event, edge) => {
        if (edge.data?.["fixed"] === true) return;
        edited.update({ nodes: [], edges: [edge.id] });
        menu(event, "edge", { between: wireOf(edge) });
      },
      onNodeDragStart: () => { dragged = true; },
      onNodesChange: (all) => {
        const changes = dragged ? pulled(all) : all;
        change(changes.filter(({ type }) => type !== "select"));
        pick(changes, edited, (id) => {
          if (id !== look.get().selected) select(id);
        });
        const places = putDown(changes, session.document.get()?.model);
        const crossed = Object.keys(places).length > 0 ? session.editing.move(places, dragged) : 0;
        if (crossed > 0) notify(edited, latest.current("edit.crossed", crossed));
        if (changes.some((each) => each.type === "position" && each.dragging === false)) dragged = false;
        for (const each of changes) {
          if (each.type !== "dimensions" || each.resizing !== false || !each.dimensions) continue;
          session.editing.resize(each.id, each.dimensions.width, each.dimensions.height);
        }
      },
      isValidConnection: (wire) => session.editing.refused(wireOf(wire)) === undefined,
      onConnect: (connection: Connection) => {
        session.editing.connect(wireOf(connection));
      },
      onConnectEnd: (event, state: FinalConnectionState) => {
        const { fromNode, fromHandle, toNode, isValid } = state;
        if (isValid || !fromNode || fromHandle?.type !== "source" || fromHandle.id === "tool") return;
        const branch = fromHandle.id ?? undefined;
        if (toNode) {
          refused({ source: fromNode.id, target: toNode.id, ...(branch === undefined ? {} : { branch }) });
          return;
        }
        const at = "changedTouches" in event ? event.changedTouches[0] : event;
        if (!at) return;
        const screen = { x: at.clientX, y: at.clientY };
        const spot = {
          at: flow.screenToFlowPosition(screen),
          after: { node: fromNode.id, ...(branch === undefined ? {} : { branch }) },
        };
        edited.update({ overlay: "add", at: screen, spot });
      },
    };
  }, [session, look, edited, select, flow, change, pulled]);
}

function wireOf({ source, target, sourceHandle }: Connection | Edge): WireName {
  return { source, target, ...(sourceHandle === null || sourceHandle === undefined ? {} : { branch: sourceHandle }) };
}

// pick follows the selection of boxes.
function pick(changes: NodeChange[], edited: ReturnType<typeof useEdited>, only: (id: string) => void): void {
  const picked = changes.filter((each) => each.type === "select");
  if (picked.length === 0) return;
  const chosen = new Set(edited.get().nodes);
  for (const { id, selected } of picked) {
    if (selected) chosen.add(id);
    else chosen.delete(id);
  }
  const nodes = [...chosen];
  edited.update({ nodes });
  const [one] = nodes;
  if (nodes.length === 1 && one !== undefined) only(one);
}

// putDown returns the places of boxes that were moved and are not held any more.
function putDown(changes: NodeChange[], model: CanvasModel | undefined): Record<string, Point> {
  const places: Record<string, Point> = {};
  for (const each of changes) {
    if (each.type !== "position" || each.dragging !== false || !each.position) continue;
    const node = model?.byId.get(each.id);
    const moved =
      node &&
      (Math.round(each.position.x) !== Math.round(node.x) || Math.round(each.position.y) !== Math.round(node.y));
    if (moved) places[each.id] = each.position;
  }
  return places;
}

// useWires returns the edges, and what follows the pointer and the selection.
function useWires(model: CanvasModel): [Edge[], Partial<ReactFlowProps>] {
  const edited = useEdited();
  const selection = useStore(edited, (state) => state.edges);
  const [hovered, setHovered] = useState<string>();
  const t = useText();
  const names = model.nodes.map(({ name }) => name).join("\n");
  const all = useMemo(() => {
    const nameOf = (id: string): string => model.byId.get(id)?.name ?? id;
    return model.edges.map((edge) => ({
      ...wired(edge),
      ariaLabel: t("canvas.edge", nameOf(edge.source), nameOf(edge.target)),
    }));
  }, [model.edges, names, t]);
  const edges = useMemo(() => {
    const chosen = new Set(selection);
    return all.map((edge) => {
      const over = edge.id === hovered;
      return over || chosen.has(edge.id)
        ? { ...edge, selected: chosen.has(edge.id), data: { ...edge.data, hovered: over } }
        : edge;
    });
  }, [all, hovered, selection]);
  const leaving = useRef<ReturnType<typeof setTimeout>>(undefined);
  const handlers = useMemo(
    () => ({
      onEdgesChange: (changes: EdgeChange[]) => {
        const chosen = new Set(edited.get().edges);
        for (const each of changes) {
          if (each.type !== "select") continue;
          if (each.selected) chosen.add(each.id);
          else chosen.delete(each.id);
        }
        edited.update({ edges: [...chosen] });
      },
      onEdgeMouseEnter: (_: unknown, { id }: Edge) => {
        clearTimeout(leaving.current);
        setHovered(id);
      },
      // The pointer leaves the edge on its way to the buttons next to it.
      onEdgeMouseLeave: () => {
        leaving.current = setTimeout(() => setHovered(undefined), 700);
      },
    }),
    [edited],
  );
  return [edges, handlers];
}

function wired(edge: CanvasEdge): Edge {
  const { id, source, target, role } = edge;
  const tool = role === "tool";
  const { source: handle, target: end } = endsOf(edge);
  return {
    id,
    source,
    target,
    type: "wire",
    focusable: false,
    selectable: !tool,
    data: { fixed: tool, ...(handle === undefined || tool ? {} : { branch: handle }) },
    ...(handle === undefined ? {} : { sourceHandle: handle }),
    ...(tool
      ? { targetHandle: end, className: "tool-edge" }
      : { markerEnd: { type: MarkerType.ArrowClosed, width: 16, height: 16 } }),
    ...(role === "error" ? { className: "error-edge" } : {}),
  };
}

// useDrop lets components be dragged from the palette onto the canvas.
function useDrop(): Pick<React.HTMLAttributes<HTMLElement>, "onDragOver" | "onDrop"> {
  const { session } = useApp();
  const words = useSpecText();
  const edited = useEdited();
  const flow = useReactFlow();
  const select = useSelect();
  return useMemo(
    () => ({
      onDragOver: (event) => {
        if (event.dataTransfer.types.includes(dragType)) event.preventDefault();
      },
      onDrop: (event) => {
        const kind = event.dataTransfer.getData(dragType);
        if (!kind) return;
        event.preventDefault();
        const id = session.editing.add(kind, words(titled(session.specs.get().get(kind), kind)), {
          at: flow.screenToFlowPosition({ x: event.clientX, y: event.clientY }),
        });
        if (id === undefined) return;
        choose(edited, [id]);
        select(id, { tab: "node" });
      },
    }),
    [session, edited, flow, select, words],
  );
}

// usePointed adds a step where the empty canvas is clicked twice.
function usePointed(): (event: React.MouseEvent) => void {
  const edited = useEdited();
  const flow = useReactFlow();
  return useCallback((event) => {
    if (!(event.target instanceof Element) || !event.target.matches(".react-flow__pane")) return;
    const at = { x: event.clientX, y: event.clientY };
    edited.update({ overlay: "add", at, spot: { at: flow.screenToFlowPosition(at) } });
  }, [edited, flow]);
}

// Camera follows the selection, and moves the view to a node when asked.
function Camera(): null {
  const flow = useReactFlow();
  const edited = useEdited();
  const selected = useLook((look) => look.selected);
  const reveal = useLook((look) => look.reveal);
  useEffect(() => {
    if (selected !== undefined && !edited.get().nodes.includes(selected)) choose(edited, [selected]);
  }, [selected, edited]);
  useEffect(() => {
    if (reveal)
      void flow.fitView({
        nodes: [{ id: reveal.node }],
        maxZoom: 1,
        minZoom: leastZoom(),
        duration: matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : slow,
      });
  }, [reveal, flow]);
  return null;
}

// viewOf is the view of a canvas that is opened: all of it, or its start when all would be too
// small to read.
function viewOf({ nodes }: CanvasModel, { width, height }: DOMRect): Viewport {
  const tops = nodes.filter(({ parent }) => parent === undefined);
  const start = nodes.find((node) => node.spec?.role === "start") ?? tops[0];
  if (!start) return { x: 0, y: 0, zoom: 1 };
  const ends = tops.map((node) => ({ x: node.x + sizeOf(node).width, y: node.y + sizeOf(node).height }));
  const x = Math.min(...tops.map((node) => node.x));
  const y = Math.min(...tops.map((node) => node.y));
  const far = { x: Math.max(...ends.map((end) => end.x)), y: Math.max(...ends.map((end) => end.y)) };
  const bounds = { x, y, width: far.x - x, height: far.y - y };
  const all = getViewportForBounds(bounds, width, height, minZoom, fit.maxZoom, fit.padding);
  if (all.zoom >= legible || leastZoom() < legible) return all;
  return {
    zoom: legible,
    x: 60 - start.x * legible,
    y: height / 2 - (start.y + sizeOf(start).height / 2) * legible,
  };
}

// Distance sets an attribute for the style sheet when boxes are too small to be read; then they are
// plain.
function Distance({ board }: { board: React.RefObject<HTMLElement | null> }): null {
  const far = useFlow((state) => state.transform[2] < readable);
  useEffect(() => {
    board.current?.toggleAttribute("data-far", far);
  }, [board, far]);
  return null;
}

// drawn returns a node for React Flow and reuses the measurements of `old`.
function drawn(node: CanvasNode, label: string, many: boolean, old?: Node): Node {
  const { width, height } = sizeOf(node);
  const fixed = node.role === "group" || node.role === "note";
  const measured = old?.handles ? undefined : old?.measured;
  return {
    id: node.id,
    type: node.role === "group" ? "container" : node.role,
    position: { x: node.x, y: node.y },
    data: {},
    domAttributes: untabbed,
    ariaLabel: label,
    ...(node.parent ? { parentId: node.parent } : {}),
    ...(fixed ? { width, height } : { initialWidth: width, initialHeight: height }),
    ...(node.role === "note" ? { zIndex: -1 } : {}),
    ...(measured ? { measured } : many ? estimate(node, width, height) : {}),
  };
}

// estimate is the size and the handles of a box before it is drawn. Of a large canvas React Flow
// then draws the boxes in view alone, not all of them once to measure them. No element has half a
// pixel, so a box that is drawn is measured.
function estimate(node: CanvasNode, width: number, height: number): Pick<Node, "measured" | "handles"> {
  const below = height - node.branches.length * 26;
  const rows = node.branches.map(({ id }, i) => handle("source", Position.Right, width, below + 26 * i + 13, id));
  const end = node.spec?.role === "sink" ? [] : [handle("source", Position.Right, width, height / 2)];
  const tool = node.role === "tool" || node.role === "agent";
  const handles = [
    tool ? handle("target", Position.Top, width / 2, 0, "top") : handle("target", Position.Left, 0, height / 2),
    ...(tool ? [] : rows.length > 0 ? rows : end),
    ...(canFail(node) ? [handle("source", Position.Bottom, width - 28, height, errorHandle)] : []),
    handle("source", Position.Bottom, width / 2, height, "tool"),
  ];
  return { measured: { width: width - 0.5, height: height - 0.5 }, handles };
}

function handle(type: "source" | "target", position: Position, x: number, y: number, id?: string): NodeHandle {
  return { type, position, x, y, ...(id === undefined ? {} : { id }) };
}

// withoutHandles leaves the handles of a box to React Flow, which has measured them.
function withoutHandles({ handles: _, ...node }: Node): Node {
  return node;
}
