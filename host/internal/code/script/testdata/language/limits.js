//// a loop without end
function main() { for (;;) {} }
//// a loop before main
for (;;) {}
//// a timer that comes too late
const main = () => new Promise((r) => setTimeout(r, 1e6))
//// a list without end
function main() { const a = []; for (;;) a.push("x".repeat(1000) + a.length) }
//// a text that doubles
function main() { let s = "xy"; for (;;) s += s }
//// a huge result
function main() { return "x".repeat(9000000) }
//// few objects, endless text
function main() { let a = [1]; for (let i = 0; i < 50; i++) a = [a, a]; return a }
//// a loop that catches
function main() { for (;;) { try { for (;;) {} } catch {} } }
//// jobs without end
async function main() { for (;;) await null }
