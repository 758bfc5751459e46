// Templates of a spec: text with {expressions}. An expression is alternatives divided by ??, each a
// path, 'text' or a number, with filters behind |: {item.title ?? 'untitled' | cut:80}. The README
// of plugins/http lists them.
import { Value, Kind, parse } from "../../sdk-as/assembly/json";
import { Call } from "../../sdk-as/assembly/index";
import { filter } from "./filter";
import { innerText, isElement } from "./markup";
import { escapeURL, oneLine } from "./text";

/** The values that expressions can refer to. */
export class Env {
  roots: Value = Value.object();
  error: string = "";
  constructor(public call: Call) {}

  /** Records an error of the spec; only the first is kept. */
  wrong(message: string): Value {
    if (this.error == "") this.error = message;
    return new Value();
  }
}

/** A value as text. */
export function textOf(v: Value): string {
  if (v.kind == Kind.Text || v.kind == Kind.Number || v.kind == Kind.Bool) return v.raw;
  if (isElement(v)) return oneLine(innerText(v));
  return v.isNull() ? "" : v.json();
}

/** Reports whether a condition holds: the value is not null, false, 0, "", or empty. */
export function truthy(v: Value): bool {
  if (v.kind == Kind.Bool) return v.raw == "true";
  if (v.kind == Kind.Number) return v.num() != 0;
  if (v.kind == Kind.Text) return v.raw != "";
  return v.items.length > 0;
}

/** Fills a template. One that is a single expression keeps the kind of its value. */
export function fill(env: Env, template: string, inURL: bool = false): Value {
  const out: string[] = [];
  let from = 0;
  for (let i = 0; i < template.length; i++) {
    const c = template.charCodeAt(i);
    if (c != 123 && c != 125) continue;
    out.push(template.substring(from, i));
    if (i + 1 < template.length && template.charCodeAt(i + 1) == c) {
      out.push(String.fromCharCode(c));
      from = ++i + 1;
      continue;
    }
    const end = c == 123 ? closing(template, i + 1) : -1;
    if (end < 0) return env.wrong("template " + template + ": { without }");
    const v = new Expression(env, template.substring(i + 1, end)).value();
    if (i == 0 && end == template.length - 1) return v;
    out.push(inURL ? escapeURL(textOf(v)) : textOf(v));
    i = end;
    from = end + 1;
  }
  out.push(template.substring(from));
  return Value.text(out.join(""));
}

/** Returns the end of the expression that begins at i. */
function closing(s: string, i: i32): i32 {
  let quoted = false;
  for (; i < s.length; i++) {
    const c = s.charCodeAt(i);
    if (c == 39) quoted = !quoted;
    if (c == 125 && !quoted) return i;
  }
  return -1;
}

/** Evaluates one expression. */
export class Expression {
  private i: i32 = 0;
  constructor(private env: Env, private s: string) {}

  value(): Value {
    let v = this.alternatives();
    while (this.take("|")) {
      const name = this.word();
      const args: Value[] = [];
      while (this.take(":")) args.push(this.operand());
      v = filter(this.env, name, v, args);
    }
    if (this.i >= this.s.length) return v;
    return this.env.wrong("expression {" + this.s + "} is not understood at " + this.s.substring(this.i));
  }

  private alternatives(): Value {
    let v = this.operand();
    while (this.take("??")) {
      const next = this.operand();
      if (!truthy(v)) v = next;
    }
    return v;
  }

  private space(): void { while (this.i < this.s.length && this.s.charCodeAt(this.i) <= 32) this.i++; }

  private take(token: string): bool {
    this.space();
    if (!this.s.startsWith(token, this.i)) return false;
    this.i += token.length;
    return true;
  }

  /** Up to the next blank or sign of the grammar. */
  private word(): string {
    this.space();
    const from = this.i;
    while (this.i < this.s.length) {
      const c = this.s.charCodeAt(this.i);
      if (c <= 32 || c == 124 || c == 58 || c == 63 || c == 39) break;
      this.i++;
    }
    return this.s.substring(from, this.i);
  }

  private operand(): Value {
    this.space();
    if (this.take("'")) {
      const end = this.s.indexOf("'", this.i);
      if (end < 0) return this.env.wrong("expression {" + this.s + "}: ' without end");
      const text = this.s.substring(this.i, end);
      this.i = end + 1;
      return Value.text(text);
    }
    const word = this.word();
    if (word == "") return this.env.wrong("expression {" + this.s + "}: a path, 'text' or number is missing");
    const c = word.charCodeAt(0);
    if ((c >= 48 && c <= 57) || c == 45) return Value.number(parseFloat(word));
    if (word == "true" || word == "false") return Value.bool(word == "true");
    if (word.startsWith("secret.")) return Value.text(this.env.call.secret(word.substring(7)));
    return follow(this.env.roots, word.split("."), 0);
  }
}

