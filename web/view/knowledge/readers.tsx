// Who reads documents: everyone, groups and people by name, or no one.

import { useId, useState } from "react";
import type { Dataset, Datasets, Readers, StoredDocument, Subjects } from "../../run/datasets.ts";
import { Fault, useAttempt, useLoaded } from "../area/parts.tsx";
import { useAreaText, type AreaText } from "../area/text.ts";
import { FormDialog } from "./form-dialog.tsx";

const everyone = "all";
const mostNamed = 3; // that a mark names
const mostUnsearched = 8; // entries that need no search

/** Way is a kind of list; "default" inherits the list of the dataset. */
type Way = "default" | "everyone" | "chosen" | "none";

function wayOf(readers: Readers): Way {
  if (readers === undefined) return "default";
  if (readers.includes(everyone)) return "everyone";
  return readers.length > 0 ? "chosen" : "none";
}

interface Named {
  entry: string;
  name: string;
  more?: string;
}

// namesOf lists whom a list can name, and those whom it names and the tenant does not have.
function namesOf(a: AreaText, subjects: Subjects | undefined, readers: Readers): { groups: Named[]; people: Named[] } {
  const groups = (subjects?.groups ?? []).map((name) => ({ entry: `group:${name}`, name }));
  const people: Named[] = (subjects?.people ?? []).map(({ id, name, email }) => ({
    entry: `user:${id}`, name, ...(email === name ? {} : { more: email }),
  }));
  const known = new Set([...groups, ...people].map(({ entry }) => entry));
  for (const entry of readers ?? []) {
    if (known.has(entry) || entry === everyone) continue;
    if (entry.startsWith("group:")) groups.push({ entry, name: entry.slice("group:".length) });
    else people.push({ entry, name: a("readers.left") });
  }
  return { groups, people };
}

/** useSubjects loads whom lists can name, if `wanted`. */
export function useSubjects(api: Datasets, wanted = true): { value?: Subjects | undefined; fault?: string } {
  return useLoaded(`subjects ${wanted}`, async () => (wanted ? await api.subjects() : undefined));
}

/** readersText returns words for a list. */
export function readersText(a: AreaText, subjects: Subjects | undefined, readers: Readers): string {
  const way = wayOf(readers);
  if (way !== "chosen") return a(`readers.${way}`);
  const { groups, people } = namesOf(a, subjects, readers);
  const names = [...groups, ...people].filter(({ entry }) => readers?.includes(entry)).map(({ name }) => name);
  const more = names.length - mostNamed;
  return names.slice(0, mostNamed).join(", ") + (more > 0 ? `, +${more}` : "");
}

/** Choice is a list that is being edited; it is whole if it can be stored. */
interface Choice {
  way: Way;
  entries: readonly string[];
}

function choiceOf(readers: Readers): Choice {
  const way = wayOf(readers);
  return { way, entries: way === "chosen" ? (readers ?? []) : [] };
}

function isWhole({ way, entries }: Choice): boolean {
  return way !== "chosen" || entries.length > 0;
}

function listOf({ way, entries }: Choice): Readers {
  if (way === "default") return undefined;
  return way === "everyone" ? [everyone] : way === "chosen" ? entries : [];
}

// ReadersChoice edits a list.
function ReadersChoice({ legend, ways, subjects, value, onChange }: {
  legend: string;
  ways: readonly Way[];
  subjects: Subjects | undefined;
  value: Choice;
  onChange(value: Choice): void;
}): React.ReactNode {
  const a = useAreaText();
  const name = useId();
  return (
    <fieldset className="readers">
      <legend>{legend}</legend>
      {ways.map((way) => (
        <label key={way} className="row">
          <input
            type="radio" name={name} checked={value.way === way}
            onChange={() => onChange({ ...value, way })}
          />
          <span>{a(`readers.${way}`)}</span>
        </label>
      ))}
      {value.way === "everyone" && <small>{a("readers.everyone_hint")}</small>}
      {value.way === "chosen" && (
        <Entries
          subjects={subjects} entries={value.entries}
          onChange={(entries) => onChange({ way: "chosen", entries })}
        />
      )}
      {!isWhole(value) && <p className="quiet small" role="status">{a("readers.choose_one")}</p>}
    </fieldset>
  );
}

function Entries({ subjects, entries, onChange }: {
  subjects: Subjects | undefined;
  entries: readonly string[];
  onChange(entries: string[]): void;
}): React.ReactNode {
  const a = useAreaText();
  const [words, setWords] = useState("");
  const [first] = useState(entries); // what is unchecked stays in the list
  const all = namesOf(a, subjects, [...new Set([...first, ...entries])]);
  const fits = ({ name, more = "" }: Named): boolean =>
    `${name} ${more}`.toLowerCase().includes(words.trim().toLowerCase());
  return (
    <div className="reader-lists">
      {all.groups.length + all.people.length > mostUnsearched && (
        <input
          type="search" value={words} aria-label={a("readers.find")} placeholder={a("readers.find")}
          onChange={(event) => setWords(event.target.value)}
        />
      )}
      {(["groups", "people"] as const).map((kind) => (
        <div key={kind} role="group" aria-label={a(`readers.${kind}`)}>
          <b>{a(`readers.${kind}`)}</b>
          {kind === "groups" && all.groups.length === 0 && <p className="quiet small">{a("readers.no_groups")}</p>}
          {all[kind].filter(fits).map(({ entry, name, more }) => (
            <label key={entry} className="row">
              <input
                type="checkbox" checked={entries.includes(entry)}
                onChange={({ target }) =>
                  onChange(target.checked ? [...entries, entry] : entries.filter((each) => each !== entry))}
              />
              <span>{name}{more && <small> {more}</small>}</span>
            </label>
          ))}
        </div>
      ))}
    </div>
  );
}

