// The filters of expressions.
import { Value, Kind } from "../../sdk-as/assembly/json";
import { Env, elements, follow, joined, numberOf, textOf, truthy } from "./expr";
import { innerText, isElement, read, readable, select } from "./markup";
import { oneLine, queryParam } from "./text";

/** Applies the filter name to v. */
export function filter(env: Env, name: string, v: Value, args: Value[]): Value {
  const first = args.length > 0 ? args[0] : new Value();
  const second = args.length > 1 ? args[1] : new Value();
  // Tests.
  if (name == "eq") return Value.bool(textOf(v) == textOf(first));
  if (name == "ne") return Value.bool(textOf(v) != textOf(first));
  if (name == "not") return Value.bool(!truthy(v));
  if (name == "and") return Value.bool(truthy(v) && truthy(first));
  if (name == "gt") return Value.bool(numberOf(v) > numberOf(first));
  if (name == "contains") return Value.bool(textOf(v).toLowerCase().includes(textOf(first).toLowerCase()));
  if (name == "starts") return Value.bool(textOf(v).startsWith(textOf(first)));
  // Numbers.
  if (name == "number") return Value.number(numberOf(v));
  if (name == "add") return Value.number(numberOf(v) + numberOf(first));
  if (name == "times") return Value.number(numberOf(v) * numberOf(first));
  if (name == "min") return Value.number(Math.min(numberOf(v), numberOf(first)));
  if (name == "max") return Value.number(Math.max(numberOf(v), numberOf(first)));
  if (name == "date") return date(numberOf(v));
  // Texts.
  if (name == "text") return Value.text(isElement(v) ? innerText(v) : textOf(v));
  if (name == "trim") return Value.text(textOf(v).trim());
  if (name == "line") return Value.text(oneLine(textOf(v)));
  if (name == "lower") return Value.text(textOf(v).toLowerCase());
  if (name == "upper") return Value.text(textOf(v).toUpperCase());
  if (name == "cut") return Value.text(cut(textOf(v), <i32>numberOf(first)));
  if (name == "replace") return Value.text(textOf(v).replaceAll(textOf(first), textOf(second)));
  if (name == "split") return v.kind == Kind.List ? v : split(textOf(v), textOf(first));
  if (name == "json") return Value.text(v.json());
  if (name == "param") return Value.text(queryParam(textOf(v), textOf(first)));
  if (name == "prefix") return textOf(v) == "" ? new Value() : Value.text(textOf(first) + textOf(v));
  if (name == "suffix") return textOf(v) == "" ? new Value() : Value.text(textOf(v) + textOf(first));
  if (name == "between") return Value.text(between(textOf(v), textOf(first), textOf(second)));
  // Documents.
  if (name == "html") return read(textOf(v), true).root;
  if (name == "strip") return Value.text(oneLine(innerText(read(textOf(v), true).root)));
  if (name == "select") return listOf(select(v, textOf(first)));
  if (name == "readable") return Value.text(readable(v, false));
  if (name == "markdown") return Value.text(readable(v, true));
  // Lists.
  if (name == "list") return listOf(elements(v));
  if (name == "first") return elements(v).length > 0 ? elements(v)[0] : new Value();
  if (name == "last") return elements(v).length > 0 ? elements(v)[elements(v).length - 1] : new Value();
  if (name == "at") return at(elements(v), <i32>numberOf(first));
  if (name == "count") return Value.number(elements(v).length);
  if (name == "limit") return listOf(elements(v).slice(0, <i32>numberOf(first)));
  if (name == "join") return joined(elements(v), textOf(first));
  if (name == "values") return v.kind == Kind.Object ? listOf(v.items) : listOf(elements(v));
  if (name == "map") return mapped(v, textOf(first));
  if (name == "sort") return sorted(v, textOf(first));
  if (name == "where") return where(v, textOf(first), textOf(second).toLowerCase());
  if (name == "rows") return rows(v, first);
  return env.wrong("there is no filter " + name);
}

/** Seconds since 1970 as ISO 8601; null for none. */
function date(seconds: f64): Value {
  if (!(seconds > 0 && seconds < 253402300800)) return new Value();
  return Value.text(new Date(<i64>(seconds * 1000)).toISOString().substring(0, 19) + "Z");
}

function listOf(items: Value[]): Value {
  const list = Value.list();
  list.items = items;
  return list;
}

function at(items: Value[], i: i32): Value { return i >= 0 && i < items.length ? items[i] : new Value(); }

/** At most n UTF-16 units, without half a character. */
function cut(s: string, n: i32): string {
  if (s.length <= n) return s;
  if (n > 0 && (s.charCodeAt(n - 1) & 0xfc00) == 0xd800) n--;
  return s.substring(0, n);
}

/** The parts of a text, without blanks around them and empty ones. */
function split(s: string, by: string): Value {
  const list = Value.list();
  const parts = s.split(by);
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i].trim();
    if (part != "") list.push(Value.text(part));
  }
  return list;
}

/** The text between two others; "" if they do not occur. */
function between(s: string, open: string, close: string): string {
  const from = s.indexOf(open);
  if (from < 0) return "";
  const to = s.indexOf(close, from + open.length);
  return to < 0 ? "" : s.substring(from + open.length, to);
}

function mapped(v: Value, path: string): Value {
  const list = Value.list();
  const items = elements(v);
  for (let i = 0; i < items.length; i++) {
    const one = follow(items[i], path.split("."), 0);
    if (!one.isNull()) list.push(one);
  }
  return list;
}

/** Sorts by a number of each element, smallest first; the order of equal ones is stable. */
function sorted(v: Value, path: string): Value {
  const items = elements(v).slice(0);
  for (let i = 1; i < items.length; i++) {
    const one = items[i], rank = numberOf(follow(one, path.split("."), 0));
    let k = i;
    while (k > 0 && numberOf(follow(items[k - 1], path.split("."), 0)) > rank) {
      items[k] = items[k - 1];
      k--;
    }
    items[k] = one;
  }
  return listOf(items);
}

/** The elements whose text at path contains a text, in any case. */
function where(v: Value, path: string, part: string): Value {
  const list = Value.list();
  const items = elements(v);
  for (let i = 0; i < items.length; i++) {
    if (textOf(follow(items[i], path.split("."), 0)).toLowerCase().includes(part)) list.push(items[i]);
  }
  return list;
}

/** Converts rows of cells to objects, by the names of the columns. */
function rows(v: Value, names: Value): Value {
  const list = Value.list();
  for (let i = 0; i < v.items.length; i++) {
    const row = Value.object();
    const cells = v.items[i].items, n = min(names.items.length, cells.length);
    for (let k = 0; k < n; k++) row.set(textOf(names.items[k]), cells[k]);
    list.push(row);
  }
  return list;
}
