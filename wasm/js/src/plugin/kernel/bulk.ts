// easel:host/v1: whole ranges are copied, so a megabyte costs as much as a memmove.

import { PluginError } from "../error.ts";
import { encode, type Guest } from "./guest.ts";

export function bulk(g: Guest): Record<string, Function> {
  const take = (from: Uint8Array, name: string, p: number, n: number): number => {
    const into = g.bytes(name, p, n);
    const piece = from.subarray(0, into.length);
    into.set(piece);
    return piece.length;
  };
  return {
    input_len: () => g.input.length,
    input_read: (p: number, n: number) => {
      const read = take(g.input, "input_read", p, n);
      g.input = g.input.subarray(read);
      return read;
    },
    output_write: (p: number, n: number) => g.write("output", g.bytes("output_write", p, n)),
    error_write: (p: number, n: number) => g.write("error", g.bytes("error_write", p, n)),
    log: (level: number, p: number, n: number) => g.log(level, g.bytes("log", p, n)),
    emit: (kind: number, p: number, n: number) => g.emit(kind, g.bytes("emit", p, n)),
    call: (format: number, p: number, n: number) => {
      const answer = (out: Uint8Array | null): number => {
        g.result = out ?? new Uint8Array(0);
        return out ? out.length : -1;
      };
      const request = g.bytes("call", p, n);
      if (format === 0) return g.ask("call", request, answer);
      return answer(
        encode({
          error: new PluginError(
            "unsupported",
            `call format ${format >>> 0}; this host reads format 0, JSON`,
          ).failure(),
        }),
      );
    },
    result_read: (p: number, n: number) => {
      const read = take(g.result, "result_read", p, n);
      g.result = g.result.subarray(read);
      return read;
    },
  };
}