/** ReadersDialog edits who reads documents. */
export function ReadersDialog({ api, dataset, documents, onSave, onClose }: {
  api: Datasets;
  dataset: Dataset;
  documents: readonly StoredDocument[];
  onSave(act: (documents: string[]) => ReturnType<Datasets["setReaders"]>): void;
  onClose(): void;
}): React.ReactNode {
  const a = useAreaText();
  const subjects = useSubjects(api);
  const [first] = documents;
  const key = ({ access }: StoredDocument): string => JSON.stringify([...(access ?? ["default"])].sort());
  const isOne = documents.every((each) => first && key(each) === key(first));
  const [choice, setChoice] = useState<Choice>();
  const now = choice ?? choiceOf(first?.access);
  return (
    <FormDialog
      title={documents.length === 1
        ? a("readers.of", first?.name ?? "") : a("readers.of_many", documents.length)}
      className="readers-dialog" send={a("save")} isReady={choice !== undefined && isWhole(now)}
      isEdited={choice !== undefined} onClose={onClose}
      onSend={(close) => {
        close();
        onSave((ids) => api.setReaders(dataset.id, ids, listOf(now)));
      }}
    >
      <p className="quiet small">
        {dataset.access.enforce
          ? a("readers.dataset_has", readersText(a, subjects.value, dataset.access.default ?? []))
          : a("readers.no_effect")}
      </p>
      {!isOne && !choice && <p className="problem" data-severity="warning">{a("readers.differ")}</p>}
      <Fault text={subjects.fault} />
      <ReadersChoice
        legend={a("readers.label")} ways={["default", "everyone", "none", "chosen"]} subjects={subjects.value}
        value={isOne || choice ? now : { way: "default", entries: [] }} onChange={setChoice}
      />
    </FormDialog>
  );
}

/** ReadersSection turns lists of readers of a dataset on and off, and sets the default. */
export function ReadersSection({ api, dataset, onChange }: {
  api: Datasets;
  dataset: Dataset;
  onChange(dataset: Dataset): void;
}): React.ReactNode {
  const a = useAreaText();
  const { enforce, default: before } = dataset.access;
  const [isOn, setOn] = useState(enforce);
  const [choice, setChoice] = useState(() => choiceOf(before ?? []));
  const [isSaved, setSaved] = useState(false);
  const attempt = useAttempt();
  const subjects = useSubjects(api, isOn);
  const turnsOn = isOn && !enforce;
  const bare = useLoaded(`${dataset.id} ${turnsOn}`, async () => (turnsOn ? api.withoutReaders(dataset.id) : 0));
  const isChanged = isOn !== enforce || (isOn && String(listOf(choice)) !== String(before ?? []));
  const save = (): void =>
    void attempt.run(async () => {
      const list = isWhole(choice) && choice.way !== "none" ? listOf(choice) : undefined;
      onChange(await api.setPolicy(dataset.id, { enforce: isOn, ...(list ? { default: list } : {}) }));
      setSaved(true);
    });
  const set = (act: () => void): void => {
    act();
    setSaved(false);
  };
  return (
    <form
      className="dataset-readers" aria-label={a("readers.label")}
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <h2>{a("readers.label")}</h2>
      <label className="field row">
        <input
          type="checkbox" role="switch" checked={isOn}
          onChange={({ target }) => set(() => setOn(target.checked))}
        />
        {a("readers.limit")}
      </label>
      <p className="quiet small">{a(isOn ? "readers.limit_hint" : "readers.off_hint")}</p>
      {isOn && (
        <ReadersChoice
          legend={a("readers.of_rest")} ways={["everyone", "none", "chosen"]} subjects={subjects.value}
          value={choice} onChange={(next) => set(() => setChoice(next))}
        />
      )}
      {turnsOn && bare.value !== undefined && bare.value > 0 && (
        <p className="problem" data-severity="warning" role="status">
          {choice.way === "none"
            ? a("readers.lost", bare.value.toLocaleString())
            : a("readers.rest", bare.value.toLocaleString())}
        </p>
      )}
      <Fault text={attempt.fault ?? subjects.fault ?? bare.fault} />
      <div className="tools">
        <button type="submit" disabled={!isChanged || (isOn && !isWhole(choice)) || attempt.busy}>
          {a("readers.save")}
        </button>
        {isSaved && <span role="status" className="good">{a("saved")}</span>}
      </div>
    </form>
  );
}
