// How canvases name the models of a host: `name`, `name@PROVIDER`, `name@INSTANCE@PROVIDER`, or an
// alias. A provider without a list of models takes every name; the host lists it as `*@PROVIDER`.
// An alias for all other ids is listed as `*`.

/** isListed reports whether a host with a list of models has the one that a canvas names. */
export function isListed(models: Iterable<string>, id: string): boolean {
  const wanted = split(id);
  for (const each of models) {
    if (each === id || each === "*") return true;
    const { name, provider } = split(each);
    const here = wanted.provider === "" || provider.toLowerCase() === wanted.provider.toLowerCase();
    if (here && (name === "*" || name === wanted.name)) return true;
  }
  return false;
}

function split(id: string): { name: string; provider: string } {
  const at = id.lastIndexOf("@");
  if (at < 0) return { name: id, provider: "" };
  return { name: id.slice(0, id.indexOf("@")), provider: id.slice(at + 1) };
}
