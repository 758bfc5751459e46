// The hostile modules of the Go host's TestAttacksAreBounded, each in a separate engine: what one
// costs a page is bounded too.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "./module.ts";
import type { Cost } from "./plugin.attack.ts";
import { make, pack } from "./plugins.ts";

interface Attack {
  name: string;
  file: string;
  fields?: { limits?: object };
  codes: string[];
}

const seconds = 10;
const mb = 512;
const folder = mkdtempSync(join(tmpdir(), "easel-attacks-"));
make({ attacks: folder });
const attacks = JSON.parse(readFileSync(join(folder, "attacks.json"), "utf8")) as Attack[];

describe("an attack in a page", { timeout: 1_200_000 }, () => {
  const built = build();
  const table: string[] = [];
  after(() => {
    console.log(table.join("\n"));
    built.remove();
    rmSync(folder, { recursive: true });
  });
  // A page does not call easel_describe.
  for (const { name, file, fields, codes } of attacks.filter(({ name }) => !name.startsWith("a description"))) {
    test(name, () => {
      writeFileSync(file, pack(readFileSync(file), fields));
      const program = fileURLToPath(new URL("plugin.attack.ts", import.meta.url));
      const strip = new URL("strip.mjs", import.meta.url).href;
      const args = ["--import", strip, program, file, built.wasm, fileURLToPath(built.runtime)];
      const out = execFileSync(process.execPath, args);
      const cost = JSON.parse(out.toString()) as Cost;
      table.push(`${name} | ${cost.seconds.toFixed(2)} s | ${cost.mb.toFixed(0)} MB | ${cost.code}`);
      assert.ok(codes.includes(cost.code), `${cost.code}: ${cost.message.slice(0, 300)}`);
      assert.ok(cost.message.length < 8 << 10, `${cost.message.length} characters`);
      assert.ok(cost.seconds < seconds, `${cost.seconds} s`);
      assert.ok(cost.mb < mb, `${cost.mb} MB`);
    });
  }
});
