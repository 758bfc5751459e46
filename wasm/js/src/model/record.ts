// Records the answers of a model and replays them later, so that a run can be
// repeated without the model. The key is the whole request, not its position.

import { EngineError } from "../errors.ts";
import type { Model, ModelPiece, ModelRequest } from "./model.ts";

/** Cassette contains recorded answers; it is plain JSON. */
export interface Cassette {
  version: 1;
  /** Abilities of the recorded model, which determine the protocol of agents. */
  can?: Model["can"];
  takes: { key: string; pieces: ModelPiece[] }[];
}

/** record wraps a model and writes its complete answers to the cassette. */
export function record(model: Model, cassette: Cassette): Model {
  const { can } = model;
  if (can) cassette.can = can;
  return {
    can,
    async *chat(request, context) {
      const pieces: ModelPiece[] = [];
      for await (const piece of await model.chat(request, context)) {
        pieces.push(piece);
        yield piece;
      }
      if (!context.signal.aborted) cassette.takes.push({ key: keyOf(request), pieces });
    },
  };
}

/**
 * replay answers from a cassette. Equal requests get their recorded answers in order, and the
 * last one from then on; an unknown request is passed to `otherwise` or fails.
 */
export function replay(cassette: Cassette, otherwise?: Model): Model {
  const used = new Map<string, number>();
  return {
    can: cassette.can ?? otherwise?.can,
    async *chat(request, context) {
      const key = keyOf(request);
      const takes = cassette.takes.filter((take) => take.key === key);
      const at = used.get(key) ?? 0;
      const take = takes[Math.min(at, takes.length - 1)];
      if (!take) {
        if (!otherwise)
          throw new EngineError(
            "provider",
            `nothing recorded for this request to ${request.model || "the default model"}`,
          );
        yield* await otherwise.chat(request, context);
        return;
      }
      used.set(key, at + 1);
      for (const piece of take.pieces) {
        if (context.signal.aborted) return;
        yield piece;
      }
    },
  };
}

/** blank returns an empty cassette. */
export function blank(): Cassette {
  return { version: 1, takes: [] };
}

function keyOf(request: ModelRequest): string {
  const { model, mode, messages, options, tools } = request;
  return JSON.stringify({ model, mode, messages, options: options ?? {}, tools: tools ?? [] });
}
