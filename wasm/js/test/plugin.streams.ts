// Bodies that a plugin reads in pieces from a real server: the twin of the Go host's tests
// of http.read, for Node and for a page. A guest makes the requests of a list in one call.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { imports } from "./guests.ts";

/**
 * chain is a guest that makes the requests of its input, one per line, and returns the responses,
 * one per line.
 */
export const chain = `(module${imports}(data (i32.const 9) "\\0a")
	(func (export "easel_invoke") (result i32) (local $at i32) (local $n i32) (local $end i32)
		i32.const 30 memory.grow drop
		i32.const 10 i32.const 10 i32.const 50000 call $input_read i32.add local.set $end
		i32.const 10 local.set $at
		loop $line
			local.get $at local.set $n
			loop $find local.get $n i32.load8_u i32.const 10 i32.ne if local.get $n i32.const 1 i32.add local.set $n br $find end end
			i32.const 0 local.get $at local.get $n local.get $at i32.sub call $call drop
			i32.const 65536 i32.const 65536 i32.const 1500000 call $result_read call $output_write
			i32.const 9 i32.const 1 call $output_write
			local.get $n i32.const 1 i32.add local.tee $at local.get $end i32.lt_u br_if $line
		end i32.const 0))`;

const text = "Ålesund 天气 🌧 ".repeat(800);
const binary = Buffer.from([0xff, 0, 1, 2, 3]).toString("latin1").repeat(3000);

/** Fountain is a server that responds in pieces. */
export interface Fountain {
  /** Host and port. */
  address: string;
  /** left settles when the reader of an endless response has disconnected. */
  left(): Promise<void>;
  close(): void;
}

