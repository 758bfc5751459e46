// JSON as messages need it. AssemblyScript has none of its own.

/** Kinds of a Value. */
export const enum Kind { Null, Bool, Number, Text, List, Object }

/** A JSON value. Members keep their order, numbers their text. */
export class Value {
  kind: Kind = Kind.Null;
  raw: string = ""; // of a text, a number or a truth value
  names: string[] = [];
  items: Value[] = []; // of a list, or the members of an object

  static text(s: string): Value { return Value.scalar(Kind.Text, s); }
  static number(n: f64): Value {
    if (!isFinite(n)) return new Value();
    return Value.scalar(Kind.Number, n == Math.floor(n) && Math.abs(n) < 9007199254740992 ? (<i64>n).toString() : n.toString());
  }
  static bool(b: bool): Value { return Value.scalar(Kind.Bool, b ? "true" : "false"); }
  static list(): Value { return Value.scalar(Kind.List, ""); }
  static object(): Value { return Value.scalar(Kind.Object, ""); }
  private static scalar(kind: Kind, raw: string): Value {
    const v = new Value();
    v.kind = kind;
    v.raw = raw;
    return v;
  }

  /** A member; null when there is none. */
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
  /** The text of a text, "" otherwise. */
  str(): string { return this.kind == Kind.Text ? this.raw : ""; }
  /** The number of a number, otherwise what is given. */
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

function quote(s: string): string {
  const out: string[] = ['"'];
  let from = 0;
  for (let i = 0; i < s.length; i++) {
    const c = s.charCodeAt(i);
    if (c >= 32 && c != 34 && c != 92) continue;
    out.push(s.substring(from, i));
    out.push("\\u" + c.toString(16).padStart(4, "0"));
    from = i + 1;
  }
  out.push(s.substring(from));
  out.push('"');
  return out.join("");
}

/** Reads JSON; null when the text is none (or the text "null"). */
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
    const out: string[] = [];
    let from = this.i;
    while (this.i < this.s.length) {
      const c = this.s.charCodeAt(this.i++);
      if (c == 34) {
        out.push(this.s.substring(from, this.i - 1));
        return out.join("");
      }
      if (c != 92) continue;
      out.push(this.s.substring(from, this.i - 1));
      out.push(this.escaped());
      from = this.i;
    }
    this.failed = true;
    return "";
  }
  private escaped(): string {
    if (this.i >= this.s.length) return "";
    const c = this.s.charCodeAt(this.i++);
    if (c == 110) return "\n";
    if (c == 114) return "\r";
    if (c == 116) return "\t";
    if (c == 98) return "\b";
    if (c == 102) return "\f";
    if (c != 117) return String.fromCharCode(c);
    const code = parseInt(this.s.substring(this.i, this.i + 4), 16);
    this.i += 4;
    return isNaN(code) ? "\uFFFD" : String.fromCharCode(<i32>code);
  }
}
