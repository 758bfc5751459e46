// The page's player and comparator return the verdicts of `easel test`: for the conformance cases
// of the engine, with their own canvas, with changed canvases and with changed expectations.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { isObject } from "../canvas/dsl.ts";
import { obstacle, readCase, writeCase, type Case } from "../run/cases/case.ts";
import { compare } from "../run/cases/compare.ts";
import { expectation } from "../run/cases/expect.ts";
import { play } from "../run/cases/play.ts";
import { engine } from "./offline.ts";
import { specs } from "./specs.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = new URL("../../engine/testdata/cases/", import.meta.url);
const known = (name: string): boolean => specs.has(name);

/** Verdict is a line of `easel test --json`. */
interface Verdict {
  file: string;
  passed: boolean;
  differences: string[];
}

/** Tried is a case, or a changed one. */
interface Tried {
  name: string;
  body: string;
}

const cases: Tried[] = readdirSync(folder)
  .filter((name) => name.endsWith(".json"))
  .sort()
  .map((name) => ({ name: name.slice(0, -".json".length), body: readFileSync(new URL(name, folder), "utf8") }));

const played = cases.filter(({ body }) => {
  const each = readCase(body);
  return obstacle(each, each.dsl, known) === undefined;
});

/** Changed is a parsed case that a mutation changes. */
type Changed = Record<string, unknown>;

// strings lists the literal texts of a value, as functions that change them.
function strings(value: unknown): (() => void)[] {
  if (!isObject(value) && !Array.isArray(value)) return [];
  const holder = value as Record<string, unknown>;
  return Object.entries(holder).flatMap(([name, each]) => {
    if (name.startsWith("$") || ["component_id", "component_name", "event"].includes(name)) return [];
    return typeof each === "string" ? [() => { holder[name] = `${each} changed`; }] : strings(each);
  });
}

function paramsOf(parsed: Changed): unknown[] {
  const components = (parsed["dsl"] as Changed)["components"];
  return Object.values(isObject(components) ? components : {})
    .map((entry) => ((entry as Changed)["obj"] as Changed | undefined)?.["params"]);
}

// cutEdge removes the first edge of a node.
function cutEdge(parsed: Changed, nth: number): boolean {
  const components = Object.values((parsed["dsl"] as Changed)["components"] as Changed);
  const entry = components.filter((each) => ((each as Changed)["downstream"] as unknown[] | undefined)?.length)[nth];
  if (!isObject(entry)) return false;
  entry["downstream"] = (entry["downstream"] as unknown[]).slice(1);
  return true;
}

// mutants returns changed copies of a case: texts of params, an edge, texts of the expectation.
function mutants({ name, body }: Tried): Tried[] {
  const made: Tried[] = [];
  const add = (mark: string, change: (parsed: Changed) => boolean): void => {
    const parsed = JSON.parse(body) as Changed;
    if (change(parsed)) made.push({ name: `${name}~${mark}`, body: JSON.stringify(parsed) });
  };
  const nth = (count: number, find: (parsed: Changed) => (() => void)[]) => (parsed: Changed): boolean => {
    const found = find(parsed);
    const act = found[Math.floor((found.length * count) / 3)];
    act?.();
    return act !== undefined;
  };
  for (const count of [0, 1, 2]) {
    add(`param${count}`, nth(count, (parsed) => paramsOf(parsed).flatMap(strings)));
    add(`want${count}`, nth(count, (parsed) =>
      (parsed["runs"] as Changed[]).flatMap(
        ({ events, llm_calls, dsl_after }) => strings({ events, llm_calls, dsl_after }))));
  }
  add("edge0", (parsed) => cutEdge(parsed, 0));
  add("edge1", (parsed) => cutEdge(parsed, 1));
  return made;
}

// verdicts runs `easel test` on all.
function verdicts(easel: string, all: Tried[]): Map<string, Verdict> {
  const dir = mkdtempSync(join(tmpdir(), "cases-"));
  try {
    for (const { name, body } of all) writeFileSync(join(dir, `${name}.json`), body);
    const { stdout, stderr } = spawnSync(easel, ["test", dir, "--json"], { encoding: "utf8", maxBuffer: 256 << 20 });
    const lines = stdout.trimEnd().split("\n").map((line) => JSON.parse(line) as Verdict & { name: string });
    assert.equal(lines.length, all.length, stderr);
    return new Map(lines.map((line) => [line.name, line]));
  } finally {
    rmSync(dir, { recursive: true });
  }
}

async function verdict(each: Case): Promise<string[] | undefined> {
  const seen = await play(each, each.canvas, { engine });
  if (seen.obstacle) return undefined;
  return compare(each, seen).map((found) => JSON.stringify(found));
}

describe("cases in the page", { timeout: 1_200_000 }, () => {
  let easel: string;
  const home = mkdtempSync(join(tmpdir(), "easel-cases-"));
  before(() => {
    mkdirSync(home, { recursive: true });
    easel = join(home, "easel");
    const stdio = ["ignore", "ignore", "inherit"] as const;
    execFileSync("go", ["build", "-o", easel, "./host/cmd/easel"], { cwd: root, stdio: [...stdio] });
  });
  after(() => rmSync(home, { recursive: true }));

  async function agrees(all: Tried[]): Promise<{ passed: number; failed: string[]; skipped: number }> {
    const expected = verdicts(easel, all);
    const counts = { passed: 0, failed: [] as string[], skipped: 0 };
    const wrong: unknown[] = [];
    for (const { name, body } of all) {
      const want = expected.get(name) as Verdict;
      const found = await verdict(readCase(body));
      if (!found) {
        counts.skipped++;
        continue;
      }
      if (found.length === 0) counts.passed++;
      else counts.failed.push(`${name}: ${want.differences.join("; ")}`);
      if (found.length !== want.differences.length) wrong.push({ name, page: found, easel: want.differences });
    }
    assert.deepEqual(wrong, []);
    return counts;
  }

  test("the conformance cases pass, as with easel test", async () => {
    const counts = await agrees(played);
    assert.deepEqual(counts.failed, []);
    assert.ok(counts.passed > 180, JSON.stringify(counts));
  });

  test("changed canvases and expectations get the verdicts and differences of easel test", async () => {
    const counts = await agrees(played.flatMap(mutants));
    assert.ok(counts.passed > 100 && counts.failed.length > 600, `${counts.passed} and ${counts.failed.length}`);
  });

  test("what is expected of an observation is met by it, in the page and with easel test", async () => {
    const recorded: Tried[] = [];
    for (const { name, body } of played) {
      const each = readCase(body);
      const seen = await play(each, each.canvas, { engine });
      if (seen.obstacle) continue;
      const inputs = [
        "kwargs", "llm_script", "fallback", "fresh", "reset_before", "retrieval", "blobs", "tools", "servers",
        "llm_calls_unordered",
      ];
      const runs = each.runs.map((run, i) => ({
        ...Object.fromEntries(Object.entries(run).filter(([member]) => inputs.includes(member))),
        ...expectation(seen.runs[i] ?? {}),
      }));
      recorded.push({ name, body: writeCase({ ...each, runs }) });
    }
    const counts = await agrees(recorded);
    assert.deepEqual(counts.failed, []);
  });
});
