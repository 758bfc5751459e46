// Answers for components that work outside and that a page cannot reach: web searches, markets,
// mail, databases. Each component describes its own, and the engine computes it.

import type { ComponentSpec, Engine, StandIn } from "@easel/engine";

/** Answer is the answer of one component. */
export type Answer = (args: Record<string, unknown>, params: Record<string, unknown>) => Promise<StandIn>;

/** standInsOf returns an answer for every component that has one, by name. */
export function standInsOf(
  specs: Iterable<ComponentSpec>, engine: Promise<Pick<Engine, "standIn">>,
): Record<string, Answer> {
  const able = [...specs].filter((spec) => spec.stand_in);
  const answer = (name: string): Answer => async (args, params) => (await engine).standIn(name, args, params);
  return Object.fromEntries(able.map(({ name }) => [name, answer(name)]));
}
