// Draws Markdown as elements.

import { Growing } from "../run/growing.ts";
import type { Align, Block, Inline } from "../run/markdown.ts";
import { make, type Content } from "./elements.ts";

/** Cite draws a citation mark [ID:n]. */
export type Cite = (id: string, text: string) => Content;

/** markdown draws a text. */
export function markdown(text: string, cite: Cite): HTMLElement {
  return new Drawing().draw(text, cite);
}

/** Drawing draws a growing text, and reuses the elements of its unchanged blocks. */
export class Drawing {
  readonly #growing = new Growing();
  #sections: { blocks: Block[]; nodes: Content[] }[] = [];

  /** draw returns the text as it is now. With `open` more may follow, and `cite` stays the same. */
  draw(text: string, cite: Cite, open = false): HTMLElement {
    const known = open ? this.#sections : [];
    this.#sections = this.#growing.read(text, open).map((blocks, i) => {
      const before = known[i];
      return before?.blocks === blocks ? before : { blocks, nodes: drawn(blocks, cite) };
    });
    return make("div", { class: "markdown" }, this.#sections.flatMap(({ nodes }) => nodes));
  }
}

function drawn(all: Block[], cite: Cite): Content[] {
  return all.flatMap((block) => (block.kind === "line" ? line(block.content, cite) : [element(block, cite)]));
}

function element(block: Exclude<Block, { kind: "line" }>, cite: Cite): HTMLElement {
  switch (block.kind) {
    case "paragraph":
      return make("p", {}, line(block.content, cite));
    case "plain":
      return make("p", { class: "plain" }, block.text);
    case "heading":
      // Not an h1 to h6: the embedding page has headings.
      return make("p", { class: "heading" }, line(block.content, cite));
    case "code":
      return make("pre", { tabindex: "0" }, make("code", {}, block.text));
    case "rule":
      return make("hr");
    case "quote":
      return make("blockquote", {}, drawn(block.blocks, cite));
    case "list": {
      const items = block.items.map((item) => make("li", {}, drawn(item, cite)));
      return block.ordered ? make("ol", { start: String(block.start) }, items) : make("ul", {}, items);
    }
    case "table":
      return table(block, cite);
  }
}

function table({ align, head, rows }: Block & { kind: "table" }, cite: Cite): HTMLElement {
  const cell = (kind: "th" | "td", content: Inline[], side: Align): HTMLElement =>
    make(kind, { "data-align": side }, line(content, cite));
  const row = (cells: Inline[][], kind: "th" | "td"): HTMLElement =>
    make("tr", {}, cells.map((each, i) => cell(kind, each, align[i])));
  const body = rows.map((cells) => row(cells, "td"));
  const drawing = make("table", {}, make("thead", {}, row(head, "th")), make("tbody", {}, body));
  return make("div", { class: "scroll", tabindex: "0" }, drawing);
}

function line(parts: Inline[], cite: Cite): Content[] {
  return parts.map((part) => {
    if (typeof part === "string") return part;
    switch (part.kind) {
      case "code":
        return make("code", {}, part.text);
      case "em":
      case "strong":
      case "del":
        return make(part.kind, {}, line(part.content, cite));
      case "link": {
        const link = { href: part.address, target: "_blank", rel: "noreferrer noopener" };
        return make("a", link, line(part.content, cite));
      }
      case "cite":
        return cite(part.id, part.text);
      case "break":
        return make("br");
    }
  });
}
