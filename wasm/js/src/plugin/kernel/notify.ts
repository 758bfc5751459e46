// Those functions of hyper-mcp in extism:host/user that only notify a client: the progress and the
// log of a call are known here, changed lists and resources do not exist. A twin of notify.go in
// the Go host.

import type { Guest } from "./guest.ts";

const decoder = new TextDecoder();
const encoder = new TextEncoder();

// The levels of MCP by those of the contract; others are errors.
const levels: Record<string, number> = { debug: 1, info: 2, notice: 2, warning: 3 };

export function notify(g: Guest): Record<string, Function> {
  const read = (at: bigint): unknown => {
    try {
      return JSON.parse(decoder.decode(g.arena.block(Number(at))));
    } catch {
      return undefined;
    }
  };
  const none = (): void => {};
  return {
    notify_progress: (at: bigint) => {
      const said = read(at) as { progress?: unknown; total?: unknown; message?: unknown } | null | undefined;
      if (said === undefined) return; // as a malformed emit
      const [done, total] = [number(said?.progress), number(said?.total)];
      const pct = total > 0 ? Math.round(Math.min(Math.max(done / total, 0), 1) * 100) : 0;
      const note = typeof said?.message === "string" ? said.message : "";
      const over = g.emit(3, encoder.encode(JSON.stringify({ pct, note })));
      if (over instanceof Promise) return over.then(none);
    },
    notify_logging_message: (at: bigint) => {
      const said = read(at) as { level?: unknown; data?: unknown } | null | undefined;
      if (typeof said !== "object" || said === null || Array.isArray(said)) {
        g.log(2, g.arena.block(Number(at)));
        return;
      }
      const level = typeof said.level === "string" && Object.hasOwn(levels, said.level) ? levels[said.level]! : 4;
      const text = typeof said.data === "string" ? said.data : JSON.stringify(said.data ?? null);
      g.log(level, encoder.encode(text));
    },
    notify_resource_updated: none,
    notify_prompt_list_changed: none,
    notify_resource_list_changed: none,
    notify_tool_list_changed: none,
  };
}

function number(value: unknown): number {
  return typeof value === "number" ? value : 0;
}
