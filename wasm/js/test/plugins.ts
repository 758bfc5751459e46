// Guests for the tests of plugins: assembled or built by the Go program in
// testdata/plugin, packed with a manifest here.

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Manifest } from "../src/plugin/manifest.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** make assembles texts, builds examples, and writes the hostile modules into a folder. */
export function make(wanted: {
  wat?: Record<string, string>;
  examples?: string[];
  attacks?: string;
  programs?: boolean;
}): Record<string, Uint8Array<ArrayBuffer>> {
  const out = execFileSync("go", ["run", "./wasm/js/test/testdata/plugin"], {
    cwd: root,
    input: JSON.stringify(wanted),
    maxBuffer: 100 << 20,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const made = JSON.parse(out.toString()) as Record<string, string>;
  return Object.fromEntries(
    Object.entries(made).map(([name, text]) => [name, Uint8Array.from(Buffer.from(text, "base64"))]),
  );
}

/** goldens returns the golden messages of the contract with this prefix. */
export function goldens(prefix = ""): { file: string; valid: boolean; message: unknown }[] {
  const folder = `${root}plugins/contract/golden/`;
  return readdirSync(folder)
    .filter((file) => file.startsWith(prefix))
    .map((file) => ({
      file,
      ...(JSON.parse(readFileSync(folder + file, "utf8")) as { valid: boolean; message: unknown }),
    }));
}

/** pack adds a manifest to a module; fields override those of a minimal one. */
export function pack(wasm: Uint8Array, fields: Partial<Manifest> | string = {}): Uint8Array<ArrayBuffer> {
  const manifest = typeof fields === "string" ? fields
    : JSON.stringify({ abi: 1, name: "sample", version: "1.0.0", description: "A sample.", ...fields });
  const name = Buffer.from("easel.manifest");
  const body = Buffer.concat([leb(name.length), name, Buffer.from(manifest)]);
  return Uint8Array.from(Buffer.concat([wasm, Buffer.from([0]), leb(body.length), body]));
}

function leb(n: number): Buffer {
  const out: number[] = [];
  for (; n >= 0x80; n >>>= 7) out.push((n & 0x7f) | 0x80);
  return Buffer.from([...out, n]);
}
