// Model providers with a test, and the models for steps that name none.

import { useState } from "react";
import {
  apis,
  modelKinds,
  presetOf,
  presetsFor,
  providerOf,
  type Defaults,
  type Learned,
  type Model,
  type Preset,
  type Prices,
  type Provider,
  type Tested,
} from "../../run/admin.ts";
import { Empty, Fault, useAttempt, useLoaded, type Loaded } from "../area/parts.tsx";
import { useApp } from "../context.tsx";
import { Aliases } from "./aliases.tsx";
import { Fallbacks } from "./fallbacks.tsx";
import { LearnedList } from "./learned.tsx";
import { LocalProviders } from "./local-providers.tsx";
import { Offers } from "./offers.tsx";
import { OwnPrices } from "./prices.tsx";
import { Adder, Field, namesOf, Row, textOf, useAdmin, useSettingsText, Waiting } from "./parts.tsx";

/** ModelsSection lists providers. */
export function ModelsSection(): React.ReactNode {
  const s = useSettingsText();
  const admin = useAdmin();
  const [added, setAdded] = useState(0); // an empty form after each
  const { host } = useApp();
  const [latest, setLatest] = useState(""); // provider whose models are shown at once
  const loaded = useLoaded("models", async () => ({
    providers: await admin.list<Provider>("/providers"),
    presets: await admin.list<Preset>("/provider-presets"),
    models: await admin.list<Model>("/models"),
    defaults: await admin.get<Defaults>("/models/default"),
    aliases: (await admin.get<{ aliases: Record<string, string> }>("/models/aliases")).aliases,
    prices: await admin.get<Prices>("/models/prices"),
    learned: host.state.get().scopes.includes("admin") ? await admin.list<Learned>("/models/learned") : [],
  }));
  const { value } = loaded;
  const after: typeof loaded.after = (act) =>
    loaded.after(async () => {
      const done = await act();
      await host.learn();
      return done;
    });
  if (!value) return <Waiting loaded={loaded} />;
  const { providers, presets, models, defaults, aliases, learned, prices } = value;
  const shared = models.filter(({ host }) => host);
  const put = async (name: string, body: { models?: unknown[] }): Promise<void> => {
    setLatest(host.state.get().answers || body.models?.length ? "" : name);
    await after(() => admin.put(pathOf(name), body));
    setAdded((n) => n + 1);
  };
  const add = (values: FormData): Promise<void> => put(textOf(values, "name"), providerOf(formOf(values)));
  const mayFind = host.state.get().scopes.includes("host");
  return (
    <>
      <p className="quiet">{s("models_hint")}</p>
      {providers.length === 0 && <Empty title={s("models_none")} text={s("models_none_hint")} />}
      {providers.length > 0 && (
        <ul className="entries settings-list" aria-label={s("models")}>
          {providers.map((each) => (
            <ProviderRow
              key={each.name}
              provider={each}
              listedFirst={each.name === latest}
              defaults={defaults}
              after={after}
            />
          ))}
        </ul>
      )}
      {shared.length > 0 && (
        <p className="facts">
          {shared.map(({ id }) => id).join(", ")} · {s("shared")}
        </p>
      )}
      <Adder label={s("provider_add")} onSubmit={add} open={providers.length === 0}>
        <NewProvider key={added} presets={presets} />
      </Adder>
      {mayFind && <LocalProviders providers={providers} onAdd={put} />}
      <DefaultModels models={models} defaults={defaults} after={after} />
      <Aliases aliases={aliases} models={models} after={after} />
      <Fallbacks providers={providers} models={models} after={after} />
      <OwnPrices known={prices} models={models} after={after} />
      {learned.length > 0 && <LearnedList learned={learned} after={after} />}
    </>
  );
}

const pathOf = (name: string): string => `/providers/${encodeURIComponent(name)}`;

// formOf reads the fields of a provider.
function formOf(values: FormData): Parameters<typeof providerOf>[0] {
  const [chat = [], embedding = [], speech = [], rerank = [], transcription = []] = modelKinds.map((kind) =>
    namesOf(values, `models_${kind}`),
  );
  return {
    api: textOf(values, "api"),
    url: textOf(values, "url"),
    key: textOf(values, "key"),
    models: { chat, embedding, speech, rerank, transcription },
  };
}

/** NewProvider takes a name; a preset with a known URL needs at most a key. */
function NewProvider({ presets }: { presets: Preset[] }): React.ReactNode {
  const s = useSettingsText();
  const [name, setName] = useState("");
  const preset = presetOf(name, presets);
  const shown = preset ? [preset] : presetsFor(name, presets);
  return (
    <>
      <Field
        label={s("provider_name")}
        name="name"
        required
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      {shown.length > 0 && (
        <ul className="presets" aria-label={s("presets")}>
          {shown.map((each) => (
            <li key={each.name}>
              <button
                type="button"
                aria-pressed={each === preset}
                onClick={() => setName(each === preset ? "" : each.name)}
              >
                <span className="letter" aria-hidden="true">
                  {each.name[0]}
                </span>
                {each.name}
              </button>
            </li>
          ))}
        </ul>
      )}
      {preset?.base_url ? (
        <>
          <p className="quiet">{s(preset.local ? "preset_local" : "preset_at", preset.base_url)}</p>
          {!preset.local && <KeyField />}
        </>
      ) : (
        name.trim() !== "" && <ProviderFields key={preset?.name} api={preset?.api} example={preset?.base_url_example} />
      )}
    </>
  );
}

