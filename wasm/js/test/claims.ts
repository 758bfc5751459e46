// Assertions for tests that run in a page and in Node.

/** holds fails with the text unless the condition is true. */
export function holds(condition: unknown, text: string): asserts condition {
  if (!condition) throw new Error("does not hold: " + text);
}

/** same compares values as JSON, members in any order. */
export function same(actual: unknown, expected: unknown, what = "value"): void {
  const [a, b] = [plain(actual), plain(expected)];
  if (a !== b) throw new Error(`${what}: is ${a}, should be ${b}`);
}

/** fits compares a string with a pattern. */
export function fits(actual: string | undefined, pattern: RegExp, what = "text"): void {
  if (actual === undefined || !pattern.test(actual))
    throw new Error(`${what}: ${JSON.stringify(actual)?.slice(0, 2000)} does not fit ${String(pattern)}`);
}

/** fails waits for an EngineError with this code, and returns it. */
export async function fails(
  doing: Promise<unknown>,
  code: string,
  message = /./,
): Promise<{ code: string; message: string }> {
  const error = await doing.then(
    () => undefined,
    (err: unknown) => err as { name: string; code: string; message: string },
  );
  if (!error) throw new Error(`did not fail, should with ${code}`);
  same([error.name, error.code], ["EngineError", code], `error ${error.message}`);
  fits(error.message, message, "message");
  return error;
}

function plain(value: unknown): string {
  const sorted = (_: string, given: unknown): unknown =>
    typeof given !== "object" || given === null || Array.isArray(given)
      ? given
      : Object.fromEntries(Object.entries(given).sort(([a], [b]) => (a < b ? -1 : 1)));
  return JSON.stringify(value, sorted) ?? "undefined";
}
