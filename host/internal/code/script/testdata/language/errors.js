//// a member of nothing
function main() { const o = null; return o.x }
//// a name that is not there
function main() { return nowhere }
//// no function
function main() { const x = 5; x() }
//// an assignment to a constant
function main() { const x = 1; x = 2 }
//// thrown by hand
function main() { throw new Error("by hand") }
//// a thrown text
function main() { throw "just text" }
//// a thrown object
function main() { throw { code: 7 } }
//// a kind of one's own
class Mine extends Error { constructor(m) { super(m); this.name = "MineError" } }
function main() { throw new Mine("own") }
//// with a cause
function main() { const e = new Error("outer", { cause: new TypeError("inner") }); return [e.cause.name, e.message, e instanceof Error, String(e), Object.keys(e)] }
//// kinds
function main() { return [() => null.x, () => nowhere, () => [].length = -1, () => decodeURIComponent("%"), () => eval("("), () => (1).toFixed(101)].map((f) => { try { f(); return "none" } catch (e) { return e.name } }) }
//// finally wins
function main() { const f = () => { try { throw 1 } catch { return "catch" } finally { return "finally" } }; return f() }
//// a syntax error
function main( {
//// a syntax error in strict code
"use strict"; function main() { return 010 }
//// words of modules
export function main() { return 1 }
//// no main
let x = 1
//// main is no function
const main = 5
//// thrown before main
throw new Error("early"); function main() {}
//// recursion without end
function main() { return main() + 1 }
//// recursion that ends
function main() { const f = (n) => (n === 0 ? 0 : 1 + f(n - 1)); return f(1000) }
//// caught recursion
function main() { let n = 0; const f = () => { n++; f() }; try { f() } catch (e) { return [e instanceof RangeError, n > 500] } }
//// the stack names functions
function main() { function inner() { throw new Error("x") } try { inner() } catch (e) { return [typeof e.stack, e.stack.includes("inner")] } }
