// Measures plugins: the cost of a call, of stopping a plugin, of loading one and of waiting for
// the host, in this Node and in Chromium. Run: node --import ./test/strip.mjs
// test/measure/plugin.ts

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { buildSync } from "esbuild";
import { Client } from "../../src/client.ts";
import { platform } from "../../src/platform.node.ts";
import { inline } from "../../src/plugin/inline.ts";
import { Plugin } from "../../src/plugin/plugin.ts";
import { examineWith } from "../../src/plugin/shelf.ts";
import { missing, raise } from "../browser/stage.ts";
import type { Plugins } from "../browser/plugin.page.ts";
import { guest, imports } from "../guests.ts";
import { build } from "../module.ts";
import { make, pack } from "../plugins.ts";

declare const plugins: Plugins;

const built = build();
const folder = mkdtempSync(join(tmpdir(), "easel-measure-"));
const made = make({
  wat: {
    echo: `(module${imports}(func (export "easel_invoke") (result i32) (local $n i32)
		call $input_len local.set $n local.get $n i32.const 65535 i32.add i32.const 16 i32.shr_u memory.size i32.sub local.tee $n
		i32.const 0 i32.gt_s if local.get $n memory.grow drop end
		call $input_len local.set $n i32.const 0 i32.const 0 local.get $n call $input_read call $output_write i32.const 0))`,
    spin: guest("spin"),
    waits: guest(...Array.from({ length: 50 }, () => `call {"op":"kv.get","args":{"key":"a"}}`)),
  },
  examples: ["weather"],
});
const client = new Client();
const connection = await platform({ wasm: built.wasm, runtime: built.runtime, worker: false })(client, () => undefined);
client.attach(connection.module);
const examine = examineWith((request, body) => client.request(request, body));

const median = (list: number[]): number => list.sort((a, b) => a - b)[list.length >> 1]!;
async function timed(n: number, work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < n; i++) {
    const began = performance.now();
    await work();
    times.push(performance.now() - began);
  }
  return median(times);
}
const say = (what: string, value: string): void => console.log(what.padEnd(58), value);
const ms = (value: number): string => `${value.toFixed(value < 10 ? 3 : 0)} ms`;

const kernel = buildSync({
  entryPoints: [fileURLToPath(new URL("../../src/plugin/kernel.browser.ts", import.meta.url))],
  bundle: true,
  minify: true,
  format: "esm",
  write: false,
}).outputFiles[0]!.contents;
say(
  "kernel, minified / gzip / brotli",
  `${kernel.length} / ${gzipSync(kernel, { level: 9 }).length} / ${brotliCompressSync(kernel).length} bytes`,
);

const large = made["weather"]!; // a Go plugin; its manifest does not matter here
let began = performance.now();
await examine(pack(large), {});
const megabytes = (large.length / 2 ** 20).toFixed(1);
say(`examine a Go plugin of ${megabytes} MB through the engine module`, ms(performance.now() - began));
began = performance.now();
await Plugin.load(pack(made["echo"]!), examine, inline);
say("load a small plugin", ms(performance.now() - began));

for (const way of ["replay"] as const) {
  const plugin = await Plugin.load(pack(made["echo"]!, { limits: { memory_mb: 16 } }), examine, inline, { way });
  for (const [name, size, n] of [["1 KB", 1 << 10, 300], ["1 MB", 1 << 20, 30]] as const) {
    const input = new Uint8Array(size).fill(120);
    say(`Node, ${way}: echo ${name}`, ms(await timed(n, () => plugin.call({ input }))));
  }
  const packed = pack(made["waits"]!, { permissions: { kv: { bytes: 10, reason: "x" } } });
  const waits = await Plugin.load(packed, examine, inline, { way, grant: "asked" });
  say(
    `Node, ${way}: 50 questions to the host in one call`,
    ms(await timed(20, () => waits.call({ input: "", side: async () => ({ ok: {} }) }))),
  );
  const spin = await Plugin.load(pack(made["spin"]!), examine, inline, { way });
  say(
    `Node, ${way}: a plugin that computes, deadline 100 ms, ends after`,
    ms(await timed(5, () => spin.call({ input: "", timeout: 100 }))),
  );
}

if (!missing) {
  const files: Record<string, string> = { "engine.wasm": built.wasm, "wasm_exec.js": fileURLToPath(built.runtime) };
  for (const name of ["echo", "waits", "spin"]) {
    files[name] = join(folder, name);
    writeFileSync(
      files[name]!,
      pack(made[name]!, {
        limits: { memory_mb: 16 },
        ...(name === "waits" && { permissions: { kv: { bytes: 10, reason: "x" } } }),
      }),
    );
  }
  const stage = await raise(
    ["plugin.page.ts", "../../src/worker.browser.ts", "../../src/plugin/kernel.browser.ts"],
    files,
  );
  const { page } = await stage.open();
  for (const way of ["suspend", "replay"] as const) {
    for (const [name, took] of Object.entries(await page.evaluate((way) => plugins.measure(way), way)))
      say(`Chromium in a Worker, ${way}: echo ${name}`, ms(took));
    const waited = (await page.evaluate(
      (way) =>
        plugins.call(
          "waits",
          way,
          Array.from({ length: 20 }, () => ({})),
        ),
      way,
    )) as { took: number }[];
    say(`Chromium in a Worker, ${way}: 50 questions in one call`, ms(median(waited.map(({ took }) => took))));
    const spun = (await page.evaluate(
      (way) =>
        plugins.call(
          "spin",
          way,
          Array.from({ length: 5 }, () => ({ timeout: 100 })),
        ),
      way,
    )) as { took: number }[];
    say(
      `Chromium in a Worker, ${way}: computes, deadline 100 ms, ends after`,
      ms(median(spun.map(({ took }) => took))),
    );
  }
  await stage.close();
}
rmSync(folder, { recursive: true });
connection.end();
built.remove();
