// The Worker in which scripts run. QuickJS is fetched for the first script.

import { newQuickJSWASMModuleFromVariant, newVariant, type QuickJSWASMModule } from "quickjs-emscripten-core";
import variant from "@jitl/quickjs-wasmfile-release-sync";
import wasm from "@jitl/quickjs-wasmfile-release-sync/wasm";
import { EngineError } from "../errors.ts";
import type { CodeRequest } from "../ports.ts";
import { limits, memoryOf, runScript, spoilt } from "./sandbox.ts";

let quickjs: Promise<QuickJSWASMModule> | undefined;
let memory = 0; // bytes the present one may use

function quickjsWith(bytes: number): Promise<QuickJSWASMModule> {
  if (quickjs && memory === bytes) return quickjs;
  memory = bytes;
  quickjs = newQuickJSWASMModuleFromVariant(
    newVariant(variant, { wasmLocation: new URL(wasm, import.meta.url).href, wasmMemory: memoryOf(bytes) }),
  );
  return quickjs;
}

onmessage = async (event: MessageEvent<CodeRequest>) => {
  try {
    const module = await quickjsWith(event.data.memory ?? limits.memory);
    const answer = await runScript(module, event.data);
    if (spoilt.has(module)) quickjs = undefined;
    postMessage({ ok: true, answer });
  } catch (err) {
    postMessage({ ok: false, failure: EngineError.from(err, "code").failure() });
  }
};
