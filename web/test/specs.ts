// The descriptions of components by the engine, for tests of views.

import { createEngine } from "../../wasm/js/src/node.ts";
import { build } from "../../wasm/js/test/module.ts";
import type { Specs } from "../canvas/drawing.ts";

const built = build();
const engine = await createEngine({ wasm: built.wasm, runtime: built.runtime, worker: false });

/** specs are the descriptions by name and alias. */
export const specs: Specs = new Map(
  (await engine.components()).flatMap((spec) => [spec.name, ...(spec.aliases ?? [])].map((name) => [name, spec])),
);

engine.close();
built.remove();
