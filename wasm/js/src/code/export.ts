// Converts the result of a script to JSON like JSON.stringify, except that a BigInt becomes a
// string, and a value that is too large, too deep or cyclic is an error. The server's interpreter
// has the same rules. This program runs inside the sandbox before the script, so that the script
// cannot change the functions it uses.

/** Maximum nesting of a value. */
const depth = 200;

/**
 * exporter returns the source of an object with two functions: write(value) returns JSON, and
 * throws a string for a value over the limit; show(value) returns what a console prints: strings
 * unchanged, objects as JSON with spaces.
 */
export function exporter(output: number): string {
  return `(() => {
  "use strict";
  const { isArray } = Array, { keys } = Object, { stringify: quote, parse } = JSON, print = String, apply = Reflect.apply;
  const boxes = [[Number, Number.prototype.valueOf], [String, String.prototype.valueOf], [Boolean, Boolean.prototype.valueOf]];
  let left, comma, colon;
  const spend = (n) => { if ((left -= n) < 0) throw "the result is larger than it may be"; };
  const unbox = (v) => {
    for (let i = 0; i < 3; i++) if (v instanceof boxes[i][0]) return apply(boxes[i][1], v, []);
    return v;
  };
  const nothing = (v) => v === undefined || typeof v === "function" || typeof v === "symbol";
  const text = (v, depth, plain) => {
    spend(8);
    if (depth > ${depth}) throw "the result nests deeper than ${depth} levels or holds itself";
    if (nothing(v) || v === null) return "null";
    if (typeof v === "bigint") v = v.toString();
    if (typeof v === "string") { spend(v.length); return quote(v); }
    if (typeof v !== "object") return quote(v);
    if (!plain && typeof v.toJSON === "function") return text(v.toJSON(), depth + 1, true);
    if (isArray(v)) {
      spend(v.length);
      let out = "[";
      for (let i = 0; i < v.length; i++) out += (i > 0 ? comma : "") + text(v[i], depth + 1);
      return out + "]";
    }
    const inner = unbox(v);
    if (typeof inner !== "object") return text(inner, depth + 1);
    let out = "";
    const names = keys(v);
    for (let i = 0; i < names.length; i++) {
      const member = v[names[i]];
      if (nothing(member)) continue;
      spend(names[i].length);
      out += (out === "" ? "" : comma) + quote(names[i]) + colon + text(member, depth + 1);
    }
    return "{" + out + "}";
  };
  const begin = (v, c, k) => { left = ${output}; comma = c; colon = k; return text(v, 0); };
  return {
    write: (v) => begin(v, ",", ":"),
    show(v) {
      if (typeof v !== "object" || v === null || v instanceof Error) return print(v);
      try {
        const shown = begin(v, ", ", ": ");
        return shown[0] === '"' ? parse(shown) : shown;
      } catch {
        return print(v);
      }
    },
  };
})()`;
}