/** Resolves a path: members by name, elements by index, * for all elements of a list. */
export function follow(v: Value, path: string[], from: i32): Value {
  for (let i = from; i < path.length; i++) {
    const step = path[i];
    if (step == "*") {
      const list = Value.list();
      for (let k = 0; k < v.items.length; k++) {
        const one = follow(v.items[k], path, i + 1);
        if (!one.isNull()) list.push(one);
      }
      return list;
    }
    v = v.kind == Kind.List ? element(v, step) : isElement(v) ? named(v, step) : v.get(step);
  }
  return v;
}

function element(list: Value, step: string): Value {
  const n = parseInt(step, 10);
  if (isNaN(n)) return list.items.length > 0 && isElement(list.items[0]) ? named(list.items[0], step) : new Value();
  const i = <i32>n < 0 ? list.items.length + <i32>n : <i32>n;
  return i >= 0 && i < list.items.length ? list.items[i] : new Value();
}

/** The elements of a name inside another: one, or a list of them. */
function named(v: Value, name: string): Value {
  let first: Value | null = null;
  const all = Value.list();
  for (let i = 0; i < v.names.length; i++) {
    if (v.names[i] != name) continue;
    if (!first) first = v.items[i];
    all.push(v.items[i]);
  }
  if (all.items.length > 1) return all;
  return first ? first : new Value();
}

/**
 * Fills a value of a spec, whose texts are templates. In a request, members and elements without a
 * value are left out. {"$each": list, "$as": value, "$limit"?, "$join"?} makes one value of each
 * element, named item; {"$if", "$then", "$else"?} chooses.
 */
export function build(env: Env, spec: Value, request: bool): Value {
  if (spec.kind == Kind.Text) return fill(env, spec.raw);
  if (spec.kind == Kind.List) {
    const list = Value.list();
    for (let i = 0; i < spec.items.length; i++) {
      const v = build(env, spec.items[i], request);
      if (!request || !absent(v, spec.items[i])) list.push(v);
    }
    return list;
  }
  if (spec.kind != Kind.Object) return spec;
  if (spec.names.includes("$each")) return each(env, spec, request);
  if (spec.names.includes("$if")) {
    return build(env, spec.get(truthy(build(env, spec.get("$if"), request)) ? "$then" : "$else"), request);
  }
  const object = Value.object();
  for (let i = 0; i < spec.items.length; i++) {
    const v = build(env, spec.items[i], request);
    if (!request || !absent(v, spec.items[i])) object.set(spec.names[i], v);
  }
  return object;
}

/** Reports whether a value is left out of a request: null, or a template with the result "". */
function absent(v: Value, spec: Value): bool {
  if (v.isNull()) return true;
  return v.kind == Kind.Text && v.raw == "" && !(spec.kind == Kind.Text && spec.raw == "");
}

function each(env: Env, spec: Value, request: bool): Value {
  const from = build(env, spec.get("$each"), request);
  const limit = spec.get("$limit").isNull() ? -1 : <i32>numberOf(build(env, spec.get("$limit"), request));
  const outer = env.roots.get("item"), outerIndex = env.roots.get("index");
  const list = Value.list();
  const items = elements(from);
  for (let i = 0; i < items.length && env.error == "" && (limit < 0 || list.items.length < limit); i++) {
    env.roots.set("item", items[i]).set("index", Value.number(i));
    const v = build(env, spec.get("$as"), request);
    if (!v.isNull()) list.push(v);
  }
  env.roots.set("item", outer).set("index", outerIndex);
  const join = spec.get("$join");
  return join.isNull() ? list : joined(list.items, textOf(fill(env, join.raw)));
}

/** The elements for a loop: those of a list, or the single value. */
export function elements(v: Value): Value[] {
  if (v.kind == Kind.List) return v.items;
  return v.isNull() ? [] : [v];
}

export function joined(items: Value[], by: string): Value {
  const parts: string[] = [];
  for (let i = 0; i < items.length; i++) {
    const text = textOf(items[i]);
    if (text != "") parts.push(text);
  }
  return Value.text(parts.join(by));
}

/** The value of a number, also of one written as text; 0 otherwise. */
export function numberOf(v: Value): f64 {
  const n = v.kind == Kind.Text ? parseFloat(v.raw) : v.num();
  return isNaN(n) ? 0 : n;
}

/** Parses JSON text; null if it is invalid. */
export function readJSON(text: string): Value { return parse(text); }
