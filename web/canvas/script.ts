// Scripts of a canvas: the line that failed, and the text that a new one begins with.

/** failingLine returns the line of a script that the text of an error names, from 1. */
export function failingLine(error: string): number | undefined {
  // The innermost call is last in Python, first in JavaScript.
  const python = [...error.matchAll(/File "main\.py", line (\d+)/g)].at(-1);
  const [, line] = python ?? /\bscript\.js:(?: Line )?(\d+)/.exec(error) ?? [];
  return line === undefined ? undefined : Number(line);
}

/** skeleton returns a script with a function that gets these inputs. */
export function skeleton(language: "python" | "javascript", inputs: readonly string[]): string {
  const names = inputs.filter((name) => /^[A-Za-z_]\w*$/.test(name)).join(", ");
  const result = names === "" ? (language === "python" ? "None" : "null") : names.split(", ")[0];
  if (language === "python") return `def main(${names}):\n    return ${result}\n`;
  return `function main(${names === "" ? "" : `{ ${names} }`}) {\n  return ${result};\n}\n`;
}
