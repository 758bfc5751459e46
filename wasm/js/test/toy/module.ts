// A toy engine: the same six entry points as the WebAssembly module, a few hundred lines of
// TypeScript behind them. With it the host and the page are tested without the module. It
// implements the minimum of each component; only the Go engine defines what a canvas really does.

import type { Diagnostic } from "../../src/generated.ts";
import { decode, type Host, type Module, type Request, type Start } from "../../src/protocol.ts";
import { ToyRun } from "./run.ts";
import { specs } from "./specs.ts";
import { references, type ToyCanvas } from "./values.ts";

/** ToyOptions change how the toy behaves. */
export interface ToyOptions {
  abi?: number;
  /** Milliseconds per node and, a quarter of it, per word. */
  pace?: number;
}

/** toy starts a toy engine. */
export function toy(host: Host, options: ToyOptions = {}): Module {
  const canvases = new Map<number, ToyCanvas>();
  const runs = new Map<number, ToyRun>();
  const calls = new Map<number, ToyRun>();
  let handles = 0;
  let callIds = 0;

  const answer = (request: Request, body: string): unknown => {
    switch (request.op) {
      case "info":
        return { abi: options.abi ?? 1, version: "toy" };
      case "load":
        canvases.set(++handles, open(body));
        return { canvas: handles };
      case "patch": {
        const node = find(canvases, request.canvas).components[request.node];
        if (!node) throw failure("bad_request", `no node ${request.node}`);
        Object.assign(node.obj.params, request.params);
        return {};
      }
      case "save":
        return find(canvases, request.canvas);
      case "reset":
        Object.assign(find(canvases, request.canvas), { history: [], path: [], waiting: undefined });
        return {};
      case "validate":
        return validate(body);
      case "components":
        return specs;
      case "layout":
        return layout(open(body));
    }
  };

  return {
    load(request, message) {
      try {
        const { header, body } = decode<Request>(message);
        const text = JSON.stringify(answer(header, body));
        queueMicrotask(() => host.done(request, true, text));
      } catch (err) {
        const text = JSON.stringify(
          (err as { failure?: unknown }).failure ?? { code: "bad_canvas", message: String((err as Error).message) },
        );
        queueMicrotask(() => host.done(request, false, text));
      }
    },
    start(id, message) {
      const { header } = decode<Start>(message);
      const run = new ToyRun(id, find(canvases, header.canvas), header, options.pace ?? 0, {
        emit: (text) => host.emit(id, text),
        call: (text, given) => {
          const call = given ?? ++callIds;
          calls.set(call, run);
          host.call(id, call, text);
          return call;
        },
        done: (text) => { runs.delete(id); host.done(id, true, text); },
      });
      runs.set(id, run);
      queueMicrotask(() => void run.go());
    },
    deliver(call, ok, more, message) {
      calls.get(call)?.deliver(call, ok, more, JSON.parse(message));
      if (!more) calls.delete(call);
    },
    cancel(id) { runs.get(id)?.cancel(); },
    close(handle) { canvases.delete(handle); },
  };
}

function failure(code: string, message: string): Error & { failure: unknown } {
  return Object.assign(new Error(message), { failure: { code, message } });
}

function find(canvases: Map<number, ToyCanvas>, handle: number): ToyCanvas {
  const canvas = canvases.get(handle);
  if (!canvas) throw failure("bad_request", `no canvas ${handle}`);
  return canvas;
}

function open(body: string): ToyCanvas {
  const parsed = JSON.parse(body) as { dsl?: ToyCanvas } & ToyCanvas;
  const canvas = parsed.dsl ?? parsed;
  if (!canvas.components?.["begin"] && !canvas.components?.["File"])
    throw failure("bad_canvas", "the canvas has no node begin");
  return canvas;
}

function validate(body: string): Diagnostic[] {
  let canvas: ToyCanvas;
  try {
    canvas = open(body);
  } catch (err) {
    return [{ severity: "error", code: "bad_canvas", message: String((err as Error).message) }];
  }
  const problems: Diagnostic[] = [];
  const known = new Set(specs.map((spec) => spec.name));
  for (const [node, { obj, downstream }] of Object.entries(canvas.components)) {
    if (!known.has(obj.component_name)) {
      problems.push({
        severity: "warning",
        code: "unknown_component",
        message: `this engine has no component ${obj.component_name}`,
        node,
      });
    }
    for (const target of downstream ?? []) {
      if (!canvas.components[target])
        problems.push({
          severity: "error",
          code: "unknown_target",
          message: `leads to ${target}, which does not exist`,
          node,
        });
    }
    for (const ref of references(obj.params)) {
      const source = ref.split("@")[0] as string;
      if (ref.includes("@") && !canvas.components[source]) {
        const message = `{${ref}}: there is no node ${source}`;
        problems.push({ severity: "error", code: "bad_reference", message, node });
      }
    }
  }
  return problems;
}

function layout(canvas: ToyCanvas): unknown {
  const nodes: Record<string, { x: number; y: number }> = {};
  Object.keys(canvas.components).forEach((id, i) => { nodes[id] = { x: (i % 5) * 280, y: Math.floor(i / 5) * 160 }; });
  return { nodes };
}
