// The text of a part of a JSON document, as it was written: JSON.parse and JSON.stringify
// change numbers beyond 2^53, and the engine is to get what the file says.

/** deepest is how deep a member may be nested; what is deeper does not become JSON again. */
export const deepest = 5_000;

/**
 * memberText is the text of a member of the object that a valid JSON text is; of the last one, where a key stands twice. It throws a
 * RangeError for one that is nested too deep.
 */
export function memberText(text: string, name: string): string {
  let found = "";
  let at = text.indexOf("{") + 1;
  for (;;) {
    const key = text.indexOf('"', at); // between members are commas and spaces only
    if (key < 0) return found;
    const keyEnd = stringEnd(text, key);
    const from = text.indexOf(":", keyEnd) + 1;
    at = valueEnd(text, from);
    if (JSON.parse(text.slice(key, keyEnd)) === name) found = text.slice(from, at).trim();
  }
}

// valueEnd is where the value ends that begins at or behind a place.
function valueEnd(text: string, at: number): number {
  for (let depth = 0; at < text.length; at++) {
    switch (text[at]) {
      case '"': at = stringEnd(text, at) - 1; break;
      case "{": case "[":
        if (++depth > deepest) throw new RangeError(`more than ${deepest} levels`);
        break;
      case "}": case "]":
        if (depth === 0) return at; // of the object around it
        depth--;
        break;
      case ",": if (depth === 0) return at;
    }
  }
  return at;
}

// stringEnd is the place behind the string that begins at a place.
function stringEnd(text: string, at: number): number {
  for (;;) {
    at = text.indexOf('"', at + 1);
    let slashes = 0;
    while (text[at - 1 - slashes] === "\\") slashes++;
    if (slashes % 2 === 0) return at + 1;
  }
}
