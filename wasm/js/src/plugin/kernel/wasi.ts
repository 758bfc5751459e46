// wasi_snapshot_preview1 reduced to clock, random numbers, sleep and stderr; a command also has
// stdin and stdout. There are no arguments, environment variables, files or sockets: those
// functions return an error number, all others ENOSYS.

import { caps } from "../abi.ts";
import { Exit } from "./fault.ts";
import type { Guest } from "./guest.ts";

const ok = 0;
const badf = 8;
const inval = 28;
const nosys = 52;
const notsup = 58;

// Steps of the clocks in nanoseconds. Fine ones allow timing attacks, so they are a permission, and
// only the monotonic clock can be finer here: Date.now returns whole milliseconds.
const coarseStep = 1_000_000n;
const preciseStep = 1000n;

export function wasi(g: Guest): Record<string, Function> {
  const view = (at: number, length: number): DataView => {
    const bytes = g.bytes("wasi", at, length);
    return new DataView(bytes.buffer, bytes.byteOffset, length);
  };
  const zero = (...places: number[]): number => {
    for (const at of places) view(at, 4).setUint32(0, 0, true);
    return ok;
  };
  const pieces = function* (name: string, iovs: number, count: number): Generator<Uint8Array> {
    const list = view(iovs, count * 8);
    for (let i = 0; i < count; i++)
      yield g.bytes(name, list.getUint32(i * 8, true), list.getUint32(i * 8 + 4, true));
  };
  const standard = (fd: number): number => (fd >= 0 && fd <= 2 ? ok : badf);
  const step = (clock: number): bigint => (clock === 1 && g.preciseClock ? preciseStep : coarseStep);
  const now = (clock: number): bigint => g.known(() => {
    const ms = g.setting.pinned?.now ?? (clock === 0 ? Date.now() : performance.now());
    return BigInt(Math.floor(ms * (1e6 / Number(step(clock))))) * step(clock);
  });
  const offered: Record<string, Function> = {
    args_get: () => ok,
    args_sizes_get: (count: number, size: number) => zero(count, size),
    environ_get: () => ok,
    environ_sizes_get: (count: number, size: number) => zero(count, size),
    clock_res_get: (clock: number, at: number) => {
      if (clock > 1) return inval;
      view(at, 8).setBigUint64(0, step(clock), true);
      return ok;
    },
    clock_time_get: (clock: number, _precision: bigint, at: number) => {
      if (clock > 1) return inval;
      view(at, 8).setBigUint64(0, now(clock), true);
      return ok;
    },
    random_get: (at: number, length: number) => {
      const bytes = g.bytes("random_get", at, length);
      g.randomly(bytes.length);
      bytes.set(g.known(() => chance(g, bytes.length)));
      return ok;
    },
    sched_yield: () => ok,
    proc_exit: (status: number) => { throw new Exit(status >>> 0); },
    fd_fdstat_get: (fd: number, at: number) => {
      if (standard(fd) !== ok) return badf;
      const stat = view(at, 24);
      for (let i = 0; i < 24; i += 8) stat.setBigUint64(i, 0n, true);
      stat.setUint8(0, 2); // a character device
      stat.setBigUint64(8, 0x1fffffffn, true);
      return ok;
    },
    fd_close: standard,
    fd_read: (fd: number, iovs: number, count: number, at: number) => {
      if (fd !== 0) return badf;
      if (!g.lines) return zero(at);
      let read = 0;
      for (const piece of pieces("fd_read", iovs, count)) read += take(g, piece);
      view(at, 4).setUint32(0, read, true);
      return ok;
    },
    fd_write: (fd: number, iovs: number, count: number, at: number) => {
      if (fd !== 1 && fd !== 2) return badf;
      let written = 0;
      for (const piece of pieces("fd_write", iovs, count)) {
        if (fd === 2) keep(g, piece);
        else if (g.lines) g.write("output", piece);
        written += piece.length;
      }
      view(at, 4).setUint32(0, written, true);
      return ok;
    },
    poll_oneoff: (from: number, into: number, count: number, at: number) => poll(g, view, from, into, count >>> 0, at),
  };
  // Its other imports were compared with the list of functions before.
  for (const { module, name } of WebAssembly.Module.imports(g.setting.module)) {
    if (module === "wasi_snapshot_preview1") offered[name] ??= /^(fd|path|sock)_/.test(name) ? () => badf : () => nosys;
  }
  return offered;
}

// take copies the next bytes of the input.
function take(g: Guest, into: Uint8Array): number {
  const piece = g.input.subarray(0, into.length);
  into.set(piece);
  g.input = g.input.subarray(piece.length);
  return piece.length;
}

function chance(g: Guest, length: number): Uint8Array {
  const out = new Uint8Array(length);
  if (g.setting.pinned) return out.fill(g.setting.pinned.random);
  for (let at = 0; at < length; at += 65_536) crypto.getRandomValues(out.subarray(at, at + 65_536));
  return out;
}

// keep stores the first bytes of stderr, which become the message of a panic, and the lines of a
// command.
function keep(g: Guest, piece: Uint8Array): void {
  g.lines?.write(piece);
  const room = caps.stderr - g.stderr.length;
  if (room > 0) g.stderr += new TextDecoder().decode(piece.subarray(0, room));
}

// Each subscription is 48 bytes: user data, tag at 8, clock: timeout at 24, flags at 40;
// each event 32: user data, error at 8, tag at 10.
function poll(
  g: Guest,
  view: (at: number, length: number) => DataView,
  from: number,
  into: number,
  count: number,
  at: number,
): number | Promise<number> {
  if (count === 0) return inval;
  const asked = view(from, count * 48);
  const told = view(into, count * 32);
  let wait = Infinity; // nanoseconds
  for (let i = 0; i < count * 32; i += 8) told.setBigUint64(i, 0n, true);
  for (let i = 0; i < count; i++) {
    const tag = asked.getUint8(i * 48 + 8);
    told.setBigUint64(i * 32, asked.getBigUint64(i * 48, true), true);
    told.setUint8(i * 32 + 10, tag);
    if (tag === 0) {
      if (asked.getUint16(i * 48 + 40, true) !== 0) return notsup; // an absolute time
      wait = Math.min(wait, Number(asked.getBigUint64(i * 48 + 24, true)));
    } else if (asked.getUint32(i * 48 + 16, true) > 2) {
      told.setUint16(i * 32 + 8, badf, true);
    }
  }
  const done = (): number => {
    view(at, 4).setUint32(0, count, true); // a new view: the memory may have grown during the sleep
    return ok;
  };
  return Number.isFinite(wait) ? g.sleep(wait / 1e6, done) : done();
}
