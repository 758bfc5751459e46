//// a function
function main(a) { return a } 
//// an arrow
const main = ({ x = 1 }) => x
//// with let
let main = function () { return "let" }
//// with var
var main = () => "var"
//// exported
module.exports = { main: () => "exported" }
//// exported whole
module.exports = () => "whole"
//// exports
exports.main = (a) => ["exports", a] 
//// main before exports
module.exports = () => "no"; function main() { return "main" }
//// arguments :: {"text": "grüß", "n": 2, "list": [1, {"a": null}], "no": false}
function main({ text, n, list, no }, second) { return { text: text + n, list, no, second: second === undefined } }
//// no arguments
function main(a) { return [typeof a, Object.keys(a)] }
//// this
function main() { return this === undefined || this === globalThis }
//// printed, not returned
function main() { console.log("a", 1, true, null, undefined, { b: [1, "x"] }, [], "%s"); console.info("i"); console.debug("d") }
//// warnings
function main() { console.warn("careful", { a: 1 }); console.error("bad"); return 1 }
//// printing odd things
function main() { console.log(() => 1, Symbol("s"), 1n, new Error("e"), -0, NaN, new Map(), new Date(0)); console.log() }
//// require
const fs = require("fs"); function main() {}
//// strict script
"use strict"; function main() { undeclared = 1 }
//// a result of every kind
function main() { return [true, null, "s", 1, 1.5, [], {}, ""] }
//// a text
function main() { return "plain" }
//// comments at the end
function main() { return 1 } // done
//// html comments
function main() { return 2 } <!-- old