function KeyField({ kept }: { kept?: boolean }): React.ReactNode {
  const s = useSettingsText();
  return (
    <Field
      label={s(kept ? "provider_key_kept" : "provider_key")}
      name="key"
      type="password"
      autoComplete="new-password"
    />
  );
}

function ProviderFields({
  provider,
  api,
  example = "https://api.example.org/v1",
}: { provider?: Provider; api?: string; example?: string }): React.ReactNode {
  const s = useSettingsText();
  const [chosen, setChosen] = useState<string>();
  const form = chosen ?? (provider?.api || api || "openai");
  const names = (kind: string): string =>
    (provider?.models ?? []).filter((model) => (model.kind || "chat") === kind).map(({ name }) => name).join(", ");
  return (
    <>
      <label className="field">
        {s("provider_api")}
        <select name="api" value={form} onChange={(event) => setChosen(event.target.value)}>
          {apis.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </label>
      <Field
        label={s("provider_url")}
        name="url"
        type="url"
        placeholder={example}
        defaultValue={provider?.base_url}
      />
      <KeyField kept={provider?.has_key} />
      {form === "bedrock" && <p className="quiet">{s("provider_key_bedrock")}</p>}
      {modelKinds.map((kind) => (
        <Field
          key={kind}
          label={s(`provider_models_${kind}`)}
          name={`models_${kind}`}
          defaultValue={names(kind)}
        />
      ))}
    </>
  );
}

function ProviderRow({
  provider,
  listedFirst,
  defaults,
  after,
}: { provider: Provider; listedFirst: boolean; defaults: Defaults } & Pick<Loaded<unknown>, "after">): React.ReactNode {
  const s = useSettingsText();
  const admin = useAdmin();
  const path = pathOf(provider.name);
  const attempt = useAttempt();
  const [tested, setTested] = useState<Tested>();
  const [listed, setListed] = useState(listedFirst);
  const names = provider.models.map(({ name }) => name);
  const test = async (): Promise<void> => {
    setTested(undefined);
    setTested(await admin.post<Tested>(`${path}/test`));
  };
  return (
    <Row
      title={provider.name}
      facts={[provider.base_url, names.join(", ") || s("provider_any"), !provider.has_key && s("provider_no_key")]}
      acts={
        <>
          <button type="button" aria-expanded={listed} onClick={() => setListed(!listed)}>
            {s("provider_models")}
          </button>
          <button type="button" disabled={attempt.busy} onClick={() => void attempt.run(test)}>
            {s(attempt.busy ? "provider_testing" : "provider_test")}
          </button>
        </>
      }
      lost={s("lost_provider")}
      remove={() => after(() => admin.remove(path))}
    >
      <Fault text={attempt.fault} />
      {tested?.ok && (
        <p className="verdict good" role="status">
          {s("provider_ok", tested.model, tested.took_ms, tested.answer ?? "")}
        </p>
      )}
      {tested && !tested.ok && <Fault text={s("provider_failed", tested.model, tested.error ?? "")} />}
      {listed && <Offers provider={provider} defaults={defaults} after={after} />}
      <Adder
        label={s("edit")}
        onSubmit={(values) => after(() => admin.put(path, providerOf(formOf(values), provider)))}
      >
        <ProviderFields provider={provider} />
      </Adder>
    </Row>
  );
}

function DefaultModels({
  models,
  defaults,
  after,
}: {
  models: Model[];
  defaults: Defaults;
} & Pick<Loaded<unknown>, "after">): React.ReactNode {
  const s = useSettingsText();
  const admin = useAdmin();
  const attempt = useAttempt();
  const change = (kind: keyof Defaults, id: string): void =>
    void attempt.run(() => after(() => admin.put("/models/default", { ...defaults, [kind]: id })));
  return (
    <section className="settings-part">
      <h2>{s("defaults")}</h2>
      <p className="quiet">{s("defaults_hint")}</p>
      <div className="settings-fields">
        {(["chat", "embedding", "speech", "transcription"] as const).map((kind) => {
          const chosen = defaults[kind] ?? "";
          const ids = models.filter((model) => model.kind === kind && !model.id.startsWith("*")).map(({ id }) => id);
          if (chosen && !ids.includes(chosen)) ids.push(chosen);
          return (
            <label key={kind} className="field">
              {s(`default_${kind}`)}
              <select value={chosen} disabled={attempt.busy} onChange={(event) => change(kind, event.target.value)}>
                <option value="">{s("default_host")}</option>
                {ids.map((id) => (
                  <option key={id}>{id}</option>
                ))}
              </select>
            </label>
          );
        })}
      </div>
      <Fault text={attempt.fault} />
    </section>
  );
}
