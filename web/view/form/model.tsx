// Editor of a node's model: suggests the models of the host and tests the chosen one.

import { choices, isListed } from "../../run/model-names.ts";
import { useApp, useStore, useText } from "../context.tsx";
import { ModelTest } from "../model-test.tsx";
import type { ControlProps } from "./props.ts";

/** ModelField edits the name of a model. */
export function ModelField({ id, value, onChange }: ControlProps): React.ReactNode {
  const t = useText();
  const { host, session } = useApp();
  const { status, models } = useStore(host.state, (state) => state);
  const choice = useStore(session.player.provider, (provider) => provider);
  const name = typeof value === "string" ? value : "";
  const own = choice.kind === "openai";
  const fixed = name.trim() !== "" && !name.includes("{");
  return (
    <>
      <input
        id={id}
        type="text"
        list={`${id}-models`}
        value={name}
        placeholder={t("form.default_model")}
        spellCheck={false}
        onChange={(event) => onChange(event.target.value)}
      />
      <datalist id={`${id}-models`}>
        {choices(models).map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      {!own && status === "open" && fixed && !isListed(models, name) && (
        <small className="missing">{t("model.absent", name)}</small>
      )}
      {(own || status === "open") && !name.includes("{") && (
        <ModelTest
          key={`${choice.kind} ${choice.url} ${name}`}
          choice={own ? choice : { ...choice, kind: "host", model: "" }}
          name={name}
        />
      )}
    </>
  );
}
