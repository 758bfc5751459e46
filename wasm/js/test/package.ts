// Packs the package as it is published, and installs it into an empty folder.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "./module.ts";

const here = fileURLToPath(new URL("../", import.meta.url));
const root = fileURLToPath(new URL("../../../", import.meta.url));

/** Installed is a folder with the package in its node_modules. */
export interface Installed {
  folder: string;
  /** The package itself. */
  home: string;
  /** Paths in the tarball. */
  files: string[];
  remove(): void;
}

/** install builds, packs and installs, without a network. */
export function install(): Installed {
  const folder = mkdtempSync(join(tmpdir(), "easel-package-"));
  const built = build();
  const run = (command: string, args: string[], cwd: string): string =>
    execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
  try {
    run("go", ["run", "./build/bundle", "-only", "package", "-wasm", dirname(built.wasm)], root);
    const [{ filename, files }] = JSON.parse(
      run("npm", ["pack", "--json", "--loglevel=error", "--pack-destination", folder], here),
    ) as [{ filename: string; files: { path: string }[] }];
    writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
    run("npm", ["install", "--offline", "--no-audit", "--no-fund", "--loglevel=error", join(folder, filename)], folder);
    return {
      folder,
      home: join(folder, "node_modules/@easel/engine"),
      files: files.map(({ path }) => path),
      remove: () => rmSync(folder, { recursive: true }),
    };
  } finally {
    built.remove();
  }
}

/** readme returns the first program of the README. */
export function readme(): string {
  const [, program] = /```js\n([^]*?)```/.exec(readFileSync(join(here, "README.md"), "utf8")) ?? [];
  if (!program) throw new Error("the README has no program");
  return program;
}

/** write writes a file to a folder. */
export function write(folder: string, name: string, text: string): string {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}
