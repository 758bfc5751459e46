//// values in and out
function* g() { const a = yield 1; try { yield a * 2 } finally { yield "cleanup" } }
function main() { const i = g(); return [i.next(), i.next(5), i.return("x"), i.next(), i.next()] }
//// throwing into
function* g() { try { yield 1 } catch (e) { yield "caught " + e } }
function main() { const i = g(); i.next(); return [i.throw("x"), i.next()] }
//// delegating
function* inner() { const x = yield "a"; return x } function* outer() { const r = yield* inner(); yield r }
function main() { const i = outer(); return [i.next().value, i.next(9).value, i.next().done] }
//// endless, cut
function* naturals() { for (let n = 0; ; n++) yield n }
function main() { const out = []; for (const n of naturals()) { if (n > 4) break; out.push(n) } return out }
//// own iterators
function main() { const r = { *[Symbol.iterator]() { yield* "ab" } }; return [[...r], Math.max(...[1, 2]), Array.from(r), Object.fromEntries([["k", 1]])] }
//// helpers of iterators
function main() { return [...[1, 2, 3].values().map((x) => x * 2).filter((x) => x > 2).take(1)] }
