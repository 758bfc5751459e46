// The text of a part of a JSON document, as it was written: JSON.parse and JSON.stringify
// change numbers beyond 2^53, and the engine is to get what the file says.

/** deepest is how deep a member may be nested; what is deeper does not become JSON again. */
export const deepest = 5_000;

/**
 * memberRange is where the value of a member stands in the object that a valid JSON text is; of the
 * last one, where a key stands twice. It throws a RangeError for one that is nested too deep.
 */
export function memberRange(text: string, name: string): [from: number, to: number] {
  let found: [number, number] = [0, 0];
  let at = text.indexOf("{") + 1;
  for (;;) {
    const key = text.indexOf('"', at); // between members are commas and spaces only
    if (key < 0) return found;
    const keyEnd = stringEnd(text, key);
    const from = skip(text, text.indexOf(":", keyEnd) + 1);
    at = valueEnd(text, from);
    if (JSON.parse(text.slice(key, keyEnd)) === name) found = [from, trimmedEnd(text, from)];
  }
}

/** skip is the place of the next character that is no space. */
export function skip(text: string, at: number): number {
  while (at < text.length && " \t\n\r".includes(text[at] as string)) at++;
  return at;
}

/** trimmedEnd is the place behind the last character of the value that begins at a place. */
export function trimmedEnd(text: string, from: number): number {
  let end = valueEnd(text, from);
  while (end > from && " \t\n\r".includes(text[end - 1] as string)) end--;
  return end;
}

/** valueEnd is where the value ends that begins at or behind a place. */
export function valueEnd(text: string, at: number): number {
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

/** stringEnd is the place behind the string that begins at a place. */
export function stringEnd(text: string, at: number): number {
  for (;;) {
    at = text.indexOf('"', at + 1);
    let slashes = 0;
    while (text[at - 1 - slashes] === "\\") slashes++;
    if (slashes % 2 === 0) return at + 1;
  }
}
