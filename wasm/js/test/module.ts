// Builds the real engine module for tests, once per process.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** Built is a module with the script of its Go runtime. */
export interface Built {
  wasm: string;
  runtime: URL;
  remove(): void;
}

/** build makes the module as it is shipped, with further build tags of Go. */
export function build(tags = ""): Built {
  const folder = mkdtempSync(join(tmpdir(), "easel-"));
  execFileSync("go", ["run", "./build/module", "-only", "js", "-tags", tags, "-out", folder], {
    cwd: root,
    stdio: ["ignore", "ignore", "inherit"],
  });
  // Go's script is a classic script; in a folder without package.json Node loads it as one.
  return {
    wasm: join(folder, "engine.wasm"),
    runtime: pathToFileURL(join(folder, "wasm_exec.js")),
    remove: () => rmSync(folder, { recursive: true }),
  };
}
