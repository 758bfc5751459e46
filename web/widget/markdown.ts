// Draws Markdown as elements. Pictures from elsewhere are not loaded, and only links of the web and
// of mail can be followed.

import { parse, type Block, type Inline } from "../run/markdown.ts";
import { make, type Content } from "./elements.ts";

/** Cite draws a citation mark [ID:n]. */
export type Cite = (id: string, text: string) => Content;

/** markdown draws a text. */
export function markdown(text: string, cite: Cite): HTMLElement {
  return make("div", { class: "markdown" }, ...blocks(parse(text), cite));
}

function blocks(all: Block[], cite: Cite): Content[] {
  return all.map((block) => drawn(block, cite));
}

function drawn(block: Block, cite: Cite): Content {
  switch (block.kind) {
    case "paragraph":
      return make("p", {}, ...line(block.content, cite));
    case "heading":
      return make("p", { class: "heading" }, ...line(block.content, cite)); // the page around has headings of its own
    case "code":
      return make("pre", { tabindex: "0" }, make("code", {}, block.text));
    case "rule":
      return make("hr");
    case "quote":
      return make("blockquote", {}, ...blocks(block.blocks, cite));
    case "list": {
      const items = block.items.map((item) => make("li", {}, ...line(item, cite)));
      return block.ordered ? make("ol", {}, ...items) : make("ul", {}, ...items);
    }
    case "table": {
      const row = (cells: Inline[][], kind: "th" | "td"): HTMLElement =>
        make("tr", {}, ...cells.map((cell) => make(kind, {}, ...line(cell, cite))));
      const body = block.rows.map((cells) => row(cells, "td"));
      const table = make("table", {}, make("thead", {}, row(block.head, "th")), make("tbody", {}, ...body));
      return make("div", { class: "scroll", tabindex: "0" }, table);
    }
  }
}

function line(parts: Inline[], cite: Cite): Content[] {
  return parts.map((part) => {
    if (typeof part === "string") return part;
    switch (part.kind) {
      case "code":
        return make("code", {}, part.text);
      case "em":
        return make("em", {}, part.text);
      case "strong":
        return make("strong", {}, ...line(part.content, cite));
      case "link":
        return link(part.label || part.address, part.address);
      case "cite":
        return cite(part.id, part.text);
      case "break":
        return make("br");
    }
  });
}

function link(label: string, address: string): Content {
  if (!/^(https?:\/\/|mailto:)/i.test(address)) return label;
  return make("a", { href: address, target: "_blank", rel: "noreferrer noopener" }, label);
}
