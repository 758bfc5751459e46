// The guides that the page contains: their sections, and a search in them.

/** Guide is a document as the bundler writes it. */
export interface Guide {
  id: string;
  group: "use" | "call" | "operate" | "plugins";
  title: string;
  text: string;
}

/** Part is a section of a guide: a heading with the text up to the next one. */
export interface Part {
  /** Anchor of the heading; "" above the first one. */
  anchor: string;
  heading: string;
  level: number;
  text: string;
}

/** Hit is a section that has all words of a search. */
export interface Hit {
  guide: Guide;
  part: Part;
  /** The text around the first word. */
  snippet: string;
}

// prose matches lines that begin neither a list, a table, a quote nor code.
const prose = /^(?!```)[^\s|#>*+-](?!\. )/;

/** partsOf divides a guide at its headings; those in blocks of code do not count. */
export function partsOf({ text }: Guide): Part[] {
  const parts: Part[] = [{ anchor: "", heading: "", level: 1, text: "" }];
  const taken = new Map<string, number>();
  let code = false;
  for (const line of text.split("\n")) {
    if (line.startsWith("```")) code = !code;
    const [, marks, words] = (!code && /^(#{1,6}) (.*)$/.exec(line)) || [];
    if (marks === undefined || words === undefined) {
      const part = parts.at(-1) as Part;
      // Lines of a paragraph are joined: the page would break there.
      const last = /(?:^|\n)([^\n]*[^\n|`])\n$/.exec(part.text)?.[1];
      const joins = !code && prose.test(line) && last !== undefined && !/^(\||```)/.test(last);
      part.text = `${joins ? `${part.text.slice(0, -1)} ` : part.text}${line}\n`;
      continue;
    }
    const heading = plain(words);
    const base = anchorOf(heading);
    const times = taken.get(base) ?? 0;
    taken.set(base, times + 1);
    parts.push({ anchor: times > 0 ? `${base}-${times}` : base, heading, level: marks.length, text: "" });
  }
  return parts.filter(({ heading, text: body }) => heading !== "" || body.trim() !== "");
}

/** anchorOf returns the anchor that Markdown of GitHub has for a heading. */
export function anchorOf(heading: string): string {
  return heading.toLowerCase().replaceAll(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-");
}

const mostHits = 40;

/** find returns the sections with all words, those with them in the heading first. */
export function find(guides: readonly Guide[], query: string): Hit[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const [first] = words;
  if (first === undefined) return [];
  const hits = guides.flatMap((guide) => partsOf(guide).flatMap((part): [number, Hit][] => {
    const heading = `${guide.title} ${part.heading}`.toLowerCase();
    const text = plain(part.text);
    const all = `${heading} ${text.toLowerCase()}`;
    if (!words.every((word) => all.includes(word))) return [];
    const rank = words.every((word) => part.heading.toLowerCase().includes(word))
      ? 0 : words.every((word) => heading.includes(word)) ? 1 : 2;
    const at = Math.max(0, text.toLowerCase().indexOf(first) - 40);
    return [[rank, { guide, part, snippet: (at > 0 ? "…" : "") + text.slice(at, at + 160).trim() }]];
  }));
  return hits.sort(([a], [b]) => a - b).slice(0, mostHits).map(([, hit]) => hit);
}

// plain removes the marks of Markdown from a text.
function plain(text: string): string {
  const words = text.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, "$1").replaceAll(/[`*]|^\|?[-| ]+\|$/gm, "");
  return words.replaceAll(/[|\s]+/g, " ").trim();
}
