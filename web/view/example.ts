// Canvases that come with the page, loaded when they are first needed.

import type { Dsl, Words } from "../canvas/dsl.ts";

/** Example is a canvas that comes with the page. */
export interface Example {
  id: string;
  title: Words;
  description: Words;
  dsl: Dsl;
}

/** UseCase is the category of a template. */
export type UseCase = (typeof useCases)[number];

/** useCases lists the categories of templates in display order. */
export const useCases = ["support", "research", "data", "documents"] as const;

/** Template is an example to start a canvas of one's own from. */
export interface Template extends Example {
  use: UseCase;
}

/** loadExamples returns the examples, in order of their ids. */
export async function loadExamples(): Promise<Example[]> {
  return (await import("easel:examples")).default;
}

/** loadTemplates returns the templates, by use case. */
export async function loadTemplates(): Promise<Template[]> {
  const templates = (await import("easel:templates")).default;
  return templates.toSorted((a, b) => useCases.indexOf(a.use) - useCases.indexOf(b.use));
}
