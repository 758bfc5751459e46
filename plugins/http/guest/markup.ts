// XML and HTML as values. An element is an object: "#name", attributes as "@href", and in document
// order its text as "#text" and its elements under their names; a name may occur more than once.
import { Value, Kind } from "../../sdk-as/assembly/json";
import { isSpace, oneLine, unescapeEntities } from "./text";

const maxDepth = 200;
const maxNodes = 100000; // elements and attributes

const voidElements = [
  "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr",
];
// Each of these elements ends where the next one with its name begins.
const selfClosing = ["li", "p", "tr", "td", "th", "dd", "dt", "option"];
const blockElements = [
  "p", "div", "section", "article", "li", "ul", "ol", "tr", "table", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6",
  "blockquote", "pre", "dd", "dt", "main", "figure",
];
// Not read as the text of a page.
const unread = [
  "script", "style", "noscript", "template", "svg", "head", "nav", "header", "footer", "aside", "form", "iframe",
  "button",
];

/** The result of reading a document. */
export class Document {
  root: Value = element("#document");
  error: string = "";
}

function element(name: string): Value {
  const v = Value.object();
  v.names.push("#name");
  v.items.push(Value.text(name));
  return v;
}

function add(to: Value, name: string, v: Value): void {
  to.names.push(name);
  to.items.push(v);
}

export function isElement(v: Value): bool {
  return v.kind == Kind.Object && v.names.length > 0 && v.names[0] == "#name";
}

/** Reads XML, or HTML as people write it. */
export function read(s: string, html: bool): Document {
  const r = new Reader(s, html);
  r.run();
  return r.doc;
}

class Reader {
  doc: Document = new Document();
  private open: Value[] = [];
  private i: i32 = 0;
  private nodes: i32 = 0;
  constructor(private s: string, private html: bool) { this.open.push(this.doc.root); }

  private top(): Value { return this.open[this.open.length - 1]; }

  private text(from: i32, to: i32, plain: bool): void {
    if (to <= from) return;
    const t = this.s.substring(from, to);
    add(this.top(), "#text", Value.text(plain ? t : unescapeEntities(t)));
  }

  run(): void {
    while (this.i < this.s.length && this.doc.error == "") {
      const at = this.s.indexOf("<", this.i);
      if (at < 0) {
        this.text(this.i, this.s.length, false);
        return;
      }
      this.text(this.i, at, false);
      this.i = at;
      this.tag();
      if (++this.nodes > maxNodes) this.doc.error = "the document has more than " + maxNodes.toString() + " elements";
    }
    if (!this.html && this.doc.error == "" && this.open.length > 1) this.doc.error = "the document is cut short";
  }

  private skip(end: string): i32 {
    const at = this.s.indexOf(end, this.i);
    const from = this.i;
    this.i = at < 0 ? this.s.length : at + end.length;
    return at < 0 ? this.s.length : max(at, from);
  }

  private tag(): void {
    const s = this.s;
    if (s.startsWith("<!--", this.i)) {
      this.skip("-->");
    } else if (s.startsWith("<![CDATA[", this.i)) {
      const from = this.i + 9;
      this.text(from, this.skip("]]>"), true);
    } else if (s.startsWith("<!", this.i) || s.startsWith("<?", this.i)) {
      const from = this.i;
      const to = this.skip(">");
      const type = s.substring(from, to);
      if (!this.html && type.includes("[")) this.doc.error = "a document type with entities is not read";
    } else if (s.startsWith("</", this.i)) {
      const from = this.i + 2;
      this.close(this.name(s.substring(from, this.skip(">"))).trim());
    } else if (this.i + 1 < s.length && letter(s.charCodeAt(this.i + 1))) {
      this.start();
    } else {
      this.text(this.i, this.i + 1, true);
      this.i++;
    }
  }

  private name(s: string): string { return this.html ? s.toLowerCase() : s; }

  private close(name: string): void {
    for (let k = this.open.length - 1; k > 0; k--) {
      if (this.open[k].items[0].raw == name) {
        this.open.length = k;
        return;
      }
      if (!this.html) {
        this.doc.error = "</" + name + "> has no beginning";
        return;
      }
    }
  }

  private start(): void {
    let j = ++this.i;
    for (; j < this.s.length; j++) {
      const c = this.s.charCodeAt(j);
      if (isSpace(c) || c == 62 || c == 47) break;
    }
    const name = this.name(this.s.substring(this.i, j));
    this.i = j;
    if (this.html && selfClosing.includes(name) && this.top().items[0].raw == name) this.open.pop();
    const e = element(name);
    const empty = this.attributes(e);
    add(this.top(), name, e);
    if (empty || (this.html && voidElements.includes(name))) return;
    if (this.html && (name == "script" || name == "style")) {
      this.skip("</" + name); // programs and style sheets are not content
      this.skip(">");
      return;
    }
    this.open.push(e);
    if (this.open.length <= maxDepth) return;
    this.doc.error = "the document is nested more than " + maxDepth.toString() + " deep";
  }

  /** Reads attributes up to the end of the tag, and reports whether the element is empty. */
  private attributes(e: Value): bool {
    const s = this.s;
    while (this.i < s.length) {
      const c = s.charCodeAt(this.i);
      if (c == 62) {
        this.i++;
        return false;
      }
      if (c == 47 && this.i + 1 < s.length && s.charCodeAt(this.i + 1) == 62) {
        this.i += 2;
        return true;
      }
      if (isSpace(c) || c == 47) {
        this.i++;
        continue;
      }
      this.attribute(e);
    }
    return true;
  }

