//// an async main
async function main() { await null; return "late" }
//// order of jobs
async function main() { const log = []; setTimeout(() => log.push("timer"), 0); Promise.resolve().then(() => log.push("job")); log.push("now"); await new Promise((r) => setTimeout(r, 5)); return log }
//// combinators
async function main() { const fail = Promise.reject(new Error("no")), ok = Promise.resolve(1); return [await Promise.allSettled([fail, ok]).then((l) => l.map((s) => s.status)), await Promise.any([fail, ok]), await Promise.race([ok, fail]), await Promise.all([ok, 2])] }
//// a rejection
async function main() { throw new TypeError("rejected") }
//// a rejection that is caught
async function main() { try { await Promise.reject(new RangeError("x")) } catch (e) { return e.name } finally { console.log("finally") } }
//// all fail
async function main() { try { await Promise.any([Promise.reject(1)]) } catch (e) { return [e.name, e.errors] } }
//// timers in order
async function main() { const log = []; const wait = (ms, t) => new Promise((r) => setTimeout(() => { log.push(t); r() }, ms)); await Promise.all([wait(20, "c"), wait(1, "a"), wait(10, "b")]); return log }
//// a timer that is cleared
async function main() { let n = 0; const t = setTimeout(() => n++, 1); clearTimeout(t); await new Promise((r) => setTimeout(r, 10)); return n }
//// arguments of a timer
async function main() { return await new Promise((r) => setTimeout((a, b) => r(a + b), 1, 2, 3)) }
//// never settled
function main() { return new Promise(() => {}) }
//// a thenable
async function main() { return await { then: (r) => r("thenable") } }
//// main returns a promise of a promise
function main() { return Promise.resolve(Promise.resolve({ deep: 1 })) }
//// loops over promises
async function main() { const out = []; for await (const x of [Promise.resolve(1), 2]) out.push(x); return out }
//// async generators
async function* g() { yield 1; await null; yield* [2, 3] }
async function main() { const out = []; for await (const x of g()) out.push(x); return out }
//// withResolvers
async function main() { const { promise, resolve } = Promise.withResolvers(); resolve(7); return promise }
//// other clocks are not there
function main() { return [typeof setInterval, typeof queueMicrotask, typeof requestAnimationFrame, typeof performance] }
