// Prices of models that the tenant has set.

import type { Model, Price, Prices } from "../../run/admin.ts";
import type { Loaded } from "../area/parts.tsx";
import { Adder, Field, Row, textOf, useAdmin, useSettingsText } from "./parts.tsx";

const optional = ["cached_input", "cache_write"] as const;

/** OwnPrices lists them, and sets one. */
export function OwnPrices({
  known: { currency, prices },
  models,
  after,
}: { known: Prices; models: Model[] } & Pick<Loaded<unknown>, "after">): React.ReactNode {
  const s = useSettingsText();
  const admin = useAdmin();
  const put = (next: Record<string, Price>): Promise<void> =>
    after(() => admin.put("/models/prices", { prices: next }));
  const add = (values: FormData): Promise<void> => {
    const price: Price = { input: Number(textOf(values, "input")), output: Number(textOf(values, "output")) };
    for (const name of optional) if (textOf(values, name) !== "") price[name] = Number(textOf(values, name));
    if (Object.values(price).some((n: number) => !(n >= 0))) return Promise.reject(new Error(s("price_bad")));
    return put({ ...prices, [textOf(values, "model")]: price });
  };
  const facts = ({ input, output, cached_input, cache_write }: Price): (string | false)[] => [
    `${s("price_input")} ${input}`,
    `${s("price_output")} ${output}`,
    cached_input !== undefined && `${s("price_cached")} ${cached_input}`,
    cache_write !== undefined && `${s("price_written")} ${cache_write}`,
  ];
  return (
    <section className="settings-part">
      <h2>{s("prices")}</h2>
      <p className="quiet">{s("prices_hint", currency || s("prices_currency"))}</p>
      {Object.keys(prices).length > 0 && (
        <ul className="entries settings-list" aria-label={s("prices")}>
          {Object.entries(prices).map(([id, price]) => (
            <Row
              key={id}
              title={id}
              facts={facts(price)}
              remove={() => {
                const { [id]: _gone, ...rest } = prices;
                return put(rest);
              }}
            />
          ))}
        </ul>
      )}
      <Adder label={s("price_add")} onSubmit={add}>
        <Field label={s("price_model")} name="model" required list="priced-models" />
        <datalist id="priced-models">
          {models.filter(({ id }) => !id.startsWith("*")).map(({ id }) => (
            <option key={id} value={id} />
          ))}
        </datalist>
        <Field label={s("price_input")} name="input" inputMode="decimal" required />
        <Field label={s("price_output")} name="output" inputMode="decimal" required />
        <Field label={s("price_cached")} name="cached_input" inputMode="decimal" />
        <Field label={s("price_written")} name="cache_write" inputMode="decimal" />
      </Adder>
    </section>
  );
}
