// Markdown as a tree of values without HTML, for views to draw. marked reads the text. Answers are
// untrusted, so the work of marked is bounded: the depth of nesting, the length of the text that is
// searched for marks at a time, and the cells of a table. Only addresses of the web and of mail
// become links, and pictures become links too: nothing is loaded from elsewhere.

import { Lexer, Tokenizer, type Token, type Tokens, type TokensList } from "marked";

/** deepest bounds the nesting of blocks, and of marks in a line; deeper ones stay text. */
export const deepest = 8;

/** longestRun is the number of characters of a paragraph that are searched for marks together. */
export const longestRun = 2_000;

/** Inline is a part of a line. */
export type Inline =
  | string
  | { kind: "code"; text: string }
  | { kind: "em" | "strong" | "del"; content: Inline[] }
  | { kind: "link"; content: Inline[]; address: string }
  /** A citation mark [ID:n]; text is the whole mark. */
  | { kind: "cite"; id: string; text: string }
  | { kind: "break" };

/** Align is the alignment of a column; undefined leaves it to the style. */
export type Align = "left" | "center" | "right" | undefined;

/** Block is a paragraph or a larger part. */
export type Block =
  | { kind: "paragraph"; content: Inline[] }
  /** A line of a list item, which is not a separate paragraph. */
  | { kind: "line"; content: Inline[] }
  /** Text as it is, with its line breaks. */
  | { kind: "plain"; text: string }
  | { kind: "heading"; level: number; content: Inline[] }
  | { kind: "code"; text: string }
  | { kind: "rule" }
  | { kind: "quote"; blocks: Block[] }
  | { kind: "list"; ordered: boolean; start: number; items: Block[][] }
  | { kind: "table"; align: Align[]; head: Inline[][]; rows: Inline[][][] };

/** parse reads a text. */
export function parse(text: string): Block[] {
  const tokenizer = new BoundedTokenizer();
  return blocksOf(new BoundedLexer({ gfm: true, breaks: true, tokenizer }).lex(text), true);
}

/**
 * BoundedTokenizer leaves HTML and link definitions as text. Lines that only resemble a table, or
 * whose table would mostly consist of cells that marked adds, are one paragraph, so that marked
 * does not search each of them for a table again.
 */
class BoundedTokenizer extends Tokenizer {
  #quotes = 0;

  override html(): undefined {}
  override tag(): undefined {}
  override def(): undefined {}
  override reflink(): undefined {}

  override table(src: string): Tokens.Table | undefined {
    const [raw = "", head = "", , rows = ""] = this.rules.block.table.exec(src) ?? [];
    if (raw === "") return undefined;
    const cells = head.split("|").length * rows.split("\n").length;
    const table = cells > 2 * raw.length ? undefined : super.table(src);
    return table ?? (this.#paragraph(raw) as Token as Tokens.Table); // the lexer takes any token
  }

  // marked calls this from within itself to add lines without a mark to a nested quote.
  override blockquote(src: string): Tokens.Blockquote | undefined {
    if (this.#quotes > deepest) return this.#deepQuote(src);
    this.#quotes++;
    try {
      return super.blockquote(src);
    } finally {
      this.#quotes--;
    }
  }

  #paragraph(raw: string): Tokens.Paragraph {
    const text = raw.trimEnd();
    return { type: "paragraph", raw, text, tokens: this.lexer.inline(text) };
  }

  #deepQuote(src: string): Tokens.Blockquote | undefined {
    const raw = this.rules.block.blockquote.exec(src)?.[0].trimEnd();
    return raw ? { type: "blockquote", raw, text: raw, tokens: [{ type: "text", raw, text: raw }] } : undefined;
  }
}

class BoundedLexer extends Lexer {
  #blocks = 0;
  #marks = 0;

  override blockTokens(src: string, tokens?: Token[], clipped?: boolean): Token[];
  override blockTokens(src: string, tokens?: TokensList, clipped?: boolean): TokensList;
  override blockTokens(src: string, tokens: Token[] = [], clipped?: boolean): Token[] {
    if (this.#blocks > deepest) {
      tokens.push({ type: "text", raw: src, text: src } satisfies Tokens.Text);
      this.state.top = true; // as after all blocks
      return tokens;
    }
    this.#blocks++;
    try {
      return super.blockTokens(src, tokens, clipped);
    } finally {
      this.#blocks--;
    }
  }

