// Names of a host's models in canvases: `name`, `name@PROVIDER`, `name@INSTANCE@PROVIDER`, or an
// alias, in any case. A provider without a list of models accepts every name; the host lists it as
// `*@PROVIDER`. An alias for all other ids is listed as `*`.

/** HostModel is a model for chats that canvases of a host can name. */
export interface HostModel {
  id: string;
  provider: string;
  /** Other names of the provider. */
  provider_aliases?: string[];
  tools?: boolean;
  /** Steps that name no model use it. */
  default?: boolean;
}

/** isListed reports whether a host with a list of models has the one that a canvas names. */
export function isListed(models: Iterable<HostModel>, id: string): boolean {
  const wanted = split(id);
  for (const model of models) {
    if (same(model.id, id) || model.id === "*") return true;
    const { name, provider } = split(model.id);
    const here = [provider, ...(model.provider_aliases ?? [])].some((each) => same(each, wanted.provider));
    if ((wanted.provider === "" || here) && (name === "*" || same(name, wanted.name))) return true;
  }
  return false;
}

/** choices are the ids of models that a person can choose. */
export function choices(models: Iterable<HostModel>): string[] {
  return [...models].map(({ id }) => id).filter((id) => !id.startsWith("*"));
}

/** offline is the id of the stand-in that a host without models lists. */
export const offline = "offline";

function same(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

function split(id: string): { name: string; provider: string } {
  const at = id.lastIndexOf("@");
  if (at < 0) return { name: id, provider: "" };
  return { name: id.slice(0, id.indexOf("@")), provider: id.slice(at + 1) };
}
