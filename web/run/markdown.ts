// A small part of Markdown as a tree of values, for views to draw. Answers are untrusted text:
// parsing takes time linear in the length of the text, and the tree has a bounded depth.

/**
 * deepestQuote is the largest nesting of quotes; markers of deeper ones are left out.
 */
export const deepestQuote = 8;

/** Inline is a part of a line. */
export type Inline =
  | string
  | { kind: "code" | "em"; text: string }
  | { kind: "strong"; content: Inline[] }
  | { kind: "link"; label: string; address: string }
  /** A citation mark [ID:n]; text is the whole mark. */
  | { kind: "cite"; id: string; text: string }
  | { kind: "break" };

/** Block is a paragraph or a larger part. */
export type Block =
  | { kind: "paragraph"; content: Inline[] }
  | { kind: "heading"; level: number; content: Inline[] }
  | { kind: "code"; text: string }
  | { kind: "rule" }
  | { kind: "quote"; blocks: Block[] }
  | { kind: "list"; ordered: boolean; items: Inline[][] }
  | { kind: "table"; head: Inline[][]; rows: Inline[][][] };

/** parse reads a text. */
export function parse(text: string): Block[] {
  return blocks(text.replaceAll("\r\n", "\n").split("\n"), 0);
}

function blocks(lines: string[], depth: number): Block[] {
  const out: Block[] = [];
  for (let at = 0; at < lines.length;) {
    const line = lines[at] as string;
    const take = (fits: (line: string) => boolean): string[] => {
      const from = at;
      while (at < lines.length && fits(lines[at] as string)) at++;
      return lines.slice(from, at);
    };
    const text = line.trim();
    if (text === "") at++;
    else if (isFence(line)) {
      at++;
      out.push({ kind: "code", text: take((each) => !isFence(each)).join("\n") });
      at++;
    } else if (isHeading(line)) {
      at++;
      const level = line.search(/[^#]/);
      out.push({ kind: "heading", level, content: inline(line.slice(level).trim()) });
    } else if (isRule(text)) {
      at++;
      out.push({ kind: "rule" });
    } else if (isQuote(line)) {
      const inner = take(isQuote).map(depth < deepestQuote ? unquoted : unquotedFully);
      out.push({ kind: "quote", blocks: blocks(inner, depth + 1) });
    } else if (isItem(line)) {
      const items = itemsOf(take((each) => isItem(each) || /^\s{2,}\S/.test(each)));
      out.push({ kind: "list", ordered: /^\d/.test(text), items: items.map(inline) });
    } else if (line.includes("|") && isDelimiter(lines[at + 1])) {
      out.push(table(take((each) => each.includes("|"))));
    } else {
      at++; // this line in any case
      const rest = take((each) => each.trim() !== "" && !starts(each));
      out.push({ kind: "paragraph", content: inline([line, ...rest].join("\n")) });
    }
  }
  return out;
}

const isFence = (line: string): boolean => line.trimStart().startsWith("```");
const isHeading = (line: string): boolean => /^#{1,6}\s/.test(line);
const isQuote = (line: string): boolean => line.trimStart().startsWith(">");
const isItem = (line: string): boolean => /^(?:[-*+]|\d{1,9}[.)])\s/.test(line.trim());
const isDelimiter = (line = ""): boolean => /^\|?\s*:?-/.test(line.trim());
const starts = (line: string): boolean => isItem(line) || isHeading(line) || isFence(line) || isQuote(line);

function isRule(text: string): boolean {
  const [first = ""] = text;
  if (!"-*_".includes(first)) return false;
  const marks = text.replace(/\s+/g, "");
  return marks.length >= 3 && marks === first.repeat(marks.length);
}

const unquoted = (line: string): string => line.trimStart().slice(1).replace(/^\s/, "");
const unquotedFully = (line: string): string => line.slice(line.search(/[^\s>]|$/));

function itemsOf(lines: string[]): string[] {
  const items: string[][] = [];
  for (const line of lines) {
    const text = line.trim();
    if (isItem(line)) items.push([text.slice(text.search(/\s/)).trim()]);
    else items.at(-1)?.push(text);
  }
  return items.map((parts) => parts.join("\n"));
}

function table([first = "", , ...rest]: string[]): Block {
  const cells = (row: string): Inline[][] => {
    const parts = row.trim().replace(/^\|/, "").replace(/\|$/, "").split("|");
    return parts.map((cell) => inline(cell.trim()));
  };
  const head = cells(first);
  return { kind: "table", head, rows: rest.map((row) => cells(row).slice(0, head.length)) };
}

// inline reads from left to right. Where a mark has no end, that is remembered, so that no part of
// the text is searched for every mark before it.
function inline(text: string): Inline[] {
  const out: Inline[] = [];
  const special = /[`*_[!\n]/g;
  const lacking: Lacking = { code: false, strong: false, address: 0 };
  let from = 0;
  for (let match = special.exec(text); match; match = special.exec(text)) {
    const at = match.index;
    const found = readers[match[0]]?.(text, at, lacking);
    if (found?.part) {
      const start = at + (found.skip ?? 0);
      if (start > from) out.push(text.slice(from, start));
      out.push(found.part);
      from = found.end;
    }
    special.lastIndex = Math.max(found?.end ?? 0, at + 1);
  }
  if (from < text.length) out.push(text.slice(from));
  return out;
}

/** Lacking is the marks that are known not to follow any more. */
interface Lacking {
  code: boolean;
  strong: boolean;
  /** No address that begins before this place has an end. */
  address: number;
}

/** Found is the result at a mark: a part, or plain text only. */
interface Found {
  part?: Inline;
  /** Characters of plain text before the part. */
  skip?: number;
  /** The place behind it. */
  end: number;
}

type Read = (text: string, at: number, lacking: Lacking) => Found | undefined;

const readers: Record<string, Read> = {
  "`": code, "*": star, _: em, "[": bracket, "!": picture, "\n": lineBreak,
};

function lineBreak(_text: string, at: number): Found {
  return { part: { kind: "break" }, end: at + 1 };
}

function code(text: string, at: number, lacking: Lacking): Found | undefined {
  const end = lacking.code ? -1 : text.indexOf("`", at + 1);
  if (end < 0) lacking.code = true;
  return end > at + 1 ? { part: { kind: "code", text: text.slice(at + 1, end) }, end: end + 1 } : undefined;
}

function star(text: string, at: number, lacking: Lacking): Found | undefined {
  let from = at;
  while (text[from] === "*") from++;
  if (from - at < 2) return em(text, at);
  const end = lacking.strong ? -1 : text.indexOf("**", from);
  if (end < 0) {
    lacking.strong = true;
    return { end: from };
  }
  return { part: { kind: "strong", content: inline(text.slice(from, end)) }, skip: from - at - 2, end: end + 2 };
}

function em(text: string, at: number): Found | undefined {
  if (at > 0 && /[\w*]/.test(text[at - 1] as string)) return undefined;
  const end = next(/[*_\n]/g, text, at + 1);
  if (end === at + 1 || text[end] !== text[at] || /[\w*]/.test(text[end + 1] ?? "")) return undefined;
  return { part: { kind: "em", text: text.slice(at + 1, end) }, end: end + 1 };
}

function picture(text: string, at: number, lacking: Lacking): Found | undefined {
  return text[at + 1] === "[" ? link(text, at + 1, lacking) : undefined;
}

function bracket(text: string, at: number, lacking: Lacking): Found | undefined {
  const end = next(/[\][\n]/g, text, at + 1);
  const mark = text[end] === "]" ? /^ID:([\d\s]+)$/.exec(text.slice(at + 1, end)) : null;
  if (mark)
    return { part: { kind: "cite", id: (mark[1] as string).trim(), text: text.slice(at, end + 1) }, end: end + 1 };
  return link(text, at, lacking);
}

function link(text: string, at: number, lacking: Lacking): Found | undefined {
  const label = next(/[\][\n]/g, text, at + 1);
  if (text[label] !== "]" || text[label + 1] !== "(") return undefined;
  const from = label + 2;
  if (from < lacking.address) return undefined;
  let end = next(/[\s)]/g, text, from);
  if (text[end] !== ")") {
    lacking.address = end;
    return undefined;
  }
  if (end === from) return undefined;
  if (text[end + 1] === ")" && text.slice(from, end).includes("(")) end++; // an address such as x_(y)
  return { part: { kind: "link", label: text.slice(at + 1, label), address: text.slice(from, end) }, end: end + 1 };
}

// next returns the first place from `at` on that a pattern matches, or the end of the text.
function next(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.exec(text)?.index ?? text.length;
}
