// Which datasets a node searches: by name if the host lists them, else as they are written. A
// dataset that is not on this host is marked as missing.

import { useEffect, useMemo, useState } from "react";
import { Datasets } from "../../run/datasets.ts";
import { shown } from "../../words/shown.ts";
import { useLoaded, useWords } from "../area/parts.tsx";
import { useAreaText } from "../area/text.ts";
import { areaLink } from "../areas.tsx";
import { useApp, useStore } from "../context.tsx";
import { Icon } from "../icons.tsx";
import type { ControlProps } from "./props.ts";

const offered = 100;

/** DatasetPicker edits a list of datasets. */
export default function DatasetPicker({
  id,
  label,
  value,
  onChange,
}: Omit<ControlProps, "value"> & { value: string[] }): React.ReactNode {
  const a = useAreaText();
  const { host, session } = useApp();
  const status = useStore(host.state, (state) => state.status);
  const here = session.player.here;
  const api = useMemo(() => new Datasets(host), [host]);
  const remove = (name: string): void => onChange(value.filter((each) => each !== name));
  return (
    <div className="datasets">
      {value.length > 0 && (
        <ul className="picked">
          {value.map((name) => (
            <li key={name}>
              {here.has(name) || name.startsWith("{") || status !== "open" ? (
                <span>
                  <code>{name}</code>
                </span>
              ) : (
                <Named name={name} />
              )}
              <button
                type="button"
                className="icon-button"
                aria-label={a("picker.remove", name)}
                onClick={() => remove(name)}
              >
                <Icon name="cross" />
              </button>
            </li>
          ))}
        </ul>
      )}
      {status === "open" ? (
        <Add id={id} api={api} label={label} value={value} onChange={onChange} />
      ) : (
        <AddById id={id} value={value} label={label} onChange={onChange} />
      )}
      {status === "none" && <small>{a("picker.offline")}</small>}
      {status !== "open" && status !== "none" && (
        <small>
          {a("picker.sign_in")} <a href={areaLink("knowledge")}>{a("picker.sign_in_link")}</a>
        </small>
      )}
    </div>
  );
}

function Named({ name }: { name: string }): React.ReactNode {
  const a = useAreaText();
  const { datasetNames } = useApp();
  const found = useStore(datasetNames.known, (all) => all.get(name));
  useEffect(() => void datasetNames.ask(name, true), [datasetNames, name]); // a missing one may be there by now
  if (found === undefined)
    return (
      <span>
        <span className="spinner" aria-hidden="true" /> <code>{name}</code>
      </span>
    );
  if (found === null)
    return (
      <span className="missing" role="alert">
        <code>{name}</code> {a("picker.missing")}
      </span>
    );
  if (typeof found === "string")
    return (
      <span>
        <code>{name}</code> <small>{found}</small>
      </span>
    );
  return (
    <span>
      <a href={areaLink("knowledge", found.id)}>{found.name}</a>{" "}
      <small>{a("dataset.counts", found.documents.toLocaleString(), found.chunks.toLocaleString())}</small>
    </span>
  );
}

function Add({
  id,
  api,
  label,
  value,
  onChange,
}: {
  id: string;
  api: Datasets;
  label: string;
  value: string[];
  onChange(value: string[]): void;
}): React.ReactNode {
  const a = useAreaText();
  const { datasetNames } = useApp();
  const { typed, words, type } = useWords();
  const list = useLoaded(words, () => api.list({ page_size: offered, ...(words ? { words } : {}) }));
  const items = (list.value?.items ?? []).filter(
    (dataset) => !value.includes(dataset.id) && !value.includes(dataset.name),
  );
  const many = (list.value?.total ?? 0) > offered || words !== "" || typed !== "";
  const choose = (chosen: string): void => {
    const dataset = items.find((each) => each.id === chosen);
    if (!dataset) return;
    datasetNames.add(dataset);
    onChange([...value, dataset.id]);
  };
  return (
    <>
      {many && (
        <input
          type="search"
          value={typed}
          placeholder={a("dataset.find")}
          aria-label={a("dataset.find")}
          onChange={(event) => type(event.target.value)}
        />
      )}
      <select
        id={id}
        aria-label={`${label}: ${a("picker.add")}`}
        value=""
        onChange={(event) => choose(event.target.value)}
      >
        <option value="">{list.value?.total === 0 && words === "" ? a("picker.none") : a("picker.add")}</option>
        {items.map((dataset) => (
          <option key={dataset.id} value={dataset.id}>
            {shown(dataset.name)}
          </option>
        ))}
      </select>
      {list.fault !== undefined && <small className="missing">{list.fault}</small>}
    </>
  );
}

function AddById({
  id,
  label,
  value,
  onChange,
}: {
  id: string;
  label: string;
  value: string[];
  onChange(value: string[]): void;
}): React.ReactNode {
  const a = useAreaText();
  const [text, setText] = useState("");
  const add = (): void => {
    const name = text.trim();
    if (name && !value.includes(name)) onChange([...value, name]);
    setText("");
  };
  return (
    <div className="line">
      <input
        id={id}
        type="text"
        value={text}
        placeholder={a("picker.by_id")}
        aria-label={`${label}: ${a("picker.by_id")}`}
        spellCheck={false}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") {
            event.preventDefault();
            add();
          }
        }}
      />
      <button type="button" disabled={text.trim() === ""} onClick={add}>
        {a("picker.take")}
      </button>
    </div>
  );
}
