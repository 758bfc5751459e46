//// classes
class A { #secret = 1; static count = 0; constructor() { A.count++ } get secret() { return this.#secret } static { A.made = true } has(o) { return #secret in o } }
class B extends A { secret2 = super.secret + 1; toString() { return `B(${this.secret2})` } }
function main() { const b = new B(); return [b.secret, String(b), A.count, A.made, b.has(b), b.has({}), b instanceof A, B.name] }
//// a private field from outside
class A { #x = 1; static read(o) { return o.#x } }
function main() { return A.read({}) }
//// getters and setters
function main() { const o = { _v: 1, get v() { return this._v }, set v(x) { this._v = x * 2 } }; o.v = 5; return [o.v, Object.getOwnPropertyDescriptor(o, "v").set.name] }
//// freezing
function main() { const o = Object.freeze({ a: 1 }); o.a = 2; return [o.a, Object.isFrozen(o)] }
//// freezing, strictly
"use strict"; function main() { const o = Object.freeze({ a: 1 }); o.a = 2; return o }
//// prototypes can be polluted, here only
function main() { Object.prototype.polluted = "yes"; Array.prototype.last = function () { return this.at(-1) }; return [{}.polluted, [1, 2].last(), { own: 1 }] }
//// and the next script sees nothing of it
function main() { return [typeof {}.polluted, typeof [].last, typeof globalThis.leak] }
//// globals belong to the script
var leak = 1; globalThis.also = 2; function main() { return [leak, also, typeof window, typeof global] }
//// order of keys
function main() { const o = { b: 1, 2: 1, a: 1, 1: 1, [Symbol.iterator]: 1 }; delete o.b; o.b = 2; return [Object.keys(o), Object.entries({ x: 1 }), Reflect.ownKeys({ 1: 1, a: 1 })] }
//// optional chaining and defaults
function main() { const o = { a: { b: null } }; let n = null; n ??= 5; n ||= 6; n &&= 7; return [o?.a?.b?.c === undefined, o.x?.(), o.a.b ?? "none", n] }
//// symbols
function main() { const o = { [Symbol.toPrimitive]: (hint) => hint, [Symbol.toStringTag]: "Tag" }; return [`${o}`, +{ [Symbol.toPrimitive]: () => 42 }, Object.prototype.toString.call(o), Symbol.for("a") === Symbol.for("a"), Symbol("d").description] }
//// proxies
function main() { const log = []; const p = new Proxy({}, { get: (_, k) => { log.push(k); return k }, has: () => true, ownKeys: () => ["z"] }); return [p.foo, "bar" in p, Reflect.ownKeys(p), log] }
//// weak collections
function main() { const k = {}, m = new WeakMap([[k, 1]]); return [m.get(k), m.has({}), new WeakRef(k).deref() === k, typeof FinalizationRegistry] }
//// maps and sets
function main() { const m = new Map([["a", 1], [NaN, 2]]); m.delete("a"); m.set("a", 3); return [[...m.entries()].map(String), m.get(NaN), new Set([1, 1, 2]).size] }
//// set algebra
function main() { return [[...new Set([1, 2]).union(new Set([3]))], new Set([1]).isSubsetOf(new Set([1, 2]))] }
//// copying
function main() { const o = { a: { b: 1 } }, shallow = { ...o }, deep = JSON.parse(JSON.stringify(o)); o.a.b = 2; return [shallow.a.b, deep.a.b, Object.assign({}, null, { x: 1 }), typeof structuredClone] }
//// labels, switch, comma
function main() { let n = 0; outer: for (let i = 0; i < 3; i++) { for (;;) { if (++n > 4) break outer; switch (i) { case 1: continue outer; default: break } break } } return [n, (1, 2), void 0] }
//// hoisting
function main() { return [typeof f, typeof v, (() => { try { return typeof late; let late } catch (e) { return e.name } })()]; var v = 1; function f() {} }
//// closures
function main() { const fs = []; for (let i = 0; i < 3; i++) fs.push(() => i); var gs = []; for (var j = 0; j < 3; j++) gs.push(() => j); return [fs.map((f) => f()), gs.map((g) => g())] }
//// sloppy this
function main() { return [(function () { return this === globalThis })(), (function () { "use strict"; return this })() === undefined, (() => typeof this)()] }
//// arguments and defaults
function main() { function f(a, b = a + 1, ...c) { return [a, b, c, arguments.length, f.length] } return f(1, undefined, 3, 4) }
//// eval and Function
function main() { const x = 1; return [eval("x + 1"), new Function("a", "return a * 2")(4), (0, eval)("typeof x")] }
//// with is there
function main() { with ({ a: 5 }) { return a } }
