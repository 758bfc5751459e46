// Runs the test cases of a plugin in Node: the program that `easel plugin test` starts. It reads
// one Task as JSON from stdin and writes one Played for each case to stdout. The file is examined
// and metered; responses to its requests come from the case.

import { readFileSync } from "node:fs";
import type { RunSide, Storage } from "./desk.ts";
import { Plugin, type Examined } from "./plugin.ts";
import { inline } from "./inline.ts";
import type { Pinned } from "./kernel/guest.ts";

/** Task is a plugin with its cases. Bytes are in base64. */
interface Task {
  file: string;
  examined: Omit<Examined, "wasm"> & { wasm: string };
  pinned: Pinned;
  cases: Case[];
}

interface Case {
  export: string;
  input: string;
  timeout: number;
  secret_mark: string;
  http?: { url?: string; status?: number; headers?: Record<string, string>; body?: string }[];
  chat?: string[];
  values?: Record<string, string>;
  variables?: Record<string, unknown>;
  secrets?: Record<string, string>;
}

/** Played is the result of a case; an error has a code, an output is base64. */
interface Played {
  output?: string;
  code?: string;
  message?: string;
  fuel: number;
  memory: number;
  emitted: string;
  emits: number;
}

const bytes = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(Buffer.from(text, "base64"));

async function play(task: Task, c: Case): Promise<Played> {
  const file = bytes(task.file);
  const plugin = await Plugin.load(file, async () => ({ ...task.examined, wasm: bytes(task.examined.wasm) }), inline, {
    pinned: task.pinned, kv: storage(c.values ?? {}), fetch: web(c), secrets: c.secrets ?? {},
    embed: (texts) => texts.map((text) => [Buffer.byteLength(text)]),
  });
  const played: Played = { fuel: 0, memory: 0, emitted: "", emits: 0 };
  const outcome = await plugin.call({
    export: c.export,
    input: bytes(c.input),
    timeout: c.timeout,
    secretMark: c.secret_mark,
    run: "kit",
    side: side(c, played),
  });
  played.fuel = outcome.fuel;
  played.memory = outcome.memory;
  if (outcome.error) return { ...played, code: outcome.error.code, message: outcome.error.message };
  return { ...played, output: Buffer.from(outcome.output ?? []).toString("base64") };
}

function side(c: Case, played: Played): RunSide {
  const variables = { ...c.variables };
  let chats = 0;
  const said = (text: string): void => {
    played.emits++;
    played.emitted += text;
  };
  return async (op, given) => {
    const args = given as { kind?: number; text?: string; name?: string; value?: unknown; stream?: boolean };
    switch (op) {
      case "emit": said(args.kind === 1 ? args.text ?? "" : ""); return { ok: {} };
      case "var.get": return { ok: { found: args.name! in variables, value: variables[args.name!] ?? null } };
      case "var.set": variables[args.name!] = args.value; return { ok: {} };
      default: {
        const text = c.chat?.[Math.min(chats++, c.chat.length - 1)];
        if (text === undefined)
          return { error: { code: "upstream", message: "the case has no answer of a model", retryable: true } };
        if (args.stream) said(text);
        return { ok: { text, usage: { prompt_tokens: 0, completion_tokens: 0 } } };
      }
    }
  };
}

function web(c: Case): typeof globalThis.fetch {
  let asked = 0;
  return async (address, init) => {
    const fit = (c.http ?? []).filter(({ url = "" }) => String(address).includes(url));
    const answer = fit[Math.min(asked, fit.length - 1)];
    if (!answer) throw new Error(`the case has no answer for ${init?.method} ${String(address)}`);
    asked++;
    const status = answer.status ?? 200;
    const body = [204, 205, 304].includes(status) ? null : new TextEncoder().encode(answer.body ?? "");
    return new Response(body, { status, headers: answer.headers });
  };
}

function storage(values: Record<string, string>): Storage {
  const map = new Map(Object.entries(values));
  return {
    get: (key) => map.get(key),
    set: (key, value) => map.set(key, value),
    delete: (key) => map.delete(key),
    keys: () => map.keys(),
  };
}

const task = JSON.parse(readFileSync(0, "utf8")) as Task;
const all: Played[] = [];
for (const c of task.cases) all.push(await play(task, c));
process.stdout.write(JSON.stringify(all));
