// A real `easel serve` in its own folder, for tests of the page as a host serves it.

import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** root is the repository. */
export const root = fileURLToPath(new URL("../../../", import.meta.url));

/** Served is a running host. */
export interface Served {
  /** A temporary folder with the program. */
  folder: string;
  program: string;
  address: string;
  /** An API key without limits. */
  key: string;
  /** Signs in once. */
  link: string;
  close(): Promise<void>;
}

/** serveHost builds the program and starts it on a free port, with further flags. */
export async function serveHost(...more: string[]): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), "easel-page-"));
  const program = build(folder, "easel", "./host/cmd/easel");
  const host = await start(folder, program, ["--data", join(folder, "data"), ...more]);
  return { ...host, close: () => host.close().then(() => rmSync(folder, { recursive: true, force: true })) };
}

/** Clocked is a host whose clock a test moves. */
export interface Clocked extends Served {
  /** later stops the host and starts it on the same data, some hours after now. */
  later(hours: number): Promise<void>;
}

/** serveClocked is serveHost for tests of what becomes of data with time. */
export async function serveClocked(): Promise<Clocked> {
  const folder = mkdtempSync(join(tmpdir(), "easel-page-"));
  const program = build(folder, "easel", "./host/cmd/easel", "-overlay", movedClock(folder));
  const flags = ["--data", join(folder, "data")];
  const first = await start(folder, program, flags);
  const host: Clocked = {
    ...first,
    later: async (hours) => {
      await served();
      const ahead = { EASEL_TEST_LATER: String(hours * 3600) };
      const again = [...flags, "--addr", new URL(first.address).host];
      served = (await start(folder, program, again, first.key, ahead)).close;
    },
  };
  let served = host.close;
  host.close = () => served().then(() => rmSync(folder, { recursive: true, force: true }));
  return host;
}

/**
 * movedClock returns the overlay of a build whose clock is EASEL_TEST_LATER seconds ahead. The
 * program has no such option: its data are never written at another time than now.
 */
function movedClock(folder: string): string {
  const goroot = execFileSync("go", ["env", "GOROOT"], { cwd: root, encoding: "utf8" }).trim();
  const [clock, now] = [join(goroot, "src/time/time.go"), "sec, nsec, mono := runtimeNow()\n\tif mono == 0"];
  const source = readFileSync(clock, "utf8");
  if (!source.includes(now)) throw new Error(`${clock}: Now has changed`);
  const [moved, ahead] = [join(folder, "time.go"), join(folder, "ahead.go")];
  writeFileSync(moved, source.replace(now, now.replace("\n", "\n\tsec += ahead\n")));
  writeFileSync(ahead, `package time

import "syscall"

var ahead = func() (n int64) {
	text, _ := syscall.Getenv("EASEL_TEST_LATER")
	for _, digit := range text {
		n = 10*n + int64(digit-'0')
	}
	return n
}()
`);
  const overlay = join(folder, "overlay.json");
  writeFileSync(overlay, JSON.stringify({ Replace: { [clock]: moved, [join(goroot, "src/time/ahead.go")]: ahead } }));
  return overlay;
}

/**
 * serveHosts starts hosts as separate processes that share a NATS and a PostgreSQL server and one
 * API key; close stops all of them.
 */
export async function serveHosts(count: number): Promise<{ hosts: Served[]; close(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), "easel-page-"));
  const program = build(folder, "easel", "./host/cmd/easel");
  const servers = spawn(build(folder, "servers", "./host/internal/testing/servertest/servers"), {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const { nats, postgres } = await lines(servers, ["nats", "postgres"]);
  const shared = ["--nats", nats, "--postgres", postgres, "--key-file", join(folder, "seal.key")];
  const hosts: Served[] = [];
  for (let i = 0; i < count; i++) {
    const flags = ["--data", join(folder, `data${i}`), ...shared];
    hosts.push(await start(folder, program, flags, hosts[0]?.key));
  }
  const close = async (): Promise<void> => {
    for (const host of hosts) await host.close();
    await ended(servers, () => servers.stdin.end());
    rmSync(folder, { recursive: true, force: true });
  };
  return { hosts, close };
}

/**
 * serveTools starts an MCP server, which requires the header X-Key: let me in, and writes a SQLite
 * file of a shop.
 */
export async function serveTools(file: string): Promise<{ address: string; close(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), "easel-tools-"));
  const server = spawn(build(folder, "toolserver", "./host/internal/testing/servertest/toolserver"), [file], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const { mcp } = await lines(server, ["mcp"]);
  const close = async (): Promise<void> => {
    await ended(server, () => server.stdin.end());
    rmSync(folder, { recursive: true, force: true });
  };
  return { address: mcp, close };
}

/** parsed waits until no document of a dataset is being parsed. */
export async function parsed({ address, key }: Served, dataset: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  const events = await fetch(`${address}/api/v2/datasets/${dataset}/events`, { headers });
  let seen = "";
  for await (const piece of events.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    seen += piece;
    if (seen.includes("event: idle")) return;
  }
  throw new Error(`the events of the dataset ended: ${seen}`);
}

function build(folder: string, name: string, path: string, ...flags: string[]): string {
  const program = join(folder, name);
  // The build cache keeps programs linked by go run, so only the first test file links it.
  const args = ["run", ...flags, "-exec", "cp", path, program];
  execFileSync("go", args, { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  return program;
}

async function start(
  folder: string, program: string, more: string[], given?: string, extra: object = {},
): Promise<Served> {
  const key = given ?? `ragflow-${randomUUID()}`;
  const env = { ...process.env, EASEL_API_KEY: key, ...extra };
  const flags = ["serve", "--addr", "127.0.0.1:0", "--print-link", ...more];
  const host = spawn(program, flags, { stdio: ["ignore", "pipe", "ignore"], env });
  const { address, "sign in": link } = await lines(host, ["address", "sign in"]);
  return {
    folder, program, address, key, link,
    close: () => ended(host, () => host.kill("SIGTERM")),
  };
}

// ended stops a program, if it still runs, and waits for its end.
async function ended(program: ChildProcess, stop: () => void): Promise<void> {
  if (program.exitCode !== null) return;
  const exit = new Promise((resolve) => program.once("exit", resolve));
  stop();
  await exit;
}

// lines returns the values of lines "name: value" once all are printed.
function lines<Name extends string>(program: ChildProcess, names: Name[]): Promise<Record<Name, string>> {
  const found: Partial<Record<Name, string>> = {};
  return new Promise((resolve, reject) => {
    program.once("exit", (code) => reject(new Error(`${program.spawnfile} ended with ${code}`)));
    // The output is read to its end: a program with a full pipe would stop.
    createInterface({ input: program.stdout as NodeJS.ReadableStream }).on("line", (line) => {
      for (const name of names) found[name] ??= new RegExp(`^${name}: (\\S+)`).exec(line)?.[1];
      if (names.every((name) => found[name])) resolve(found as Record<Name, string>);
    });
  });
}
