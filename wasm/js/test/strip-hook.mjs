import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { transform } from "esbuild";

export async function load(url, context, next) {
  if (!/\.tsx?$/.test(url)) return next(url, context);
  const source = await readFile(fileURLToPath(url), "utf8");
  const { code } = await transform(source, {
    loader: url.endsWith("x") ? "tsx" : "ts",
    format: "esm",
    target: "node20",
    sourcemap: "inline",
    sourcefile: fileURLToPath(url),
    jsx: "automatic",
  });
  return { format: "module", source: code, shortCircuit: true };
}

// The package's own name leads to its sources, as tsconfig has it for tsc and esbuild.
export async function resolve(specifier, context, next) {
  const own = /^@easel\/engine(?:\/(.+))?$/.exec(specifier);
  if (!own) return next(specifier, context);
  return { url: new URL(`../src/${own[1] ?? "browser"}.ts`, import.meta.url).href, shortCircuit: true };
}
