// The scripts of the server's interpreter (host/internal/code/script), here in the sandbox of
// the page. Their results are those recorded there, or one of the listed
// differences, each with the result of the sandbox.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import variant from "@jitl/quickjs-wasmfile-release-sync";
import { newQuickJSWASMModuleFromVariant, newVariant, type QuickJSWASMModule } from "quickjs-emscripten-core";
import { memoryOf, runScript, spoilt } from "../src/code/sandbox.ts";
import { EngineError } from "../src/errors.ts";

interface Outcome {
  result?: string;
  stdout?: string;
  stderr?: string;
  error?: string;
}

const folder = new URL("../../../host/internal/code/script/testdata/language/", import.meta.url);
const results = JSON.parse(readFileSync(new URL("results.json", folder), "utf8")) as Record<string, Outcome>;
const differences = JSON.parse(readFileSync(new URL("differences.json", folder), "utf8")) as Record<
  string,
  { why: string; here: Outcome }
>;

interface Piece {
  name: string;
  args: Record<string, unknown>;
  script: string;
}

const pieces: Piece[] = readdirSync(folder).filter((file) => file.endsWith(".js")).flatMap((file) =>
  ("\n" + readFileSync(new URL(file, folder), "utf8")).split("\n//// ").slice(1).map((part) => {
    const cut = part.indexOf("\n");
    const [name = "", args = "{}"] = part.slice(0, cut).split(" :: ");
    return {
      name: `${file.slice(0, -3)}: ${name}`,
      args: JSON.parse(args) as Record<string, unknown>,
      script: part.slice(cut + 1),
    };
  }));

async function run(quickjs: QuickJSWASMModule, { name, args, script }: Piece): Promise<Outcome> {
  const timeout = name.startsWith("limits:") && !/repeat|\+=/.test(script) ? 1_000 : 60_000;
  try {
    const { result, stdout, stderr } = await runScript(quickjs, {
      lang: "javascript",
      script,
      arguments: args,
      timeout,
    });
    // As in the engine: an error of the script itself is reported like a result.
    const kind = stderr.replace(/^(\w*Error)\b[^]*|( at |\n\s*at )[^]*/m, "$1").trimEnd();
    return Object.fromEntries(
      Object.entries({ result: JSON.stringify(result), stdout, stderr: kind }).filter(([, text]) => text !== ""),
    );
  } catch (err) {
    if (!(err instanceof EngineError)) throw err;
    return { error: err.code === "timeout" || err.code === "limit_reached" ? "limit" : err.message };
  }
}

describe("the language of scripts", () => {
  const zone = process.env["TZ"];
  let quickjs: QuickJSWASMModule;
  before(() => { process.env["TZ"] = "UTC"; });
  after(() => { process.env["TZ"] = zone; });

  for (const piece of pieces) {
    test(piece.name, async () => {
      if (!quickjs || spoilt.has(quickjs)) {
        quickjs = await newQuickJSWASMModuleFromVariant(newVariant(variant, { wasmMemory: memoryOf(32 << 20) }));
      }
      const there = results[piece.name];
      assert.ok(
        there,
        "not run by the server's interpreter: go test ./host/internal/code/script -run TestLanguage -update",
      );
      const here = await run(quickjs, piece);
      const listed = differences[piece.name];
      if (process.env["EASEL_DIFFERENCES"])
        return void (
          JSON.stringify(here) !== JSON.stringify(there) &&
          console.error(JSON.stringify({ [piece.name]: { there, here } }))
        );
      if (listed) assert.notDeepEqual(here, there, "they agree: take it from the list");
      assert.deepEqual(here, listed ? listed.here : there);
    });
  }

  test("every listed difference belongs to a script and is in the README", () => {
    const names = new Set(pieces.map(({ name }) => name));
    const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
    for (const [name, { why }] of Object.entries(differences)) {
      assert.ok(names.has(name), name);
      assert.ok(why.length > 10 && readme.includes(`| ${why} |`), `the README does not tell: ${why}`);
    }
    assert.ok(pieces.length > 60);
  });
});
