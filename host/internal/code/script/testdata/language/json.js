//// keys keep their order
function main() { return { z: 1, a: 2, 10: "ten", 2: "two", "-1": 0 } }
//// what is left out
function main() { return { u: undefined, f() {}, s: Symbol("x"), n: null, list: [undefined, () => 1, Symbol("y")] } }
//// toJSON
function main() { return { a: { toJSON() { return { b: 1 } } }, c: { toJSON: () => "text" }, d: { toJSON: 3 } } }
//// toJSON is asked once
function main() { return { toJSON() { return { inner: 1, toJSON() { return "twice" } } } } }
//// boxes
function main() { return [new Number(3), new String("s"), new Boolean(false)] }
//// getters run
function main() { return { get a() { return 1 + 1 }, b: 3 } }
//// only own and enumerable members
function main() { const o = Object.create({ inherited: 1 }); o.own = 2; Object.defineProperty(o, "hidden", { value: 3 }); return o }
//// maps, sets, typed arrays
function main() { return [new Map([[1, 2]]), new Set([1]), new Uint8Array([1, 2]), new Error("e"), /x/] }
//// holes in lists
function main() { const a = [1, , 3]; a[5] = 6; a.extra = 7; return a }
//// writing
function main() { return [JSON.stringify({ a: [1, { b: undefined }], "é": "\u2028\ud800" }), JSON.stringify("\u007f\u0001"), JSON.stringify({ a: 1, b: 2 }, ["b"]), JSON.stringify([1, [2]], null, 1)] }
//// reading
function main() { return [JSON.parse('{"a":1,"a":2}'), JSON.parse("[1e3, -0, true]"), JSON.parse('{"a":{"b":1}}', (k, v) => (k === "b" ? 2 : v))] }
//// reading what is none
function main() { return JSON.parse("{a: 1}") }
//// a member called __proto__ :: {"o": {"__proto__": {"x": 1}, "constructor": 2}}
function main({ o }) { return [Object.keys(o), o.x === undefined, o] }
//// a result that holds itself
function main() { const a = []; a.push(a); return a }
//// nesting that is allowed
function main() { let a = 1; for (let i = 0; i < 150; i++) a = [a]; return JSON.stringify(a).length }
//// nesting that is too deep
function main() { let a = 1; for (let i = 0; i < 300; i++) a = [a]; return a }
//// nothing
function main() {}
//// a proxy
function main() { return new Proxy({ a: 1 }, { get: (t, k) => (k in t ? t[k] + 1 : undefined) }) }
