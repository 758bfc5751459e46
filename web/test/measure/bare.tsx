// A plain React Flow page with the same boxes and the same number of status changes,
// as the baseline for ours. It has no panel, no names and no engine.

import { Handle, Position, ReactFlow, type NodeProps } from "@xyflow/react";
import { memo, useSyncExternalStore } from "react";
import { createRoot } from "react-dom/client";
import "@xyflow/react/dist/base.css";

const count = Number(new URLSearchParams(location.search).get("nodes") ?? 500);
const status = new Map<string, string>();
const listeners = new Set<() => void>();

const Box = memo(function Box({ id }: NodeProps) {
  const now = useSyncExternalStore(
    (listen) => {
      listeners.add(listen);
      return () => listeners.delete(listen);
    },
    () => status.get(id) ?? "idle",
  );
  return (
    <div className="box" data-status={now}>
      <Handle type="target" position={Position.Left} />
      {id}
      <Handle type="source" position={Position.Right} />
    </div>
  );
});

const types = { box: Box };
const nodes = Array.from({ length: count }, (_, i) => ({
  id: String(i),
  type: "box",
  position: { x: (i % 25) * 260, y: Math.floor(i / 25) * 130 },
  data: {},
}));
const edges = nodes.slice(1).map((node, i) => ({ id: node.id, source: String(i), target: node.id }));

createRoot(document.getElementById("root") as HTMLElement).render(
  <ReactFlow nodes={nodes} edges={edges} nodeTypes={types} fitView minZoom={0.05} />,
);

Object.assign(globalThis, {
  play: async (milliseconds: number): Promise<void> => {
    for (let i = 0; i <= count; i++) {
      status.set(String(i - 1), "succeeded");
      status.set(String(i), "running");
      for (const listen of listeners) listen();
      await new Promise((resolve) => setTimeout(resolve, milliseconds / count));
    }
  },
});
