// A pipeline running on one document in the page: the output of each node, and the position of a
// piece in the source.

import type { RunState, Step } from "@easel/engine/state";
import type { CanvasModel, CanvasNode, Specs } from "../canvas/drawing.ts";
import { isObject } from "../canvas/dsl.ts";

/** Piece is a block or a chunk of a node's output. */
export interface Piece {
  text: string;
  /** Its type, such as table or title; "" is plain text. */
  kind: string;
  /** Keywords, questions, a summary and other members that a node added. */
  extra: [name: string, value: unknown][];
}

/** Payload is the data that one node passes to the next. */
export interface Payload {
  /** chunks and json are lists, the others one text. */
  format: string;
  pieces: Piece[];
}

/** isPipeline reports whether a canvas starts with a document. */
export function isPipeline(model: CanvasModel | undefined, specs: Specs): boolean {
  return (
    model?.nodes.some(({ kind }) => {
      const spec = specs.get(kind);
      return spec?.role === "start" && spec.pipeline === true;
    }) ?? false
  );
}

/**
 * stations returns the nodes of a pipeline in the order in which they ran, then those that did not.
 */
export function stations(model: CanvasModel, state: RunState): { node: CanvasNode; step: Step | undefined }[] {
  const ran = [...new Set(state.steps.map(({ node }) => node))];
  const nodes = model.nodes.filter(({ role }) => role === "node");
  const rank = ({ id }: CanvasNode): number => {
    const at = ran.indexOf(id);
    return at < 0 ? ran.length : at;
  };
  return [...nodes].sort((a, b) => rank(a) - rank(b)).map((node) => ({ node, step: state.latest[node.id] }));
}

const plain = new Set([
  "text",
  "content_with_weight",
  "doc_type_kwd",
  "layout_type",
  "positions",
  "position_int",
  "page_num_int",
  "top_int",
  "mom",
  "img_id",
  "chunk_order_int",
  "available_int",
]);

/** payloadOf reads the outputs of a node; undefined if they contain no document. */
export function payloadOf(step: Step | undefined): Payload | undefined {
  const outputs = step?.outputs;
  const format = String(outputs?.["output_format"] ?? "");
  const given = outputs?.[format];
  if (Array.isArray(given)) return { format, pieces: given.filter(isObject).map(pieceOf) };
  return typeof given === "string" ? { format, pieces: [{ text: given, kind: "", extra: [] }] } : undefined;
}

function pieceOf(value: Record<string, unknown>): Piece {
  const kind = String(value["doc_type_kwd"] ?? "");
  const layout = String(value["layout_type"] ?? "");
  const named = kind && kind !== "text" ? kind : layout;
  const extra = Object.entries(value).filter(
    ([name, each]) => !plain.has(name) && !/^q_\d+_vec$/.test(name) && each !== "" && each !== null,
  );
  return {
    text: String(value["text"] ?? value["content_with_weight"] ?? ""),
    kind: named === "paragraph" ? "" : named,
    extra,
  };
}

/** placeOf finds a piece in the source, whatever marks and blanks differ; undefined if it fails. */
export function placeOf(source: string, piece: string): { from: number; to: number } | undefined {
  const words = piece.replace(/<[^>]*>/g, " ").match(/[\p{L}\p{N}]+/gu);
  if (!words) return undefined;
  const pattern = (list: string[]): RegExp => new RegExp(list.join("[^\\p{L}\\p{N}]+"), "u");
  const first = pattern(words.slice(0, most)).exec(source);
  if (!first) return undefined;
  if (words.length <= most) return { from: first.index, to: first.index + first[0].length };
  const rest = source.slice(first.index, first.index + piece.length * 2 + slack);
  const last = pattern(words.slice(-most)).exec(rest);
  return { from: first.index, to: first.index + (last ? last.index + last[0].length : first[0].length) };
}

const most = 12; // words of the beginning and of the end that are looked for
const slack = 200; // characters that the source may have more