/** fountain starts one; any page may read from it. */
export async function fountain(): Promise<Fountain> {
  let go: () => void = () => undefined;
  let gone: () => void = () => undefined;
  const server = createServer((request, response) => {
    response.setHeader("access-control-allow-origin", "*");
    switch (request.url) {
      case "/text": { // divided in the middle of characters
        const bytes = Buffer.from(text);
        for (let at = 0; at < bytes.length; at += 777) response.write(bytes.subarray(at, at + 777));
        return response.end();
      }
      case "/bytes": return response.end(Buffer.from(binary, "latin1"));
      case "/empty": return response.end();
      case "/drip":
        response.write("one");
        go = () => response.end("two");
        return;
      case "/go":
        go();
        return response.end();
      case "/endless": {
        const more = (): void => { while (!response.destroyed && response.write(Buffer.alloc(64 << 10, "x"))); };
        response.on("drain", more).on("close", () => gone());
        return more();
      }
      case "/breaks":
        response.writeHead(200, { "content-length": 100 }).write("ab");
        go = () => response.destroy();
        return;
      case "/leak": // one character per packet, as far as the network allows
        void (async () => {
          for (const char of `before ${String(request.headers["x-key"])} after`) {
            response.write(char);
            await new Promise((resolve) => setImmediate(resolve));
          }
          response.end();
        })();
        return;
    }
    response.writeHead(404).end();
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    left: () => new Promise((resolve) => { gone = resolve; }),
    close: () => { server.closeAllConnections(); server.close(); },
  };
}

interface Answer {
  ok?: { stream?: number; status?: number; body?: string; body_base64?: string; done?: boolean };
  error?: { code: string; message: string };
}

/**
 * Ask makes requests in one call of a plugin with access to the fountain, and returns its output.
 */
export type Ask = (lines: string) => Promise<string>;

/** streams are the stories, each of which throws when it fails. */
export const streams: Record<string, (f: Fountain, ask: Ask) => Promise<void>> = {
  "a text comes in pieces of whole characters": async (f, ask) => {
    for (const max of [16, 1000, 0]) {
      const { got, whole } = await read(f, ask, "/text", max);
      assert.ok(
        whole ? got === text : max === 16 && got.length > 0 && text.startsWith(got),
        `pieces of ${max}: ${got.length} of ${text.length} characters`,
      );
    }
  },
  "other bytes come in base64": async (f, ask) => assert.equal((await read(f, ask, "/bytes", 0)).got, binary),
  "nothing comes as nothing": async (f, ask) =>
    assert.deepEqual(await read(f, ask, "/empty", 0), { got: "", whole: true }),
  "what has arrived is given before the rest is sent": async (f, ask) => {
    const [, first, , second, end] = await asked(ask, open(f, "/drip"), next(), open(f, "/go"), next(), next());
    assert.equal(bodyOf(first!), "one");
    assert.equal(bodyOf(second!) + (second!.ok!.done ? "" : bodyOf(end!)), "two");
  },
  "closing one hangs up": async (f, ask) => {
    const left = f.left();
    const [, piece, closed, after, again] = await asked(ask, open(f, "/endless"), next(), close(1), next(), close(1));
    assert.deepEqual([piece!.ok?.done, closed!.ok, after!.error?.code, again!.ok], [false, {}, "not_found", {}]);
    await left;
  },
  "the end of the call hangs up, and the next call knows nothing of it": async (f, ask) => {
    const left = f.left();
    await asked(ask, open(f, "/endless"));
    await left;
    assert.equal((await asked(ask, next()))[0]!.error?.code, "not_found");
  },
  "only so many are open": async (f, ask) => {
    const all = await asked(ask, ...Array<object>(9).fill(open(f, "/text")), close(1), open(f, "/text"));
    assert.deepEqual(all.slice(0, 8).map(({ ok }) => ok?.stream), [1, 2, 3, 4, 5, 6, 7, 8]);
    assert.match(`${all[8]!.error?.code}: ${all[8]!.error?.message}`, /^denied: .*close one/);
    assert.equal(all[10]!.error, undefined);
  },
  "a body that breaks off is an error": async (f, ask) => {
    const [, first, , second, third] = await asked(ask, open(f, "/breaks"), next(), open(f, "/go"), next(), next());
    assert.equal(bodyOf(first!), "ab");
    assert.deepEqual([second!.error?.code, third!.error?.code], ["upstream", "not_found"]);
  },
  "wrong arguments are reported": async (f, ask) => {
    const [, less, none] = await asked(ask, open(f, "/text"), next(-1), { op: "http.read", args: {} });
    assert.deepEqual([less!.error?.code, none!.error?.code], ["invalid_argument", "not_found"]);
  },
};

/** open returns a request whose response is read in pieces. */
export function open({ address }: Fountain, path: string, headers?: Record<string, string>): object {
  return { op: "http.fetch", args: { url: `http://${address}${path}`, stream: true, ...(headers && { headers }) } };
}

/** next returns a request for a piece of the first stream. */
export function next(max?: number): object {
  return { op: "http.read", args: { stream: 1, ...(max && { max }) } };
}

function close(stream: number): object {
  return { op: "http.close", args: { stream } };
}

/** asked makes requests in one call. */
export async function asked(ask: Ask, ...requests: object[]): Promise<Answer[]> {
  const said = await ask(requests.map((request) => JSON.stringify(request) + "\n").join(""));
  const answers = said.trimEnd().split("\n").map((line) => JSON.parse(line) as Answer);
  assert.equal(answers.length, requests.length, said.slice(0, 500));
  return answers;
}

/** bodyOf returns the piece in a response, bytes as characters with their codes. */
export function bodyOf({ ok, error }: Answer): string {
  assert.equal(error, undefined);
  return ok!.body ?? Buffer.from(ok!.body_base64 ?? "", "base64").toString("latin1");
}

// read joins up to 60 pieces, and checks the size of each.
async function read(f: Fountain, ask: Ask, path: string, max: number): Promise<{ got: string; whole: boolean }> {
  const [head, ...pieces] = await asked(ask, open(f, path), ...Array<object>(60).fill(next(max)));
  assert.deepEqual([head!.ok?.stream, head!.ok?.status, head!.ok?.body], [1, 200, undefined]);
  let got = "";
  let whole = false;
  for (const piece of pieces) {
    if (whole) {
      assert.equal(piece.error?.code, "not_found", "one that was read to its end is closed");
      continue;
    }
    const body = bodyOf(piece);
    whole = piece.ok!.done!;
    assert.ok(whole || body.length > 0, "a piece has at least one byte");
    assert.ok(Buffer.byteLength(body, piece.ok!.body === undefined ? "latin1" : "utf8") <= (max || 64 << 10));
    if (path === "/text") assert.notEqual(piece.ok!.body, undefined, "text stays text");
    got += body;
  }
  return { got, whole };
}
