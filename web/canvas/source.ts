// The text of a part of a JSON document, as it was written: JSON.parse and JSON.stringify change
// numbers beyond 2^53, and the engine must get the original text.

/** deepest is the largest nesting of a member; deeper values are not converted back to JSON. */
export const deepest = 5_000;

/**
 * memberRange returns the range of a member's value in a valid JSON object, of the last one if a
 * key occurs twice. It throws a RangeError for a value that is nested too deep.
 */
export function memberRange(text: string, name: string): [from: number, to: number] {
  let found: [number, number] = [0, 0];
  let at = text.indexOf("{") + 1;
  for (;;) {
    const key = text.indexOf('"', at); // only commas and spaces separate members
    if (key < 0) return found;
    const keyEnd = stringEnd(text, key);
    const from = skip(text, text.indexOf(":", keyEnd) + 1);
    at = valueEnd(text, from);
    if (JSON.parse(text.slice(key, keyEnd)) === name) found = [from, trimmedEnd(text, from)];
  }
}

/** skip returns the index of the next character that is not a space. */
export function skip(text: string, at: number): number {
  while (at < text.length && " \t\n\r".includes(text[at] as string)) at++;
  return at;
}

/** trimmedEnd returns the index after the last character of the value that begins at an index. */
export function trimmedEnd(text: string, from: number): number {
  let end = valueEnd(text, from);
  while (end > from && " \t\n\r".includes(text[end - 1] as string)) end--;
  return end;
}

/** valueEnd returns the end of the value that begins at or after an index. */
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

/** stringEnd returns the index after the string that begins at an index. */
export function stringEnd(text: string, at: number): number {
  for (;;) {
    at = text.indexOf('"', at + 1);
    let slashes = 0;
    while (text[at - 1 - slashes] === "\\") slashes++;
    if (slashes % 2 === 0) return at + 1;
  }
}
