// The components that a person has added last, for the palette.

const stored = "easel.recent";
const most = 4;

/** recent lists names of components, the latest first. */
export function recent(): string[] {
  try {
    const names: unknown = JSON.parse(localStorage.getItem(stored) ?? "[]");
    return Array.isArray(names) ? names.filter((name) => typeof name === "string").slice(0, most) : [];
  } catch {
    return []; // a page may be forbidden to remember
  }
}

/** remember puts a component first. */
export function remember(name: string): void {
  try {
    const names = [name, ...recent().filter((each) => each !== name)].slice(0, most);
    localStorage.setItem(stored, JSON.stringify(names));
  } catch { /* as above */ }
}
