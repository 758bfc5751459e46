// Text of requests and answers: charsets, percent encoding, entities.

/** Decodes bytes as UTF-8; null if they are not valid. */
export function utf8(bytes: Uint8Array): string | null {
  const units = new Uint16Array(bytes.length);
  let n = 0;
  for (let i = 0; i < bytes.length; ) {
    const c = <u32>bytes[i++];
    if (c < 0x80) {
      units[n++] = <u16>c;
      continue;
    }
    const more: i32 = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
    if (c < 0xc2 || c > 0xf4 || i + more > bytes.length) return null;
    let point = c & (0x3f >> more);
    for (let k = 0; k < more; k++) {
      const next = <u32>bytes[i++];
      if ((next & 0xc0) != 0x80) return null;
      point = (point << 6) | (next & 0x3f);
    }
    if (more == 2 && (point < 0x800 || (point >= 0xd800 && point < 0xe000))) return null;
    if (more == 3 && (point < 0x10000 || point > 0x10ffff)) return null;
    if (point >= 0x10000) {
      units[n++] = <u16>(0xd800 + ((point - 0x10000) >> 10));
      point = 0xdc00 + ((point - 0x10000) & 0x3ff);
    }
    units[n++] = <u16>point;
  }
  return String.UTF16.decodeUnsafe(units.dataStart, n << 1);
}

/** The characters of windows-1252 from 0x80 to 0x9f; the rest is Latin-1. */
const western = "€\ufffd‚ƒ„…†‡ˆ‰Š‹Œ\ufffdŽ\ufffd\ufffd‘’“”•–—˜™š›œ\ufffdžŸ";

function latin(bytes: Uint8Array): string {
  const units = new Uint16Array(bytes.length);
  for (let i = 0; i < bytes.length; i++) {
    const c = bytes[i];
    units[i] = c >= 0x80 && c < 0xa0 ? <u16>western.charCodeAt(c - 0x80) : <u16>c;
  }
  return String.UTF16.decodeUnsafe(units.dataStart, units.byteLength);
}

/** Decodes a body by the charset of its content type; null if it is not supported. */
export function decode(bytes: Uint8Array, charset: string): string | null {
  let from = 0;
  if (bytes.length >= 3 && bytes[0] == 0xef && bytes[1] == 0xbb && bytes[2] == 0xbf) from = 3;
  const text = utf8(bytes.subarray(from));
  if (text != null) return text;
  const single = charset == "iso-8859-1" || charset == "windows-1252" || charset == "latin1" || charset == "us-ascii";
  return single ? latin(bytes) : null;
}

/** The charset of a content type, in lower case; "" if it has none. */
export function charsetOf(contentType: string): string {
  const at = contentType.toLowerCase().indexOf("charset=");
  if (at < 0) return "";
  let name = contentType.substring(at + 8).toLowerCase();
  const end = name.indexOf(";");
  if (end >= 0) name = name.substring(0, end);
  return name.replaceAll('"', "").trim();
}

const hex = "0123456789ABCDEF";

/** Percent-encodes all but letters, digits and -_.~ */
export function escapeURL(s: string): string {
  const bytes = Uint8Array.wrap(String.UTF8.encode(s));
  let out = "";
  for (let i = 0; i < bytes.length; i++) {
    const c = bytes[i];
    const letter = (c >= 65 && c <= 90) || (c >= 97 && c <= 122);
    const plain = letter || (c >= 48 && c <= 57) || c == 45 || c == 46 || c == 95 || c == 126;
    out += plain ? String.fromCharCode(c) : "%" + hex.charAt(c >> 4) + hex.charAt(c & 15);
  }
  return out;
}

/** Decodes percent encoding; invalid sequences stay unchanged. */
export function unescapeURL(s: string): string {
  const from = Uint8Array.wrap(String.UTF8.encode(s));
  const to = new Uint8Array(from.length);
  let n = 0;
  for (let i = 0; i < from.length; i++) {
    let c = from[i];
    if (c == 43) c = 32;
    if (c == 37 && i + 2 < from.length) {
      const high = digit(from[i + 1]), low = digit(from[i + 2]);
      if (high >= 0 && low >= 0) {
        c = <u8>(high * 16 + low);
        i += 2;
      }
    }
    to[n++] = c;
  }
  const text = utf8(to.subarray(0, n));
  return text != null ? text : s;
}

function digit(c: u8): i32 {
  if (c >= 48 && c <= 57) return c - 48;
  if (c >= 65 && c <= 70) return c - 55;
  return c >= 97 && c <= 102 ? c - 87 : -1;
}

/** A parameter of the query of an address; "" if it is absent. */
export function queryParam(url: string, name: string): string {
  const query = url.indexOf("?");
  if (query < 0) return "";
  const parts = url.substring(query + 1).split("#")[0].split("&");
  for (let i = 0; i < parts.length; i++) {
    if (parts[i].startsWith(name + "=")) return unescapeURL(parts[i].substring(name.length + 1));
  }
  return "";
}

const entityNames = [
  "amp", "lt", "gt", "quot", "apos", "nbsp", "hellip", "mdash", "ndash", "lsquo", "rsquo", "ldquo", "rdquo", "middot",
  "bull", "copy", "reg", "trade", "deg", "eacute", "laquo", "raquo",
];
const entityTexts = [
  "&", "<", ">", '"', "'", "\u00a0", "…", "—", "–", "‘", "’", "“", "”", "·", "•", "©", "®", "™", "°", "é", "«", "»",
];

/** Replaces character references. An unknown name stays; a document cannot define any. */
export function unescapeEntities(s: string): string {
  let at = s.indexOf("&");
  if (at < 0) return s;
  const out: string[] = [];
  let from = 0;
  while (at >= 0) {
    const end = s.indexOf(";", at);
    if (end < 0) break;
    const text = end - at <= 10 ? entity(s.substring(at + 1, end)) : "";
    if (text != "") {
      out.push(s.substring(from, at));
      out.push(text);
      from = end + 1;
      at = s.indexOf("&", from);
    } else {
      at = s.indexOf("&", at + 1);
    }
  }
  out.push(s.substring(from));
  return out.join("");
}

function entity(name: string): string {
  if (name.charCodeAt(0) == 35) {
    const hexadecimal = name.length > 1 && (name.charCodeAt(1) | 32) == 120;
    const n = hexadecimal ? parseInt(name.substring(2), 16) : parseInt(name.substring(1), 10);
    if (isNaN(n) || n < 9 || n > 0x10ffff || (n >= 0xd800 && n < 0xe000)) return "\ufffd";
    return String.fromCodePoint(<i32>n);
  }
  const i = entityNames.indexOf(name);
  return i < 0 ? "" : entityTexts[i];
}

/** Replaces each run of white space by one blank, and trims the ends. */
export function oneLine(s: string): string {
  const out: string[] = [];
  let from = -1;
  for (let i = 0; i <= s.length; i++) {
    const blank = i == s.length || isSpace(s.charCodeAt(i));
    if (blank && from >= 0) out.push(s.substring(from, i));
    if (blank) from = -1;
    else if (from < 0) from = i;
  }
  return out.join(" ");
}

export function isSpace(c: i32): bool { return c <= 32 || c == 0xa0; }
