// One turn as elements: the visitor's message, the agent's answer, and its form.

import type { Chunk, Reference } from "@easel/engine";
import type { Answer } from "@easel/engine/state";
import type { Turn } from "./conversation.ts";
import { make, type Content } from "./elements.ts";
import { Drawing, markdown, type Cite } from "./markdown.ts";
import type { Say } from "./words.ts";

/** Drawings holds the drawings of a turn's answers, by answer and part. */
export type Drawings = Map<string, Drawing>;

/** drawTurn draws a turn without its form; it reuses `drawings` of the turn. */
export function drawTurn(turn: Turn, drawings: Drawings, say: Say, again: () => void): HTMLElement {
  const { state, phase, fault } = turn;
  const open = phase === "sending" || phase === "running" || phase === "reconnecting";
  const waiting = open && (phase !== "running" || state.answers.at(-1)?.done !== false);
  const said = asked(turn);
  return make(
    "div",
    { class: "turn" },
    said.length > 0 && make("div", { class: "mine" }, make("span", { class: "sr" }, `${say("you")}: `), ...said),
    ...state.answers.map((answer, i) =>
      drawAnswer(answer, open, (part) => drawingOf(drawings, `${i} ${part}`), say),
    ),
    waiting &&
      make(
        "p",
        { class: "note" },
        make("span", { class: "dots", "aria-hidden": "true" }),
        say(phase === "reconnecting" ? "reconnecting" : "working"),
      ),
    state.status === "canceled" && make("p", { class: "note" }, say("canceled")),
    fault !== undefined &&
      make(
        "p",
        { class: "fault", role: "alert" },
        say(fault),
        " ",
        make("button", { type: "button", click: again }, say("again")),
      ),
  );
}

function asked({ query, inputs, files }: Turn): Content[] {
  const fields = Object.entries(inputs ?? {}).map(([name, field]) => {
    const value = (field as { value?: unknown } | null)?.value;
    const text = Array.isArray(value)
      ? value.map((each: { name?: string }) => each.name ?? "").join(", ")
      : String(value);
    return make("div", {}, make("b", {}, `${name}: `), text);
  });
  return [query || undefined, ...fields, ...files.map(({ name }) => make("span", { class: "chip" }, name))].filter(
    (each) => each !== undefined,
  );
}

function drawingOf(drawings: Drawings, key: string): Drawing {
  const drawing = drawings.get(key) ?? new Drawing();
  drawings.set(key, drawing);
  return drawing;
}

// drawAnswer draws an answer; while the turn is open, more text may follow.
function drawAnswer(answer: Answer, open: boolean, drawing: (part: number) => Drawing, say: Say): HTMLElement {
  const chunks = chunksOf(answer.reference);
  const numbers = new Map([...chunks.keys()].map((id, i) => [id, String(i + 1)]));
  const items = new Map([...chunks].map(([id, chunk]) => [id, source(chunk, numbers.get(id) ?? id)]));
  const sources = make(
    "details",
    { class: "sources" },
    make("summary", {}, `${say("sources")} (${chunks.size})`),
    make("ol", {}, ...items.values()),
  );
  const cite: Cite = (id, text) => {
    const item = items.get(id);
    if (!item) return answer.done ? undefined : text;
    const show = (): void => {
      sources.open = true;
      item.scrollIntoView({ block: "nearest" });
      item.focus();
    };
    const number = numbers.get(id) ?? id;
    return make(
      "button",
      { type: "button", class: "cite", "aria-label": say("source", number), click: show },
      number,
    );
  };
  const thinking = !answer.done && answer.parts.at(-1)?.kind === "think";
  const grows = open && !answer.done && answer.reference === undefined; // citation marks are text until then
  const parts = answer.parts.map(({ kind, text }, i) =>
    kind === "think"
      ? make(
          "details",
          { class: "think", open: thinking },
          make("summary", {}, say(thinking ? "thinking" : "thought")),
          drawing(i).draw(text, cite, grows),
        )
      : text && drawing(i).draw(text, cite, grows),
  );
  return make(
    "div",
    { class: "theirs", "aria-busy": answer.done ? undefined : "true" },
    ...parts.filter((part) => part !== ""),
    chunks.size > 0 && sources,
    ...fileNames(answer, say),
  );
}

function fileNames({ attachment, downloads = [] }: Answer, say: Say): Content[] {
  const made = [...(attachment ? [attachment] : []), ...downloads] as { file_name?: string; filename?: string }[];
  return made.map((file) => make("span", { class: "chip" }, file.file_name ?? file.filename ?? say("file")));
}

function source(chunk: Chunk, number: string): HTMLElement {
  const { document_name: name, url, content } = chunk;
  const title = name || number;
  const linked = typeof url === "string" && /^https?:\/\//i.test(url);
  return make(
    "li",
    { tabindex: "-1", value: number },
    linked ? make("a", { href: url, target: "_blank", rel: "noreferrer noopener" }, title) : make("b", {}, title),
    markdown(content ?? "", () => undefined),
  );
}

function chunksOf(reference: Reference | undefined): Map<string, Chunk> {
  const chunks = reference?.chunks;
  if (!chunks) return new Map();
  return new Map(Array.isArray(chunks) ? chunks.map((chunk, i) => [String(i), chunk]) : Object.entries(chunks));
}
