// Prints the length in lines of each function of the TypeScript files named on standard input, one
// a line: LINES FILE:NAME. TypeScript 7 has no API of its parser, so this uses the grammar of the
// page's editor, which recovers from the few types that it does not know.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(new URL("../../web/package.json", import.meta.url));
const { parser } = require("@lezer/javascript");
const parsers = { ts: parser.configure({ dialect: "ts" }), tsx: parser.configure({ dialect: "ts jsx" }) };
const kinds = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunction", "MethodDeclaration"]);

for (const file of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const text = readFileSync(file, "utf8");
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  const lineOf = (at) => starts.findLastIndex((start) => start <= at) + 1;
  parsers[file.endsWith("x") ? "tsx" : "ts"].parse(text).iterate({
    enter(node) {
      if (!kinds.has(node.name)) return;
      const name = nameOf(node.node, text) || `line ${lineOf(node.from)}`;
      console.log(`${lineOf(node.to) - lineOf(node.from) + 1} ${file}:${name}`);
    },
  });
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
