// What a canvas names and is missing here: models, datasets, MCP servers, secrets and plugins, each
// with one control that settles it for all steps.

import { lazy, Suspense, useId, useMemo, useState } from "react";
import type { Dsl } from "../canvas/dsl.ts";
import { resourcesOf, type Choices, type Named, type ResourceKind } from "../canvas/edit/resources.ts";
import type { Installed, Secret, Server } from "../run/admin.ts";
import { Datasets, type Dataset } from "../run/datasets.ts";
import { HostError } from "../run/host.ts";
import { choices as modelChoices } from "../run/model-names.ts";
import { absent } from "../run/plugins.ts";
import { serverNamed } from "../run/server-names.ts";
import { useApp, useLook, useSpecText, useStore } from "./context.tsx";
import { offered } from "./edit/palette.tsx";
import { useHomeText } from "./home/text.ts";
import { chooseFile } from "./home/choose.ts";
import { Icon, type IconName } from "./icons.tsx";
import { useLacking } from "./lacking.ts";
import { useAttempt, useLoaded } from "./loaded.ts";
import { faultOf } from "./reason.tsx";
import { brief, titled } from "./text.ts";

const NewServer = lazy(() => import("./form/new-server.tsx"));

/** Missing lists the things that a canvas names and this place lacks. */
export interface Missing {
  kind: ResourceKind;
  name: string;
  /** Steps that use it. */
  nodes: readonly string[];
}

/** Needs has what is missing, and what can be chosen for it. */
export interface Needs {
  missing: Missing[];
  there: There;
  busy: boolean;
  fault?: string;
  reload(): Promise<void>;
}

interface There {
  datasets: Dataset[];
  servers: readonly Server[];
  plugins: Installed[];
  secrets: readonly string[];
}

const none: There = { datasets: [], servers: [], plugins: [], secrets: [] };
const mostDatasets = 100;
const longestName = 120; // signs that are shown

/** useNeeds looks for what a canvas names: here and, if it may ask, on the host. */
export function useNeeds(dsl: Dsl, mayAsk = true): Needs {
  const { session, host, serverNames } = useApp();
  const open = useStore(host.state, ({ status }) => status === "open") && mayAsk;
  const specs = useStore(session.specs, (all) => all);
  const here = useStore(session.plugins.list, (list) => list);
  const named = useMemo(() => resourcesOf(dsl), [dsl]);
  const models = useLacking(dsl);
  const asked = JSON.stringify([open, [...named.dataset.keys()], [...named.server.keys()], [...named.secret.keys()]]);
  const loaded = useLoaded(asked, async () => {
    if (!open) return { there: none, datasets: new Set<string>() };
    const list = <T,>(path: string): Promise<T[]> =>
      host.request<{ items: T[] }>("GET", `/api/v2/${path}`).then(({ items }) => items);
    const api = new Datasets(host);
    const [datasets, servers, plugins, secrets] = await Promise.all([
      api.list({ page_size: mostDatasets }).then(({ items }) => items),
      named.server.size > 0 ? serverNames.load() : [],
      list<Installed>("plugins").catch(forbidden),
      named.secret.size > 0 ? list<Secret>("secrets").catch(forbidden) : [],
    ]);
    const absentNames = [...named.dataset.keys()].filter((name) => !session.player.here.has(name)
      && !datasets.some((each) => each.id === name || each.name === name));
    // The first page has most hosts' datasets; others are asked for one by one.
    const isWhole = datasets.length < mostDatasets;
    const lost = isWhole ? absentNames : await notFound(api, absentNames);
    const there = { datasets, servers, plugins, secrets: secrets.map(({ name }) => name) };
    return { there, datasets: new Set(lost) };
  });
  const { there, datasets } = loaded.value ?? { there: none, datasets: new Set<string>() };
  const known = useMemo(() => new Set([...specs.keys()].map((name) => name.toLowerCase())), [specs]);
  const lacksKind = (kind: string): boolean =>
    kind.startsWith(pluginPrefix)
      ? absent([...here, ...there.plugins], [kind.slice(pluginPrefix.length)]).length > 0
      : known.size > 0 && !known.has(kind.toLowerCase());
  const answered = open && loaded.value !== undefined;
  const missing = [
    ...models.map(([name, nodes]): Missing => ({ kind: "model", name, nodes })),
    ...of("dataset", named.dataset, (name) => answered && datasets.has(name)),
    ...of("server", named.server, (name) => answered && !serverNamed(there.servers, name)),
    ...of("secret", named.secret, (name) => answered && !there.secrets.includes(name)),
    ...of("component", named.component, (kind) => (answered || !open) && lacksKind(kind)),
  ];
  const { busy, fault, reload } = loaded;
  return { missing, there, busy, reload, ...(fault === undefined ? {} : { fault }) };
}

