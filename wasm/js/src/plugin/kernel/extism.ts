// extism:host/env, written from the documented behaviour of the Extism kernel,
// so that a plugin of any Extism PDK runs. Bytes are exchanged through memory of the host, eight
// at a time. extism:host/user is emit and call for plugins without raw pointers.

import { caps } from "../abi.ts";
import { PluginError, type Failure } from "../error.ts";
import type { Guest } from "./guest.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
// A character for each byte: names of variables are any bytes.
const byteDecoder = new TextDecoder("latin1");
// The memory of a variable without its name and value, as in the Go host.
const variableCost = 96;
const encoder = new TextEncoder();

export function extism(g: Guest): Record<string, Function> {
  const block = (at: bigint): Uint8Array => g.arena.block(Number(at));
  const text = (at: bigint): string => decoder.decode(block(at));
  const variable = (at: bigint): string => byteDecoder.decode(block(at));
  const logAt = (level: number) => (at: bigint): void => g.log(level, block(at));
  return {
    alloc: (n: bigint) => BigInt(allocate(g, Number(n))),
    free: (at: bigint) => g.arena.free(Number(at)),
    length: (at: bigint) => BigInt(g.arena.length(Number(at))),
    length_unsafe: (at: bigint) => BigInt(g.arena.length(Number(at))),
    load_u8: (at: bigint) => g.arena.view(Number(at), 1)?.getUint8(0) ?? 0,
    load_u64: (at: bigint) => g.arena.view(Number(at), 8)?.getBigUint64(0, true) ?? 0n,
    store_u8: (at: bigint, v: number) => g.arena.view(Number(at), 1)?.setUint8(0, v),
    store_u64: (at: bigint, v: bigint) => g.arena.view(Number(at), 8)?.setBigUint64(0, v, true),
    input_length: () => BigInt(g.whole.length),
    input_offset: () => put(g, g.whole),
    input_load_u8: (at: bigint) => g.whole[Number(at)] ?? 0,
    input_load_u64: (at: bigint) => {
      const from = Number(at);
      if (from < 0 || from + 8 > g.whole.length) return 0n;
      return new DataView(g.whole.buffer, g.whole.byteOffset + from, 8).getBigUint64(0, true);
    },
    output_set: (at: bigint, n: bigint) => { g.out = { at: Number(at), length: Number(n) }; },
    output_length: () => BigInt(g.out.length),
    output_offset: () => BigInt(g.out.at),
    error_set: (at: bigint) => { g.errorAt = Number(at); },
    error_get: () => BigInt(g.errorAt),
    reset: () => { g.arena.reset(); g.out = { at: 0, length: 0 }; g.errorAt = 0; },
    memory_bytes: () => BigInt(g.arena.used),
    config_get: (key: bigint) => put(g, encoder.encode(own(g.setting.settings, text(key)) ?? "")),
    var_get: (key: bigint) => put(g, g.vars.get(variable(key)) ?? new Uint8Array(0)),
    var_set: (key: bigint, value: bigint) => setVar(g, variable(key), value === 0n ? undefined : block(value)),
    http_request: (request: bigint, body: bigint) => {
      // head and body are one request: the length of the head, the head, the body
      const head = block(request);
      const whole = new Uint8Array(4 + head.length + block(body).length);
      new DataView(whole.buffer).setUint32(0, head.length, true);
      whole.set(head, 4);
      whole.set(block(body), 4 + head.length);
      return g.ask("http", whole, (answer) => takeResponse(g, answer));
    },
    http_status_code: () => g.status,
    http_headers: () => put(g, g.headers),
    log_trace: logAt(0), log_debug: logAt(1), log_info: logAt(2), log_warn: logAt(3), log_error: logAt(4),
    get_log_level: () => 0,
  };
}

export function user(g: Guest): Record<string, Function> {
  return {
    easel_emit: (at: bigint) => {
      let piece: { kind?: number; data?: unknown };
      try {
        piece = JSON.parse(decoder.decode(g.arena.block(Number(at)))) as typeof piece;
      } catch {
        return 0n;
      }
      const data = typeof piece.data === "string" ? piece.data : JSON.stringify(piece.data) ?? "";
      const said = g.emit(Number(piece.kind ?? 0), encoder.encode(data));
      return said instanceof Promise ? said.then(BigInt) : BigInt(said);
    },
    easel_call: (at: bigint) => g.ask("call", g.arena.block(Number(at)), (answer) => (answer ? put(g, answer) : 0n)),
  };
}

// The response to "http": status, length of the headers, headers, body. A refusal has status 0 and
// the error as its body. It ends the call, as in the official host of Extism.
function takeResponse(g: Guest, answer: Uint8Array | null): bigint {
  g.status = 0;
  g.headers = new Uint8Array(0);
  if (!answer) return 0n;
  const view = new DataView(answer.buffer, answer.byteOffset, answer.length);
  const headers = view.getUint32(4, true);
  g.status = view.getUint32(0, true);
  g.headers = answer.slice(8, 8 + headers);
  const body = answer.subarray(8 + headers);
  if (g.status === 0) {
    const { error } = JSON.parse(decoder.decode(body)) as { error: Failure };
    const message = "http_request: " + error.message.replace(/^http_request: /, "");
    throw new PluginError(error.code, message, error);
  }
  return put(g, body);
}

function allocate(g: Guest, length: number): number {
  const at = g.arena.alloc(length);
  if (at === 0 && length !== 0)
    throw new PluginError("oom", `wanted ${length} bytes of kernel memory, allowed are ${caps.kernel} in all`);
  return at;
}

// put copies bytes into kernel memory; without bytes the address is 0.
function put(g: Guest, bytes: Uint8Array): bigint {
  const at = allocate(g, bytes.length);
  g.arena.span(at, bytes.length)?.set(bytes);
  return BigInt(at);
}

function setVar(g: Guest, key: string, value: Uint8Array | undefined): void {
  g.vars.delete(key);
  if (!value) return;
  let size = key.length + value.length + variableCost * g.vars.size;
  for (const [name, bytes] of g.vars) size += name.length + bytes.length;
  if (size > caps.scratch) throw new PluginError("oom", `variables of more than ${caps.scratch} bytes`);
  g.vars.set(key, value.slice());
}

function own(record: Record<string, string>, key: string): string | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
