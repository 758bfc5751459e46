// Reads the answers of servers with OpenAI's API, which differ in most details.

import { EngineError } from "../errors.ts";
import type { ModelPiece } from "./model.ts";

type Members = Record<string, unknown>;

const isObject = (v: unknown): v is Members => typeof v === "object" && v !== null && !Array.isArray(v);
const list = (v: unknown): unknown[] => (Array.isArray(v) ? v : []);
const text = (v: unknown): string => (typeof v === "string" ? v : typeof v === "number" ? String(v) : "");
const first = (v: unknown): Members => {
  const one = list(v)[0];
  return isObject(one) ? one : {};
};

/** reasonOf returns the reason in an error response: JSON in any form, or its first line. */
export function reasonOf(body: string): string {
  try {
    return reason(JSON.parse(body)) || body;
  } catch {
    const title = /<title[^>]*>([^<]*)/i.exec(body)?.[1];
    return title ?? body.replace(/<[^>]*>/g, "\n").trim().split("\n", 1)[0] ?? "";
  }
}

function reason(v: unknown, depth = 0): string {
  if (typeof v === "string") return v;
  if (depth > 4) return "";
  if (Array.isArray(v)) return v.map((one) => reason(one, depth + 1)).filter(Boolean).join("; ");
  if (!isObject(v)) return "";
  const where = list(v.loc).map(String).join(" ");
  for (const name of ["error", "errors", "message", "detail", "msg", "error_msg", "title"]) {
    const found = reason(v[name], depth + 1);
    if (found) return where ? `${where} ${found}` : found;
  }
  return "";
}

/** Names of members with reasoning; the first that is set counts. */
const reasoningMembers = [
  "reasoning_content", "reasoning", "reasoning_text", "thinking", "thought", "thinking_blocks", "reasoning_details",
];

/** Members of a message that are not attached by the server. */
const plainMembers = new Set([
  "role", "content", "tool_calls", "function_call", "refusal", "annotations", "audio", "name", "index",
]);

function reasoningOf(v: unknown): string {
  if (typeof v === "string") return v;
  if (Array.isArray(v)) return v.map(reasoningOf).join("");
  if (!isObject(v)) return "";
  for (const name of ["thinking", "reasoning", "text", "content", "summary"]) {
    const found = reasoningOf(v[name]);
    if (found) return found;
  }
  return "";
}

/** contentOf returns the text and the reasoning of a content: text, null, or parts. */
function contentOf(v: unknown): { text: string; reasoning: string } {
  if (Array.isArray(v)) {
    const parts = v.map(contentOf);
    return { text: parts.map((p) => p.text).join(""), reasoning: parts.map((p) => p.reasoning).join("") };
  }
  if (!isObject(v)) return { text: text(v), reasoning: "" };
  if (/think|reason/.test(text(v.type))) return { text: "", reasoning: reasoningOf(v) };
  return contentOf(v.text ?? v.refusal ?? v.content ?? null);
}

interface OpenCall {
  index: number | undefined;
  id: string;
  name: string;
  arguments: string;
  extra: Members;
}

const isWhole = (json: string): boolean => {
  try {
    return isObject(JSON.parse(json));
  } catch {
    return false;
  }
};

/** Calls assembles function calls, whose parts have a number, an id, both or neither. */
class Calls {
  readonly open: OpenCall[] = [];

  add(parts: unknown, whole: boolean): void {
    const all = (isObject(parts) ? [parts] : list(parts)).filter(isObject);
    all.forEach((part, place) => { this.#part(part, place, whole); });
  }

  #part(part: Members, place: number, whole: boolean): void {
    const f = isObject(part.function) ? part.function : {};
    const args = isObject(f.arguments) ? JSON.stringify(f.arguments) : text(f.arguments);
    const index = whole || part.index === undefined || part.index === null ? undefined : Number(part.index);
    const name = text(f.name);
    const id = text(part.id);
    let call = this.#find(index, id, name, place);
    if (call && !whole && name === "" && args !== "" && args === call.arguments && isWhole(args)) return;
    if (whole || !call || begins(call, id, name, args, index)) {
      call = { index, id: "", name: name === "" ? (call?.name ?? "") : "", arguments: "", extra: {} };
      this.open.push(call);
    }
    call.id ||= id;
    const open = call.name === "" || call.arguments === "" || !isWhole(call.arguments);
    if (name !== call.name && open) call.name += name;
    call.arguments += args;
    const { index: _, id: __, type: ___, function: ____, ...extra } = part;
    Object.assign(call.extra, extra);
  }

  #find(index: number | undefined, id: string, name: string, place: number): OpenCall | undefined {
    if (index !== undefined) return this.open.findLast((call) => call.index === index);
    const known = this.open.find((call) => id !== "" && call.id === id);
    return known ?? (place > 0 && name !== "" ? undefined : this.open.at(-1));
  }

