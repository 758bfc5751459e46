// JSON for messages. The library of AssemblyScript has none.

/** Kinds of a Value. */
export const enum Kind { Null, Bool, Number, Text, List, Object }

// Scalars share these: most values of a message are scalars, and each array has a cost.
const noNames: string[] = [];
const noItems: Value[] = [];

/** A JSON value. Members keep their order, numbers their text. */
export class Value {
  kind: Kind = Kind.Null;
  raw: string = ""; // of a text, a number or a truth value
  names: string[] = noNames;
  items: Value[] = noItems; // of a list, or the members of an object

  static text(s: string): Value { return Value.scalar(Kind.Text, s); }
  static number(n: f64): Value {
    if (!isFinite(n)) return new Value();
    return Value.scalar(Kind.Number, n == Math.floor(n) && Math.abs(n) < 9007199254740992 ? (<i64>n).toString() : n.toString());
  }
  static bool(b: bool): Value { return Value.scalar(Kind.Bool, b ? "true" : "false"); }
  static list(): Value {
    const v = Value.scalar(Kind.List, "");
    v.items = [];
    return v;
  }
  static object(): Value {
    const v = Value.scalar(Kind.Object, "");
    v.names = [];
    v.items = [];
    return v;
  }
  private static scalar(kind: Kind, raw: string): Value {
    const v = new Value();
    v.kind = kind;
    v.raw = raw;
    return v;
  }

  /** A member, or null. */
  get(name: string): Value {
    if (this.kind == Kind.Object) {
      const i = this.names.indexOf(name);
      if (i >= 0) return this.items[i];
    }
    return new Value();
  }
  /** Sets a member of an object. */
  set(name: string, v: Value): Value {
    const i = this.names.indexOf(name);
    if (i >= 0) {
      this.items[i] = v;
    } else {
      this.names.push(name);
      this.items.push(v);
    }
    return this;
  }
  /** Adds to a list. */
  push(v: Value): Value {
    this.items.push(v);
    return this;
  }
  isNull(): bool { return this.kind == Kind.Null; }
  isTrue(): bool { return this.kind == Kind.Bool && this.raw == "true"; }
  /** The value of a string, "" otherwise. */
  str(): string { return this.kind == Kind.Text ? this.raw : ""; }
  /** The value of a number, or the given default. */
  num(otherwise: f64 = 0): f64 { return this.kind == Kind.Number ? parseFloat(this.raw) : otherwise; }

  json(): string {
    if (this.kind == Kind.Null) return "null";
    if (this.kind == Kind.Text) return quote(this.raw);
    if (this.kind == Kind.List || this.kind == Kind.Object) {
      const parts: string[] = [];
      for (let i = 0; i < this.items.length; i++) {
        const v = this.items[i].json();
        parts.push(this.kind == Kind.List ? v : quote(this.names[i]) + ":" + v);
      }
      return this.kind == Kind.List ? "[" + parts.join(",") + "]" : "{" + parts.join(",") + "}";
    }
    return this.raw;
  }
}

const hexDigits = "0123456789abcdef";

/** A string of JSON. Its size is counted first, so that many escapes are not many small strings. */
function quote(s: string): string {
  let escapes = 0;
  for (let i = 0; i < s.length; i++) if (special(s.charCodeAt(i))) escapes++;
  if (escapes == 0) return '"' + s + '"';
  const out = new Uint16Array(s.length + 5 * escapes + 2);
  let n = 0;
  out[n++] = 34;
  for (let i = 0; i < s.length; i++) {
    const c = s.charCodeAt(i);
    if (!special(c)) {
      out[n++] = <u16>c;
      continue;
    }
    out[n] = 92;
    out[n + 1] = 117;
    out[n + 2] = 48;
    out[n + 3] = 48;
    out[n + 4] = <u16>hexDigits.charCodeAt(c >> 4);
    out[n + 5] = <u16>hexDigits.charCodeAt(c & 15);
    n += 6;
  }
  out[n++] = 34;
  return String.UTF16.decodeUnsafe(out.dataStart, n << 1);
}

function special(c: i32): bool { return c < 32 || c == 34 || c == 92; }

/** Parses JSON; null if the text is invalid (or "null"). */
export function parse(text: string): Value {
  const p = new Parser(text);
  const v = p.value(0);
  p.space();
  return p.failed || p.i < text.length ? new Value() : v;
}

class Parser {
  i: i32 = 0;
  failed: bool = false;
  constructor(private s: string) {}

  space(): void {
    while (this.i < this.s.length && this.s.charCodeAt(this.i) <= 32) this.i++;
  }
  private take(c: i32): bool {
    this.space();
    if (this.i >= this.s.length || this.s.charCodeAt(this.i) != c) return false;
    this.i++;
    return true;
  }
  private fail(): Value {
    this.failed = true;
    return new Value();
  }
  value(depth: i32): Value {
    if (depth > 200 || this.failed) return this.fail();
    if (this.take(123)) return this.members(depth);
    if (this.take(91)) return this.elements(depth);
    if (this.take(34)) return Value.text(this.text());
    const from = this.i;
    while (this.i < this.s.length) {
      const c = this.s.charCodeAt(this.i);
      if (c <= 32 || c == 44 || c == 93 || c == 125) break;
      this.i++;
    }
    const word = this.s.substring(from, this.i);
    if (word == "null") return new Value();
    if (word == "true" || word == "false") return Value.bool(word == "true");
    if (word.length == 0 || isNaN(parseFloat(word))) return this.fail();
    const v = Value.number(0);
    v.raw = word;
    return v;
  }
  private elements(depth: i32): Value {
    const list = Value.list();
    if (this.take(93)) return list;
    while (!this.failed) {
      list.push(this.value(depth + 1));
      if (this.take(93)) return list;
      if (!this.take(44)) break;
    }
    return this.fail();
  }
  private members(depth: i32): Value {
    const object = Value.object();
    if (this.take(125)) return object;
    while (!this.failed) {
      if (!this.take(34)) break;
      const name = this.text();
      if (!this.take(58)) break;
      object.set(name, this.value(depth + 1));
      if (this.take(125)) return object;
      if (!this.take(44)) break;
    }
    return this.fail();
  }
  private text(): string {
    const s = this.s, from = this.i;
    let end = from, escapes = false;
    while (end < s.length && s.charCodeAt(end) != 34) {
      if (s.charCodeAt(end) == 92) {
        escapes = true;
        end++;
      }
      end++;
    }
    if (end >= s.length) {
      this.failed = true;
      return "";
    }
    this.i = end + 1;
    if (!escapes) return s.substring(from, end);
    const out = new Uint16Array(end - from); // an escape is longer than its character
    let n = 0;
    for (let i = from; i < end; i++) {
      let c = s.charCodeAt(i);
      if (c == 92) {
        c = s.charCodeAt(++i);
        if (c == 117) {
          const code = parseInt(s.substring(i + 1, min(i + 5, end)), 16);
          c = isNaN(code) ? 0xfffd : <i32>code;
          i += 4;
        } else {
          c = unescaped(c);
        }
      }
      out[n++] = <u16>c;
    }
    return String.UTF16.decodeUnsafe(out.dataStart, n << 1);
  }
}

/** The character of an escape, by the one behind its backslash. */
function unescaped(c: i32): i32 {
  if (c == 110) return 10;
  if (c == 114) return 13;
  if (c == 116) return 9;
  if (c == 98) return 8;
  return c == 102 ? 12 : c;
}