  override inlineTokens(src: string, tokens: Token[] = []): Token[] {
    if (this.#marks > deepest) {
      tokens.push({ type: "text", raw: src, text: src } satisfies Tokens.Text);
      return tokens;
    }
    this.#marks++;
    try {
      for (const part of runs(src)) super.inlineTokens(part, tokens);
      return tokens;
    } finally {
      this.#marks--;
    }
  }
}

/** runs cuts a long text at the ends of lines, else between words. */
function* runs(text: string): Generator<string> {
  let from = 0;
  while (text.length - from > longestRun) {
    const part = text.slice(from, from + longestRun);
    const cut = [part.lastIndexOf("\n"), part.lastIndexOf(" ")].find((at) => at > 0) ?? longestRun;
    yield part.slice(0, cut);
    from += cut;
  }
  yield text.slice(from);
}

// blocksOf turns tokens into blocks; lines of list items are paragraphs if the list is loose.
function blocksOf(tokens: Token[], loose: boolean): Block[] {
  return tokens.flatMap((token) => blockOf(token as Tokens.Generic, loose) ?? []);
}

function blockOf(token: Tokens.Generic, loose: boolean): Block | undefined {
  switch (token.type) {
    case "space":
      return undefined;
    case "heading":
      return { kind: "heading", level: (token as Tokens.Heading).depth, content: inline(token.tokens) };
    case "code":
      return { kind: "code", text: (token as Tokens.Code).text };
    case "hr":
      return { kind: "rule" };
    case "blockquote":
      return { kind: "quote", blocks: blocksOf(token.tokens ?? [], true) };
    case "list":
      return listOf(token as Tokens.List);
    case "table":
      return tableOf(token as Tokens.Table);
    case "paragraph":
      return { kind: "paragraph", content: inline(token.tokens) };
    default: // a text or a box to tick, in an item of a list
      return { kind: loose ? "paragraph" : "line", content: inlineOf(token) };
  }
}

function listOf({ ordered, start, items, loose }: Tokens.List): Block {
  return {
    kind: "list",
    ordered,
    start: start === "" ? 1 : start,
    items: items.map((item) => blocksOf(item.tokens, loose || item.loose)),
  };
}

function tableOf({ align, header, rows }: Tokens.Table): Block {
  const cells = (row: Tokens.TableCell[]): Inline[][] => row.map((cell) => inline(cell.tokens));
  return { kind: "table", align: align.map((each) => each ?? undefined), head: cells(header), rows: rows.map(cells) };
}

function inline(tokens: Token[] = []): Inline[] {
  return tokens.flatMap((token) => inlineOf(token as Tokens.Generic));
}

function inlineOf(token: Tokens.Generic): Inline[] {
  switch (token.type) {
    case "strong":
    case "em":
    case "del":
      return [{ kind: token.type, content: inline(token.tokens) }];
    case "codespan":
      return [{ kind: "code", text: (token as Tokens.Codespan).text }];
    case "br":
      return [{ kind: "break" }];
    case "escape":
      return [(token as Tokens.Escape).text];
    case "checkbox":
      return [(token as Tokens.Checkbox).checked ? "☑ " : "☐ "];
    case "link":
    case "image":
      return linkOf(token as Tokens.Link | Tokens.Image);
    default:
      return token.tokens ? inline(token.tokens) : textOf(String(token["text"] ?? token.raw));
  }
}

// linkOf returns a link that may be followed, else only its words.
function linkOf(token: Tokens.Link | Tokens.Image): Inline[] {
  const literal = token.type === "link" && token.autolink === true;
  const address = literal ? token.href : decoded(token.href);
  const words = inline(token.tokens);
  const content = words.length > 0 ? words : [address];
  return /^(https?:\/\/|mailto:)/i.test(address) ? [{ kind: "link", content, address }] : content;
}

// textOf separates the citation marks of a text.
function textOf(text: string): Inline[] {
  return decoded(text)
    .split(/(\[ID:[\d\s]+\])/)
    .filter((part) => part !== "")
    .map((part) => (part.startsWith("[ID:") && part.endsWith("]") ? citeOf(part) : part));
}

function citeOf(text: string): Inline {
  return { kind: "cite", id: text.slice("[ID:".length, -1).trim(), text };
}

const names: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };

// decoded replaces the character references that models write: by number, and the usual names.
function decoded(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos|nbsp));/gi, (all, decimal, hex, name) => {
    if (name !== undefined) return names[String(name).toLowerCase()] ?? all;
    const code = decimal === undefined ? parseInt(hex as string, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : "\ufffd";
  });
}