const pluginPrefix = "plugin:";

function of(kind: ResourceKind, named: Named, test: (name: string) => boolean): Missing[] {
  return [...named].filter(([name]) => test(name)).map(([name, nodes]) => ({ kind, name, nodes }));
}

// forbidden returns an empty list for a person who may not read it, and throws other errors.
function forbidden(err: unknown): [] {
  if (err instanceof HostError && err.status === 403) return [];
  throw err;
}

const mostAsked = 100; // names of a canvas that the host is asked for

async function notFound(api: Datasets, names: string[]): Promise<string[]> {
  const asked = names.slice(0, mostAsked);
  const found = await Promise.all(asked.map((name) => api.find(name)));
  return asked.filter((_, i) => found[i] === undefined);
}

const icons: Record<ResourceKind, IconName> = {
  model: "spark", dataset: "search", server: "link", secret: "key", component: "box",
};

/** NeedList shows what is missing; a choice counts for all steps. */
export function NeedList({ needs, chosen = {}, title, onChoose }: {
  needs: Needs;
  chosen?: Choices;
  /** Title of the canvas, for a dataset that is made for it. */
  title: string;
  onChoose(kind: Missing["kind"], name: string, to: string | undefined): void;
}): React.ReactNode {
  const h = useHomeText();
  const { missing, fault, reload } = needs;
  return (
    <>
      {fault !== undefined && (
        <p className="fault" role="alert">
          {fault} <button type="button" onClick={() => void reload()}>{h("need_again")}</button>
        </p>
      )}
      {missing.length > 0 && (
        <section className="needs" aria-label={h("need_title")}>
          <b>{h("need_title")}</b>
          <ul>
            {missing.map((each) => (
              <li key={`${each.kind} ${each.name}`}>
                <Icon name={icons[each.kind]} />
                <Need
                  need={each} needs={needs} title={title}
                  value={each.kind === "secret" ? undefined : chosen[each.kind]?.get(each.name)}
                  onChoose={(to) => onChoose(each.kind, each.name, to)}
                />
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

interface NeedProps {
  need: Missing;
  needs: Needs;
  title: string;
  value: string | undefined;
  onChoose(to: string | undefined): void;
}

function Need(props: NeedProps): React.ReactNode {
  return props.need.kind === "secret" ? <SecretNeed {...props} /> : <ChoiceNeed {...props} />;
}

// Values of options that do something instead of naming a thing.
const acts = { leave: "", remove: " remove", create: " create", install: " install" } as const;

function ChoiceNeed({ need: { kind, name, nodes }, needs, title, value, onChoose }: NeedProps): React.ReactNode {
  const h = useHomeText();
  const { host, session } = useApp();
  const id = useId();
  const attempt = useAttempt();
  const [making, setMaking] = useState(false);
  const [made, setMade] = useState<Dataset>();
  const pluginFault = useStore(session.plugins.fault, (told) => told);
  const list = useOptions(kind, needs.there, made);
  const isPlugin = name.startsWith(pluginPrefix);
  const shown = brief(isPlugin ? name.slice(pluginPrefix.length) : name, longestName);
  const create = (): Promise<boolean> => attempt.run(async () => {
    const dataset = await new Datasets(host).create({ name: title || shown });
    setMade(dataset);
    onChoose(dataset.id);
  });
  const choose = (to: string): void => {
    if (to === acts.create) {
      if (kind === "dataset") void create();
      else setMaking(true);
    } else if (to === acts.install) chooseFile(".wasm,application/wasm", (file) => void session.plugins.add(file));
    else onChoose(to === acts.leave ? undefined : to === acts.remove ? "" : to);
  };
  const label = kind === "component" && !isPlugin ? h("need_component", shown) : h(`need_${words[kind]}`, shown);
  return (
    <div className="need">
      <label htmlFor={id}>{label} <small className="quiet">{h("need_steps", nodes.length)}</small></label>
      <select
        id={id} disabled={attempt.busy} value={value === undefined ? acts.leave : value || acts.remove}
        onChange={(event) => choose(event.target.value)}
      >
        <option value={acts.leave}>{h("need_leave")}</option>
        {list.map((group, i) => {
          const options = group.options.map(({ to, text }) => <option key={to} value={to}>{text}</option>);
          return group.label ? <optgroup key={i} label={group.label}>{options}</optgroup> : options;
        })}
        {kind === "dataset" && <option value={acts.create}>{h("need_new_dataset")}</option>}
        {kind === "server" && <option value={acts.create}>{h("need_new_server")}</option>}
        {isPlugin && <option value={acts.install}>{h("need_install")}</option>}
        {kind !== "model" && kind !== "secret" && <option value={acts.remove}>{h(`need_remove_${kind}`)}</option>}
      </select>
      {kind === "component" && pluginFault !== undefined && (
        <p className="fault small" role="alert">{faultOf(pluginFault)}</p>
      )}
      {isPlugin && <small className="quiet">{h("need_install_host", shown)}</small>}
      {attempt.fault !== undefined && <p className="fault small" role="alert">{attempt.fault}</p>}
      {making && (
        <Suspense fallback={<span className="spinner" />}>
          <NewServer
            onDone={(server) => {
              setMaking(false);
              if (server === undefined) return;
              onChoose(server);
              void needs.reload();
            }}
          />
        </Suspense>
      )}
    </div>
  );
}

const words = { model: "model", dataset: "dataset", server: "server", component: "plugin", secret: "secret" } as const;

interface Group {
  label?: string;
  options: { to: string; text: string }[];
}

// useOptions lists what can be used instead.
function useOptions(kind: ResourceKind, { datasets, servers, plugins }: There, made: Dataset | undefined): Group[] {
  const h = useHomeText();
  const say = useSpecText();
  const language = useLook((look) => look.language);
  const { session, host } = useApp();
  const models = useStore(host.state, (state) => state.models);
  const specs = useStore(session.specs, (all) => all);
  if (kind === "model") return [{ options: modelChoices(models).map((to) => ({ to, text: to })) }];
  if (kind === "dataset") {
    const all = made && !datasets.some(({ id }) => id === made.id) ? [...datasets, made] : datasets;
    return [{ options: all.map(({ id, name }) => ({ to: id, text: name })) }];
  }
  if (kind === "server") return [{ options: servers.map(({ id, name }) => ({ to: id, text: name })) }];
  const installed = plugins.map(({ component, display }) => {
    const to = pluginPrefix + component;
    return { to, text: display?.[language] ?? component };
  });
  const steps = offered(specs.values(), false, true)
    .map((spec) => ({ to: spec.name, text: say(titled(spec, spec.name)) }));
  return [
    { label: h("need_replace_plugin"), options: installed }, { label: h("need_replace_step"), options: steps },
  ].filter(({ options }) => options.length > 0);
}

// SecretNeed stores the value of a secret, which all steps name already.
function SecretNeed({ need: { name, nodes }, needs }: NeedProps): React.ReactNode {
  const h = useHomeText();
  const { host } = useApp();
  const id = useId();
  const attempt = useAttempt();
  const [value, setValue] = useState("");
  const store = (): Promise<boolean> => attempt.run(async () => {
    await host.request("PUT", `/api/v2/secrets/${encodeURIComponent(name)}`, { value });
    await needs.reload();
  });
  return (
    <form
      className="need"
      onSubmit={(event) => {
        event.preventDefault();
        if (value !== "") void store();
      }}
    >
      <label htmlFor={id}>
        {h("need_secret", brief(name, longestName))} <small className="quiet">{h("need_steps", nodes.length)}</small>
      </label>
      <span className="line">
        <input
          id={id} type="password" autoComplete="new-password" placeholder={h("need_secret_value")} value={value}
          onChange={(event) => setValue(event.target.value)}
        />
        <button type="submit" disabled={value === "" || attempt.busy}>{h("need_store")}</button>
      </span>
      {attempt.fault !== undefined && <p className="fault small" role="alert">{attempt.fault}</p>}
    </form>
  );
}
