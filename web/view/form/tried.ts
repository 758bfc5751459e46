// The last execution of a step.

import type { Step } from "@easel/engine/state";
import { useApp, useStore } from "../context.tsx";

/**
 * useLastStep returns the last execution of a step, also one that failed when the step ran alone:
 * then the result before stays the one that other steps use.
 */
export function useLastStep(node: string): Step | undefined {
  const { session } = useApp();
  return useStore(session.player.play, (play) => play.shown.steps.findLast((step) => step.node === node));
}
