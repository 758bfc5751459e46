// Prints the length in lines of each function of the TypeScript files named on standard input, one
// a line: LINES FILE:NAME. TypeScript 7 has no API of its parser, so this uses the grammar of the
// page's editor. A line with what it cannot parse is printed as "? FILE:LINE", as a function there
// may be measured wrongly.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(new URL("../../web/package.json", import.meta.url));
const { parser } = require("@lezer/javascript");
const parsers = { ts: parser.configure({ dialect: "ts" }), tsx: parser.configure({ dialect: "ts jsx" }) };
const kinds = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunction", "MethodDeclaration"]);

// unknown has what the grammar lacks and functions do not need. It is replaced by blanks, or by a
// type of the same length.
const unknown = [
  /(?<=\)\s*):\s*(?:asserts\s+)?\w+\s+is\s+[^=;{}]+?(?=\s*=>)/g, // the predicate of an arrow function
  /\btypeof\s+import\s*\(\s*"[^"]*"\s*\)/g,
  /(?<=^export \{[^}]*)\btype\s(?=\s*\w)/gm,
  /\?(?=\s*[,\]])/g, // [A?, B?]
  /(?<=^\s*\[this\.[^\]\n]*\]\s*)=(?=\s)/gm, // [this.a, this.b] = ...
  /(?<=^|\n)@\w+(\([^)\n]*\))?(?=\s)/g, // a decorator of a function in AssemblyScript
];
const blank = (text) => (text.startsWith("typeof") ? "any".padEnd(text.length) : text.replace(/[^\n]/g, " "));
const known = (text) => unknown.reduce((left, each) => left.replace(each, blank), text);

for (const file of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const text = known(readFileSync(file, "utf8"));
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  const lineOf = (at) => starts.findLastIndex((start) => start <= at) + 1;
  parsers[file.endsWith("x") ? "tsx" : "ts"].parse(text).iterate({
    enter(node) {
      if (node.type.isError) console.log(`? ${file}:${lineOf(node.from)}`);
      if (!isFunction(node.node)) return;
      const name = nameOf(node.node, text) || `line ${lineOf(node.from)}`;
      console.log(`${lineOf(node.to) - lineOf(node.from) + 1} ${file}:${name}`);
    },
  });
}

// isFunction reports functions and methods, those of an object literal too.
function isFunction(node) {
  return kinds.has(node.name) || (node.name === "Property" && node.getChild("ParamList") !== null);
}

// nameOf returns the name of a function, or of the variable or property that holds it.
function nameOf(node, text) {
  for (const kind of ["VariableDefinition", "PropertyDefinition", "PrivatePropertyDefinition"]) {
    for (const holder of [node, node.parent]) {
      const name = holder?.getChild(kind);
      if (name && name.from <= node.from + (holder === node ? node.to : 0)) return text.slice(name.from, name.to);
    }
  }
  return "";
}
