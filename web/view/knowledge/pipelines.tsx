// The pipelines of the host, and a new one from a recipe.

import { useId, useRef, useState } from "react";
import type { Datasets } from "../../run/datasets.ts";
import steps from "../../run/recipes.json";
import { pipelineText, recipes, type Recipe } from "../../run/recipes.ts";
import { Fault, useAttempt, useLoaded } from "../area/parts.tsx";
import { useAreaText } from "../area/text.ts";
import { useApp, useStore, useText } from "../context.tsx";
import { Icon } from "../icons.tsx";

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
              <b>{pipeline.title}</b>
            </a>
          </li>
        ))}
      </ul>
      {adding && <NewPipeline onClose={() => setAdding(false)} />}
    </section>
  );
}

function NewPipeline({ onClose }: { onClose(): void }): React.ReactNode {
  const t = useText();
  const a = useAreaText();
  const { host } = useApp();
  const [recipe, setRecipe] = useState<Recipe>("plain");
  const [name, setName] = useState("");
  const attempt = useAttempt();
  const title = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const create = (): void =>
    void attempt.run(async () => {
      const { id } = await host.create(name.trim(), pipelineText(steps[recipe]));
      location.hash = `#canvas=${encodeURIComponent(id)}`;
    });
  return (
    <dialog
      className="cut-dialog"
      ref={(element) => {
        dialog.current = element;
        if (element && !element.open) element.showModal();
      }}
      aria-labelledby={title} onClose={onClose}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          create();
        }}
      >
        <h2 id={title}>{a("pipelines.new")}</h2>
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
        <div className="tools end">
          <button type="button" onClick={() => dialog.current?.close()}>
            {t("error.close")}
          </button>
          <button type="submit" className="primary" disabled={attempt.busy || name.trim() === ""}>
            {a("pipelines.create")}
          </button>
        </div>
      </form>
    </dialog>
  );
}
