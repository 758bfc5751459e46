// Converts responses to UTF-8, by the charset of their Content-Type or, in HTML and XML without
// one, by the charset that the text declares. The twin of asUTF8 in host/internal/plugin.

const textual = /text\/|json|xml|html|javascript|x-www-form-urlencoded/;
const declared = /^\s*<\?xml[^>]{0,200}encoding=["']([A-Za-z0-9._:-]{1,40})["']/;
const meta = /<meta[^>]{0,400}charset\s*=\s*["']?\s*([A-Za-z0-9._:-]{1,40})/i;
const prefix = 1024; // bytes in which a page names its charset

/** TextBody is a body and its type, in UTF-8 if it is text. */
export interface TextBody {
  type: string;
  bytes: Uint8Array;
}

/** asUTF8 converts a body; one that is not text, or in an unknown charset, is unchanged. */
export function asUTF8(type: string, bytes: Uint8Array): TextBody {
  const kind = (type.split(";", 1)[0] ?? "").trim().toLowerCase();
  if (!textual.test(kind)) return { type, bytes };
  const label = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(type)?.[1] ?? labelIn(kind, bytes);
  const decoder = decoderOf(label);
  if (!decoder || decoder.encoding === "utf-8") return { type, bytes };
  return { type: `${kind}; charset=utf-8`, bytes: new TextEncoder().encode(decoder.decode(bytes)) };
}

function labelIn(kind: string, bytes: Uint8Array): string {
  const head = start(bytes);
  if (kind.includes("html")) return byMark(bytes) ?? meta.exec(head)?.[1] ?? (isUTF8(bytes) ? "utf-8" : "windows-1252");
  return kind.includes("xml") ? declared.exec(head)?.[1] ?? "" : "";
}

function byMark(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? "utf-8" : undefined;
}

function start(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes.subarray(0, prefix));
}

function isUTF8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

function decoderOf(label: string): TextDecoder | undefined {
  try {
    return label === "" ? undefined : new TextDecoder(label);
  } catch {
    return undefined; // not a charset
  }
}
