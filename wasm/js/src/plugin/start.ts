// A start function runs while a module is instantiated, before the host can reach
// its memory, and nothing it calls may wait. So it is removed from the module and
// exported instead; the kernel calls it first. The module was metered before, which
// means that its sections are well formed.

import { startExport } from "./abi.ts";

const sectionExport = 7;
const sectionStart = 8;

/** unstart exports the start function of a module; a module without one is returned unchanged. */
export function unstart(wasm: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const sections = split(wasm);
  const start = sections.find((section) => section.id === sectionStart);
  if (!start) return wasm;
  const parts: Uint8Array[] = [wasm.subarray(0, 8)];
  for (const section of sections) {
    if (section.id === sectionStart) continue;
    if (section.id !== sectionExport) {
      parts.push(wasm.subarray(section.at, section.end));
      continue;
    }
    const [count, from] = read(wasm, section.body);
    const name = new TextEncoder().encode(startExport);
    const head = number(count + 1);
    const entry = [name.length, ...name, 0, ...wasm.subarray(start.body, start.end)];
    const body = wasm.subarray(from, section.end);
    parts.push(
      Uint8Array.from([sectionExport, ...number(head.length + body.length + entry.length), ...head]),
      body,
      Uint8Array.from(entry),
    );
  }
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** Section is a part of a module; body is the start of its content. */
export interface Section {
  id: number;
  at: number;
  body: number;
  end: number;
}

/** split lists the sections of a module; it throws a RangeError if one is truncated. */
export function split(wasm: Uint8Array): Section[] {
  const out: Section[] = [];
  for (let at = 8; at < wasm.length;) {
    const [size, body] = read(wasm, at + 1);
    const end = body + size;
    if (end > wasm.length) throw new RangeError(`section at byte ${at} is cut short`);
    out.push({ id: wasm[at]!, at, body, end });
    at = end;
  }
  return out;
}

/** read reads an unsigned LEB128 number and returns its end. */
export function read(bytes: Uint8Array, at: number): [number, number] {
  let value = 0;
  for (let shift = 0; shift < 35; shift += 7) {
    const byte = bytes[at++];
    if (byte === undefined) break;
    value += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return [value, at];
  }
  throw new RangeError(`number at byte ${at - 1} is cut short`);
}

function number(value: number): number[] {
  const out: number[] = [];
  for (; value >= 0x80; value = Math.floor(value / 0x80)) out.push((value % 0x80) | 0x80);
  return [...out, value];
}
