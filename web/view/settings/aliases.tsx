// Other names of models, by which canvases of elsewhere find one of this host.

import type { Model } from "../../run/admin.ts";
import type { Loaded } from "../area/parts.tsx";
import { Adder, Field, Row, textOf, useAdmin, useSettingsText } from "./parts.tsx";

/** Aliases lists them, and adds one. */
export function Aliases({
  aliases,
  models,
  after,
}: { aliases: Record<string, string>; models: Model[] } & Pick<Loaded<unknown>, "after">): React.ReactNode {
  const s = useSettingsText();
  const admin = useAdmin();
  const put = (next: Record<string, string>): Promise<void> =>
    after(() => admin.put("/models/aliases", { aliases: next }));
  const add = (values: FormData): Promise<void> =>
    put({ ...aliases, [textOf(values, "alias")]: textOf(values, "model") });
  const { [""]: _none, ...known } = aliases;
  const ids = models.filter(({ kind, id }) => kind === "chat" && !id.startsWith("*")).map(({ id }) => id);
  return (
    <section className="settings-part">
      <h2>{s("aliases")}</h2>
      <p className="quiet">{s("aliases_hint")}</p>
      {Object.keys(known).length > 0 && (
        <ul className="entries settings-list" aria-label={s("aliases")}>
          {Object.entries(known).map(([alias, id]) => (
            <Row
              key={alias}
              title={alias}
              facts={[id]}
              remove={() => {
                const { [alias]: _gone, ...rest } = known;
                return put(rest);
              }}
            />
          ))}
        </ul>
      )}
      <Adder label={s("alias_add")} onSubmit={add}>
        <Field label={s("alias")} name="alias" required />
        <Field label={s("alias_model")} name="model" required list="alias-models" />
        <datalist id="alias-models">
          {ids.map((id) => (
            <option key={id} value={id} />
          ))}
        </datalist>
      </Adder>
    </section>
  );
}
