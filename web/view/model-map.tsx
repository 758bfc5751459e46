// Models that a canvas names and the host does not have, each with one choice for all its steps.

import { useMemo } from "react";
import type { Dsl } from "../canvas/dsl.ts";
import { modelsOf } from "../canvas/edit/models.ts";
import { choices, isListed } from "../run/model-names.ts";
import { useApp, useStore, useText } from "./context.tsx";

/** useLacking lists the models that the signed-in person's host lacks, with the steps of each. */
export function useLacking(dsl: Dsl | undefined): [id: string, nodes: string[]][] {
  const { host } = useApp();
  const { status, models } = useStore(host.state, (state) => state);
  return useMemo(() => {
    if (!dsl || status !== "open" || models.length === 0) return [];
    return [...modelsOf(dsl)].filter(([id]) => !isListed(models, id));
  }, [dsl, status, models]);
}

/** ModelMap offers a model of the host for each one that it lacks. */
export function ModelMap({
  lacking,
  chosen,
  onChoose,
}: {
  lacking: [id: string, nodes: string[]][];
  chosen?: ReadonlyMap<string, string>;
  onChoose(id: string, model: string): void;
}): React.ReactNode {
  const t = useText();
  const { host } = useApp();
  const models = useStore(host.state, (state) => state.models);
  return (
    <section className="model-map" aria-label={t("model.lacking")}>
      <b>{t("model.lacking")}</b>
      {lacking.map(([id, nodes]) => (
        <label key={id} className="field">
          {t("model.in_place", id, nodes.length)}
          <select value={chosen?.get(id) ?? ""} onChange={(event) => onChoose(id, event.target.value)}>
            <option value="">{t("model.leave")}</option>
            {choices(models).map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
      ))}
    </section>
  );
}
