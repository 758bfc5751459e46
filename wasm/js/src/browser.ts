// Entry for pages and their Workers, and for other runtimes with the same interfaces.

import { Engine, type EngineOptions } from "./engine.ts";
import { platform, plugins } from "./platform.browser.ts";

export * from "./index.ts";

/** createEngine starts the engine, in a Worker by default. */
export function createEngine(options: EngineOptions = {}): Promise<Engine> {
  return Engine.start(platform, options, plugins);
}
