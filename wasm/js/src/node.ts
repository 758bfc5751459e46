// Entry for Node 20 and later.

import { Engine, type EngineOptions } from "./engine.ts";
import { platform, plugins } from "./platform.node.ts";

export * from "./index.ts";

/** createEngine starts the engine, in a worker thread by default. */
export function createEngine(options: EngineOptions = {}): Promise<Engine> {
  return Engine.start(platform, options, plugins);
}
