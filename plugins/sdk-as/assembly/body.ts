// Bodies of responses: read in pieces, and bytes out of JSON.
import { Call } from "./index";
import { Value, Kind } from "./json";

/** A response whose body is read piece by piece. It belongs to its call. */
export class Body {
  status: i32 = 0;
  headers: Value = new Value();
  /** The error, {"code", "message"}, or null. */
  error: Value = new Value();
  /** The call is cancelled: return soon. */
  cancelled: bool = false;
  private stream: Value = new Value(); // null when nothing is left to request
  private rest: ArrayBuffer | null = null; // the body from an older host, which does not stream

  constructor(private call: Call, answer: Value) {
    const ok = this.take(answer);
    this.status = <i32>ok.get("status").num();
    this.headers = ok.get("headers");
    if (this.headers.isNull()) this.headers = ok; // of a file
    this.stream = ok.get("stream");
    if (this.stream.isNull()) this.rest = bytesOf(ok);
  }

  private take(answer: Value): Value {
    this.cancelled = answer.isNull();
    this.error = answer.get("error");
    return answer.get("ok");
  }

  /** The next piece, at most max bytes; null at the end and after an error. */
  read(max: i32 = 65536): ArrayBuffer | null {
    const rest = this.rest;
    this.rest = null;
    if (rest || this.stream.isNull()) return rest && rest.byteLength > 0 ? rest : null;
    const ok = this.take(this.call.ask("http.read", Value.object().set("stream", this.stream).set("max", Value.number(max))));
    if (ok.isNull() || ok.get("done").isTrue()) this.stream = new Value();
    const piece = bytesOf(ok);
    return piece.byteLength > 0 ? piece : null;
  }

  /** Leaves the rest unread. */
  close(): void {
    if (!this.stream.isNull()) this.call.ask("http.close", Value.object().set("stream", this.stream));
    this.stream = new Value();
    this.rest = null;
  }
}

/** The bytes in a response of "http.fetch" or "http.read": body as UTF-8, or body_base64. */
export function bytesOf(ok: Value): ArrayBuffer {
  const encoded = ok.get("body_base64");
  return encoded.kind == Kind.Text ? decode(encoded.str()) : String.UTF8.encode(ok.get("body").str());
}

/** Writes base64. */
export function encode(data: ArrayBuffer): string {
  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const from = Uint8Array.wrap(data), out = new Uint8Array((from.length + 2) / 3 * 4);
  for (let i = 0, n = 0; i < from.length; i += 3) {
    const left = from.length - i;
    let bits = <u32>from[i] << 16;
    if (left > 1) bits |= <u32>from[i + 1] << 8;
    if (left > 2) bits |= <u32>from[i + 2];
    for (let k = 0; k < 4; k++) out[n++] = k <= left ? <u8>digits.charCodeAt((bits >> (18 - 6 * k)) & 63) : 61;
  }
  return String.UTF8.decode(out.buffer);
}

/** Reads base64 with padding. */
function decode(text: string): ArrayBuffer {
  let length = text.length;
  while (length > 0 && text.charCodeAt(length - 1) == 61) length--;
  const out = new Uint8Array(length * 3 / 4);
  let bits: u32 = 0, have = 0, n = 0;
  for (let i = 0; i < length; i++) {
    bits = (bits << 6) | digit(text.charCodeAt(i));
    have += 6;
    if (have < 8) continue;
    have -= 8;
    out[n++] = <u8>(bits >> have);
  }
  return out.buffer;
}

function digit(c: i32): u32 {
  if (c >= 97) return c - 71; // a-z
  if (c >= 65) return c - 65; // A-Z
  if (c >= 48) return c + 4; // 0-9
  return c == 43 ? 62 : 63; // + and /
}
