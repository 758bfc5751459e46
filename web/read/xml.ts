// XML as a stream of tags and texts, in time linear in its length. Prefixes of names are left out.

/** Token is a tag or a text between tags. */
export type Token =
  | { kind: "open"; name: string; attributes: string }
  | { kind: "close"; name: string }
  | { kind: "text"; text: string };

const mostAttributes = 10_000; // characters of one tag that are looked at

/** tokens reads a document; a tag without content is one that opens and closes. */
export function* tokens(xml: string): Generator<Token> {
  for (let at = 0; at < xml.length;) {
    const from = xml.indexOf("<", at);
    if (from !== at) yield { kind: "text", text: decoded(xml.slice(at, from < 0 ? xml.length : from)) };
    const to = from < 0 ? -1 : xml.indexOf(">", from);
    if (to < 0) return;
    at = to + 1;
    const tag = xml.slice(from + 1, to);
    if (/^[?!]/.test(tag)) continue;
    const closes = tag.startsWith("/");
    const whole = tag.slice(closes ? 1 : 0, tag.endsWith("/") ? -1 : undefined);
    const space = whole.search(/\s/);
    const qualified = space < 0 ? whole : whole.slice(0, space);
    const name = qualified.slice(qualified.indexOf(":") + 1);
    if (!closes) yield { kind: "open", name, attributes: space < 0 ? "" : whole.slice(space, space + mostAttributes) };
    if (closes || tag.endsWith("/")) yield { kind: "close", name };
  }
}

/**
 * attribute returns the value of an attribute by its name with or without a prefix; "" if it is
 * missing.
 */
export function attribute(attributes: string, name: string): string {
  for (const [, found, , double, single] of attributes.matchAll(/([\w:.-]+)=("([^"]*)"|'([^']*)')/g)) {
    if (found === name || found?.endsWith(":" + name)) return decoded(double ?? single ?? "");
  }
  return "";
}

const named: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function decoded(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(
    /&(#x[\da-f]{1,6}|#\d{1,7}|\w{2,4});/gi,
    (whole, name: string) => named[name] ?? character(name) ?? whole,
  );
}

function character(name: string): string | undefined {
  if (!name.startsWith("#")) return undefined;
  const code = name[1]?.toLowerCase() === "x" ? parseInt(name.slice(2), 16) : Number(name.slice(1));
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}
