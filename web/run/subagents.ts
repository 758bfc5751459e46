// The activity of agents inside agents and of their tools. They have no node events, so it follows
// from the tool calls that the outer agent records.

import type { Step, Status, ToolUse } from "@easel/engine/state";
import type { Member } from "../canvas/drawing.ts";

/** Activity summarizes the calls of a box below an agent in one execution. */
export interface Activity {
  status: Status;
  /** Calls so far. */
  runs: number;
  /** Seconds of all calls, once none is open. */
  elapsed?: number;
}

const arrow = "-->";

/**
 * callOf returns the caller of a call: the path of the calling agent, and the name of the tool
 * without its number.
 */
export function callOf({ name, path }: Pick<ToolUse, "name" | "path">): { agent: string; tool: string } {
  const tool = name.replace(/_\d+$/, "");
  const whole = typeof path === "string" ? path : "";
  const own = arrow + tool; // a path may end with the tool itself
  return { agent: whole.endsWith(own) ? whole.slice(0, -own.length) : whole, tool };
}

/** activity sums up the calls of a box in the execution of the agent that it belongs to. */
export function activity(step: Step | undefined, member: Member): Activity | undefined {
  if (!step) return undefined;
  const calls = step.tools.filter((use) => concerns(use, member));
  if (calls.length === 0) return undefined;
  const open = calls.some((use) => use.elapsed === undefined);
  if (open) return { status: step.status, runs: calls.length };
  const elapsed = calls.reduce((sum, use) => sum + (use.elapsed ?? 0), 0);
  return { status: calls.at(-1)?.error ? "failed" : "succeeded", runs: calls.length, elapsed };
}

function concerns(use: ToolUse, { path, agent, agents }: Member): boolean {
  const call = callOf(use);
  if (call.agent !== path) return false;
  // Names of tools end in a number; entries without a number are steps of the agent itself.
  return agent === undefined ? /_\d+$/.test(use.name) && !agents.includes(call.tool) : call.tool === agent;
}
