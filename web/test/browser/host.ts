// A real `easel serve` in a folder of its own, for tests of the page as a host sends it.

import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** root is the repository. */
export const root = fileURLToPath(new URL("../../../", import.meta.url));

/** Served is a running host. */
export interface Served {
  /** Temporary; the program is in it. */
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
  const program = join(folder, "easel");
  const build = ["build", "-o", program, "./host/cmd/easel"];
  execFileSync("go", build, { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  const flags = ["serve", "--addr", "127.0.0.1:0", "--data", join(folder, "data"), ...more];
  const host = spawn(program, flags, { stdio: ["ignore", "pipe", "ignore"] });
  const { address, key, link } = await greeting(host);
  return {
    folder, program, address, key, link,
    async close() {
      if (host.exitCode === null) {
        const ended = new Promise((resolve) => host.once("exit", resolve));
        host.kill("SIGTERM");
        await ended;
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function greeting(host: ChildProcess): Promise<{ address: string; key: string; link: string }> {
  let address = "";
  let key = "";
  let link = "";
  return new Promise((resolve, reject) => {
    host.once("exit", (code) => reject(new Error(`the host ended with ${code}`)));
    // The output is read to its end: a program with a full pipe would stop.
    createInterface({ input: host.stdout as NodeJS.ReadableStream }).on("line", (line) => {
      address ||= /^address: (\S+)/.exec(line)?.[1] ?? "";
      key ||= /^key: (\S+)/.exec(line)?.[1] ?? "";
      link ||= /^sign in: (\S+)/.exec(line)?.[1] ?? "";
      if (address && key && link) resolve({ address, key, link });
    });
  });
}
