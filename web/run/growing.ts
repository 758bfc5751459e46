// Markdown that grows at its end, such as an answer that streams. It is cut into sections at blank
// lines where a new block certainly begins; each section is parsed separately, so that a complete
// one is parsed once. The blocks equal those of the whole text parsed in one step.

import { parse as parseMarkdown, type Block } from "./markdown.ts";

/** small is the length of an unfinished section that is parsed at each read. */
export const small = 4_000;

/** share of its length by which a longer unfinished section must grow before it is parsed again. */
const share = 1 / 8;

/** Growing parses one text. */
export class Growing {
  readonly #parse: (text: string) => Block[];
  #text = "";
  #ended: Block[][] = [];
  #from = 0; // where the last section begins
  #line = 0; // where the first line begins that is not complete
  #fence = ""; // that opened the code in which that line lies
  #blank = false; // whether the line before it is blank
  #last = { from: 0, length: 0, blocks: [] as Block[] }; // the last section when it was parsed

  constructor(parse = parseMarkdown) {
    this.#parse = parse;
  }

  /**
   * read returns the blocks of each section; those of a section that did not change are the same
   * array. With `open`, more text may follow: then the end of a long section may be plain.
   */
  read(text: string, open = false): Block[][] {
    if (!text.startsWith(this.#text)) this.#restart();
    this.#text = text;
    for (let end = text.indexOf("\n", this.#line); end >= 0; end = text.indexOf("\n", this.#line)) {
      this.#take(text.slice(this.#line, end));
      this.#line = end + 1;
    }
    return [...this.#ended, this.#unfinished(text.slice(this.#from), open)];
  }

  #restart(): void {
    this.#ended = [];
    this.#from = this.#line = 0;
    this.#fence = "";
    this.#blank = false;
    this.#last = { from: 0, length: 0, blocks: [] };
  }

  // take reads a complete line.
  #take(line: string): void {
    if (this.#fence) {
      const mark = /^ {0,3}(`{3,}|~{3,})\s*$/.exec(line)?.[1];
      if (mark?.startsWith(this.#fence)) this.#fence = "";
      return;
    }
    const blank = line.trim() === "";
    if (!blank && this.#blank && this.#from < this.#line && begins(line)) {
      this.#ended.push(this.#parse(this.#text.slice(this.#from, this.#line)));
      this.#from = this.#line;
    }
    this.#blank = blank;
    this.#fence = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/.exec(line)?.[1] ?? "";
  }

  // unfinished returns the blocks of the last section.
  #unfinished(text: string, open: boolean): Block[] {
    const known = this.#last.from === this.#from && this.#last.length > 0;
    const { length, blocks } = this.#last;
    if (known && text.length === length) return blocks;
    if (known && open && text.length > small && text.length - length < length * share) {
      return this.#continued(blocks, text.slice(0, length), text.slice(length));
    }
    this.#last = { from: this.#from, length: text.length, blocks: this.#parse(text) };
    return this.#last.blocks;
  }

  // continued adds text that is not parsed yet: to an open block of code, else as plain text.
  #continued(blocks: Block[], parsed: string, rest: string): Block[] {
    const last = blocks.at(-1);
    if (!this.#fence || last?.kind !== "code") return [...blocks, { kind: "plain", text: rest }];
    const between = parsed.endsWith("\n") ? "\n" : ""; // code is parsed without its last line break
    return [...blocks.slice(0, -1), { kind: "code", text: last.text + between + rest }];
  }
}

// begins reports whether a line after a blank one certainly starts a new block: it is not indented,
// and not an item that may continue a list.
function begins(line: string): boolean {
  return /^\S/.test(line) && !/^(?:[-*+]|\d{1,9}[.)])(?:\s|$)/.test(line);
}