  private attribute(e: Value): void {
    const s = this.s;
    const from = this.i++;
    while (this.i < s.length) {
      const c = s.charCodeAt(this.i);
      if (isSpace(c) || c == 61 || c == 62 || c == 47) break;
      this.i++;
    }
    const name = this.name(s.substring(from, this.i));
    let value = "";
    if (this.i < s.length && s.charCodeAt(this.i) == 61) {
      this.i++;
      const quote = this.i < s.length ? s.charCodeAt(this.i) : 0;
      if (quote == 34 || quote == 39) {
        const begin = ++this.i;
        value = s.substring(begin, this.skip(String.fromCharCode(quote)));
      } else {
        const begin = this.i;
        while (this.i < s.length && !isSpace(s.charCodeAt(this.i)) && s.charCodeAt(this.i) != 62) this.i++;
        value = s.substring(begin, this.i);
      }
    }
    if (++this.nodes > maxNodes) this.doc.error = "the document has more than " + maxNodes.toString() + " elements";
    add(e, "@" + name, Value.text(unescapeEntities(value)));
  }
}

function letter(c: i32): bool { return (c | 32) >= 97 && (c | 32) <= 122; }

/** The text inside an element, white space as it is. */
export function innerText(v: Value): string {
  const out: string[] = [];
  collect(v, out);
  return out.join("");
}

function collect(v: Value, out: string[]): void {
  for (let i = 0; i < v.items.length; i++) {
    const name = v.names[i];
    if (name == "#text") out.push(v.items[i].raw);
    else if (isElement(v.items[i])) collect(v.items[i], out);
  }
}

/** The content of a page without its navigation, as lines of text or as Markdown. */
export function readable(v: Value, markdown: bool): string {
  const main = best(v);
  const out: string[] = [];
  blocks(main, out, markdown);
  const lines = out.join("").split("\n");
  const kept: string[] = [];
  for (let i = 0; i < lines.length; i++) {
    const line = oneLine(lines[i]);
    if (line != "" && line != "-") kept.push(line);
  }
  return kept.join(markdown ? "\n\n" : "\n");
}

/** The part of a page that holds its content. */
function best(v: Value): Value {
  const names = ["article", "main", "body"];
  for (let i = 0; i < names.length; i++) {
    const found = select(v, names[i]);
    if (found.length == 1 || (found.length > 0 && i == 2)) return found[0];
  }
  return v;
}

function blocks(v: Value, out: string[], markdown: bool): void {
  for (let i = 0; i < v.items.length; i++) {
    const e = v.items[i], name = v.names[i];
    if (name == "#text") {
      out.push(e.raw.replaceAll("\n", " "));
    } else if (isElement(e) && !unread.includes(name)) {
      const block = blockElements.includes(name);
      if (block) out.push("\n");
      const heading = name.length == 2 && name.charCodeAt(0) == 104 && name != "hr";
      if (markdown && heading) out.push("#".repeat(name.charCodeAt(1) - 48) + " ");
      if (markdown && name == "li") out.push("- ");
      const href = name == "a" ? e.get("@href").raw : "";
      const link = markdown && href.startsWith("http") && oneLine(innerText(e)) != "";
      if (link) out.push("[");
      blocks(e, out, markdown);
      if (link) out.push("](" + href + ")");
      if (block) out.push("\n");
    }
  }
}

/** The elements of a CSS selector: tag, .class, #id, [attribute=value], descendants. */
export function select(v: Value, selector: string): Value[] {
  let found: Value[] = [v];
  const parts = oneLine(selector).split(" ");
  for (let i = 0; i < parts.length; i++) {
    const next: Value[] = [];
    for (let k = 0; k < found.length; k++) descend(found[k], parts[i], next, found.length > 1);
    found = next;
  }
  return found;
}

function descend(v: Value, part: string, out: Value[], twice: bool): void {
  for (let i = 0; i < v.items.length; i++) {
    const e = v.items[i];
    if (!isElement(e)) continue;
    if (matches(e, part) && !(twice && out.includes(e))) out.push(e);
    descend(e, part, out, twice);
  }
}

function matches(e: Value, part: string): bool {
  let i = 0;
  while (i < part.length) {
    const sign = part.charCodeAt(i);
    let end = i + 1;
    while (end < part.length && !".#[".includes(part.charAt(end))) end++;
    const word = part.substring(i, end);
    if (sign == 46) {
      if (!(" " + oneLine(e.get("@class").raw) + " ").includes(" " + word.substring(1) + " ")) return false;
    } else if (sign == 35) {
      if (e.get("@id").raw != word.substring(1)) return false;
    } else if (sign == 91) {
      if (!attributeMatches(e, word.substring(1, word.length - 1))) return false;
    } else if (word != "*" && e.items[0].raw != word) {
      return false;
    }
    i = end;
  }
  return true;
}

function attributeMatches(e: Value, test: string): bool {
  const at = test.indexOf("=");
  if (at < 0) return e.names.includes("@" + test);
  return e.get("@" + test.substring(0, at)).raw == test.substring(at + 1);
}
