// The pipelines of the host, and a new one from a recipe.

import { useId, useState } from "react";
import type { Datasets } from "../../run/datasets.ts";
import steps from "../../run/recipes.json";
import { pipelineText, recipes, type Recipe } from "../../run/recipes.ts";
import { Fault, useAttempt, useLoaded } from "../area/parts.tsx";
import { useAreaText } from "../area/text.ts";
import { useApp, useStore } from "../context.tsx";
import { shown } from "../../words/shown.ts";
import { Icon } from "../icons.tsx";
import { FormDialog } from "./form-dialog.tsx";

/** Pipelines lists them. */
export function Pipelines({ api }: { api: Datasets }): React.ReactNode {
  const a = useAreaText();
  const { host } = useApp();
  const mayEdit = useStore(host.state, ({ scopes }) => scopes.includes("edit"));
  const list = useLoaded("pipelines", () => api.pipelines());
  const [adding, setAdding] = useState(false);
  const title = useId();
  return (
    <section className="pipelines" aria-labelledby={title}>
      <div className="tools">
        <h2 id={title}>{a("pipelines.title")}</h2>
        <span className="grow" />
        {mayEdit && (
          <button type="button" onClick={() => setAdding(true)}>
            <Icon name="plus" />
            {a("pipelines.new")}
          </button>
        )}
      </div>
      <Fault text={list.fault} onAgain={list.reload} />
      {list.value?.length === 0 && <p className="quiet">{a("pipelines.none")}</p>}
      <ul className="cards">
        {list.value?.map((pipeline) => (
          <li key={pipeline.id}>
            <a className="card" href={`#canvas=${encodeURIComponent(pipeline.id)}`}>
              <b>{shown(pipeline.title)}</b>
            </a>
          </li>
        ))}
      </ul>
      {adding && <NewPipeline onClose={() => setAdding(false)} />}
    </section>
  );
}

function NewPipeline({ onClose }: { onClose(): void }): React.ReactNode {
  const a = useAreaText();
  const { host } = useApp();
  const [recipe, setRecipe] = useState<Recipe>("plain");
  const [name, setName] = useState("");
  const attempt = useAttempt();
  const create = (): void =>
    void attempt.run(async () => {
      const { id } = await host.create(name.trim(), pipelineText(steps[recipe]));
      location.hash = `#canvas=${encodeURIComponent(id)}`;
    });
  return (
    <FormDialog
      title={a("pipelines.new")} className="cut-dialog" send={a("pipelines.create")}
      isReady={!attempt.busy && name.trim() !== ""} onSend={create} onClose={onClose}
    >
      <label className="field">
        {a("dataset.name")}
        <input
          type="text" required maxLength={200} autoFocus value={name}
          onChange={(event) => setName(event.target.value)}
        />
      </label>
      <fieldset className="cut">
        <legend>{a("pipelines.from")}</legend>
        <div className="cut-methods">
          {recipes.map((each) => (
            <label key={each} data-on={recipe === each || undefined}>
              <input type="radio" name="recipe" checked={recipe === each} onChange={() => setRecipe(each)} />
              <span>
                <b>{a(`recipe.${each}`)}</b>
                <small>{a(`recipe.${each}_line`)}</small>
              </span>
            </label>
          ))}
        </div>
      </fieldset>
      <Fault text={attempt.fault} />
    </FormDialog>
  );
}
