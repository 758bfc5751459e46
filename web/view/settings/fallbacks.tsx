// What happens when the server of a model fails, and the parameters that a model never gets.

import type { Model, Provider, ProviderModel } from "../../run/admin.ts";
import type { Loaded } from "../area/parts.tsx";
import { Adder, Field, namesOf, Row, textOf, useAdmin, useSettingsText } from "./parts.tsx";

interface Listed {
  id: string;
  provider: Provider;
  model: ProviderModel;
}

/** Fallbacks lists models with others to call instead, and sets them for one that is listed. */
export function Fallbacks({
  providers,
  models,
  after,
}: { providers: Provider[]; models: Model[] } & Pick<Loaded<unknown>, "after">): React.ReactNode {
  const s = useSettingsText();
  const admin = useAdmin();
  const listed = providers.flatMap((provider): Listed[] =>
    provider.models
      .filter(({ kind }) => !kind || kind === "chat")
      .map((model) => ({ id: `${model.name}@${provider.name}`, provider, model })),
  );
  const set = listed.filter(({ model: { fallback = [], drop = [] } }) => fallback.length + drop.length > 0);
  const put = (id: string, change: Pick<ProviderModel, "fallback" | "drop">): Promise<void> => {
    const found = listed.find((each) => each.id === id);
    if (!found) throw new Error(s("fallback_unlisted"));
    const { name, has_key: _key, header_names: _headers, ...rest } = found.provider;
    const changed = rest.models.map((each) => (each === found.model ? { ...each, ...change } : each));
    return after(() => admin.put(`/providers/${encodeURIComponent(name)}`, { ...rest, models: changed }));
  };
  const add = (values: FormData): Promise<void> =>
    put(textOf(values, "model"), { fallback: namesOf(values, "fallback"), drop: namesOf(values, "drop") });
  const ids = models.filter(({ kind, id }) => kind === "chat" && !id.startsWith("*")).map(({ id }) => id);
  return (
    <section className="settings-part">
      <h2>{s("fallbacks")}</h2>
      <p className="quiet">{s(listed.length > 0 ? "fallbacks_hint" : "fallback_unlisted")}</p>
      {set.length > 0 && (
        <ul className="entries settings-list" aria-label={s("fallbacks")}>
          {set.map(({ id, model: { fallback = [], drop = [] } }) => (
            <Row
              key={id}
              title={id}
              facts={[
                fallback.length > 0 && s("fallback_to", fallback.join(", ")),
                drop.length > 0 && s("fallback_drops", drop.join(", ")),
              ]}
              remove={() => put(id, { fallback: [], drop: [] })}
            />
          ))}
        </ul>
      )}
      {listed.length > 0 && (
        <Adder label={s("fallback_set")} onSubmit={add}>
          <label className="field">
            {s("fallback_model")}
            <select name="model">
              {listed.map(({ id }) => (
                <option key={id}>{id}</option>
              ))}
            </select>
          </label>
          <Field label={s("fallback")} name="fallback" list="fallback-models" placeholder="gpt-5@OpenAI" />
          <Field label={s("fallback_drop")} name="drop" placeholder="temperature, top_p" />
          <datalist id="fallback-models">
            {ids.map((id) => (
              <option key={id} value={id} />
            ))}
          </datalist>
        </Adder>
      )}
    </section>
  );
}