  *complete(message: Members): Generator<ModelPiece> {
    const calls = this.open.filter((call) => call.name !== "");
    if (calls.length === 0) return;
    const piece: ModelPiece = {
      tool_calls: calls.map(({ id, name, arguments: args }) => ({ id, name, arguments: args })),
    };
    if (Object.keys(message).length > 0 || calls.some((call) => Object.keys(call.extra).length > 0)) {
      piece.opaque = { message, calls: calls.map((call) => call.extra) };
    }
    yield piece;
  }
}

/** begins reports whether a part begins another call than the one at its number or place. */
function begins(call: OpenCall, id: string, name: string, args: string, index: number | undefined): boolean {
  const newID = id !== "" && call.id !== "" && id !== call.id;
  if (isWhole(call.arguments)) {
    return args.trimStart().startsWith("{") || (name !== "" && (newID || name !== call.name));
  }
  if (call.arguments !== "") return false;
  if (newID && name !== "") return name !== call.name || args === "" || isWhole(args);
  return id === "" && name !== "" && call.name !== "" && name !== call.name && index === undefined;
}

/** Answer reads the documents of one answer, streamed or whole. */
export class Answer {
  /** The finish reason or the end mark was read. */
  finished = false;
  readonly #calls = new Calls();
  readonly #attached: Members = {};
  #words = "";
  #said = false;

  *take(data: string): Generator<ModelPiece> {
    let parsed: unknown;
    try {
      parsed = JSON.parse(data);
    } catch {
      this.#words ||= data.slice(0, 80);
      return;
    }
    for (const one of Array.isArray(parsed) ? parsed : [parsed]) if (isObject(one)) yield* this.#document(one);
  }

  *#document(v: Members): Generator<ModelPiece> {
    const choice = first(v.choices);
    const whole = !isObject(choice.delta);
    const message = isObject(choice.delta) ? choice.delta : isObject(choice.message) ? choice.message : {};
    const content = contentOf(message.content);
    const piece: ModelPiece = {};
    const thoughts = reasoningMembers.map((name) => reasoningOf(message[name])).find(Boolean) ?? content.reasoning;
    if (thoughts) piece.reasoning = thoughts;
    const said = content.text + text(message.refusal) || (message === choice.delta ? "" : text(choice.text));
    if (said) piece.text = said;
    if (choice.finish_reason !== undefined && choice.finish_reason !== null && choice.finish_reason !== "") {
      piece.finish = String(choice.finish_reason as string);
      this.finished = true;
    }
    if (isObject(v.usage)) piece.usage = v.usage as unknown as NonNullable<ModelPiece["usage"]>;
    this.#calls.add(message.tool_calls, whole);
    this.#attach(message);
    if (Object.keys(piece).length > 0) {
      this.#said = true;
      yield piece;
    }
    const failed = [v.error, choice.error].find((e) => isObject(e) || (typeof e === "string" && e !== ""));
    const bare = list(v.choices).length === 0 && !isObject(v.usage) && reason(v);
    if (failed || v.object === "error" || bare || choice.finish_reason === "error") {
      throw new EngineError("provider", reason(failed ?? v) || "the model server reported an error");
    }
  }

  #attach(message: Members): void {
    for (const [name, v] of Object.entries(message)) {
      if (plainMembers.has(name) || v === null || v === "") continue;
      const before = this.#attached[name];
      if (typeof v === "string" && typeof before === "string") this.#attached[name] = before + v;
      else if (Array.isArray(before)) this.#attached[name] = [...(before as unknown[]), ...list(v)];
      else this.#attached[name] = v;
    }
  }

  *end(): Generator<ModelPiece> {
    if (this.#words !== "" && !this.finished) {
      throw new EngineError("provider", "the model server sent a line that is not JSON: " + this.#words);
    }
    if (!this.#said && !this.finished && this.#calls.open.length === 0) {
      throw new EngineError("provider", "the model server sent no message");
    }
    yield* this.#calls.complete(this.#attached);
  }
}
