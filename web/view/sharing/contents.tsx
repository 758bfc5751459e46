// What a project holds: canvases, datasets and memories, with acts on several of them.

import { lazy, Suspense, useState } from "react";
import { reasonOf } from "../reason.tsx";
import type { Item, Kind, Project, Roles } from "../../run/roles.ts";
import { Fault, useLoaded } from "../area/parts.tsx";
import { targets } from "./dialog.tsx";
import { shown } from "../../words/shown.ts";
import { useSharingText } from "./text.ts";

const ShareDialog = lazy(() => import("./dialog.tsx"));
const kinds: readonly Kind[] = ["canvas", "dataset", "memory"];
const keyOf = ({ kind, id }: Item): string => `${kind}:${id}`;

interface Progress {
  done: number;
  total: number;
  faults: string[];
}

/** Contents lists what a project holds. */
export function Contents({ api, project, projects }: {
  api: Roles;
  project: Project;
  projects: readonly Project[];
}): React.ReactNode {
  const s = useSharingText();
  const loaded = useLoaded(project.id, () => Promise.all(kinds.map((kind) => api.items(kind, project.id))));
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [wanted, setWanted] = useState("");
  const [progress, setProgress] = useState<Progress>();
  const [shared, setShared] = useState<Item>();
  const lists = loaded.value;
  if (!lists) return <Fault text={loaded.fault} onAgain={loaded.reload} />;
  const all = lists.flatMap(({ items }) => items);
  const tags = [...new Set(all.flatMap((item) => item.tags))].sort();
  const tag = tags.includes(wanted) ? wanted : ""; // the last object with the tag may have left
  const fits = (item: Item): boolean => tag === "" || item.tags.includes(tag);
  const listed = all.filter(fits);
  const selected = listed.filter((item) => chosen.has(keyOf(item)));
  const act = async (items: readonly Item[], each: (item: Item) => Promise<unknown>): Promise<void> => {
    const faults: string[] = [];
    for (const [at, item] of items.entries()) {
      try {
        await each(item);
      } catch (err) {
        faults.push(`${shown(item.name)}: ${reasonOf(err)}`);
      }
      setProgress({ done: at + 1 - faults.length, total: items.length, faults: [...faults] });
    }
    setChosen(new Set());
    await loaded.reload();
  };
  const toggle = (item: Item, isOn: boolean): void => {
    const next = new Set(chosen);
    if (isOn) next.add(keyOf(item));
    else next.delete(keyOf(item));
    setChosen(next);
  };
  if (all.length === 0) return <p className="quiet small">{s("nothing")}</p>;
  return (
    <>
      <div className="give">
        {tags.length > 0 && (
          <label className="field">
            {s("tag")}
            <select value={tag} onChange={({ target }) => setWanted(target.value)}>
              <option value="">{s("all_tags")}</option>
              {tags.map((each) => <option key={each} value={each}>{shown(each)}</option>)}
            </select>
          </label>
        )}
        <label className="row">
          <input
            type="checkbox" checked={selected.length === listed.length && listed.length > 0}
            onChange={({ target }) => setChosen(new Set(target.checked ? listed.map(keyOf) : []))}
          />
          {s("select_all")}
        </label>
      </div>
      {selected.length > 0 && <Acts api={api} project={project} projects={projects} items={selected} onAct={act} />}
      {progress && (
        <p role="status" className="quiet small">{s("done_of", progress.done, progress.total)}</p>
      )}
      {progress?.faults.map((fault) => <Fault key={fault} text={fault} />)}
      {lists.map((list, at) => (
        <Items
          key={kinds[at]} kind={kinds[at] ?? "canvas"} list={list} isShown={fits} chosen={chosen} onChoose={toggle}
          onShare={setShared}
        />
      ))}
      {shared && (
        <Suspense>
          <ShareDialog {...shared} onChanged={() => loaded.reload()} onClose={() => setShared(undefined)} />
        </Suspense>
      )}
    </>
  );
}

// Items lists those of a kind that are shown.
function Items({ kind, list, isShown, chosen, onChoose, onShare }: {
  kind: Kind;
  list: { items: Item[]; total: number };
  isShown(item: Item): boolean;
  chosen: ReadonlySet<string>;
  onChoose(item: Item, isOn: boolean): void;
  onShare(item: Item): void;
}): React.ReactNode {
  const s = useSharingText();
  const items = list.items.filter(isShown);
  if (items.length === 0) return null;
  return (
    <section aria-label={s(`kind_${kind}`)}>
      <h2>{s(`kind_${kind}`)}</h2>
      <ul className="entries project-items">
        {items.map((item) => (
          <li key={item.id}>
            <label className="row">
              <input
                type="checkbox" aria-label={s("select", item.name)} checked={chosen.has(keyOf(item))}
                onChange={({ target }) => onChoose(item, target.checked)}
              />
              <span>{shown(item.name)}</span>
              {item.tags.map((each) => <span key={each} className="badge">{shown(each)}</span>)}
            </label>
            <button type="button" aria-label={s("share_open", item.name)} onClick={() => onShare(item)}>
              {s("share")}
            </button>
          </li>
        ))}
      </ul>
      {list.items.length < list.total && (
        <p className="quiet small">{s("more_than", list.items.length, list.total)}</p>
      )}
    </section>
  );
}

// Acts move and tag the selected; only canvases have tags.
function Acts({ api, project, projects, items, onAct }: {
  api: Roles;
  project: Project;
  projects: readonly Project[];
  items: readonly Item[];
  onAct(items: readonly Item[], each: (item: Item) => Promise<unknown>): Promise<void>;
}): React.ReactNode {
  const s = useSharingText();
  const [to, setTo] = useState("");
  const [tag, setTag] = useState("");
  const [isBusy, setBusy] = useState(false);
  const others = targets(projects).filter(({ id }) => id !== project.id);
  const canvases = items.filter(({ kind }) => kind === "canvas");
  const word = tag.trim();
  const run = async (some: readonly Item[], each: (item: Item) => Promise<unknown>): Promise<void> => {
    setBusy(true);
    await onAct(some, each);
    setBusy(false);
  };
  const target = others.find(({ id }) => id === to) ?? others[0];
  return (
    <div className="give" role="group" aria-label={s("selected", items.length)}>
      <b>{s("selected", items.length)}</b>
      {target && (
        <>
          <label className="field">
            {s("move_to")}
            <select value={target.id} onChange={(event) => setTo(event.target.value)}>
              {others.map(({ id, name }) => <option key={id} value={id}>{shown(name) || s("default_project")}</option>)}
            </select>
          </label>
          <button
            type="button" disabled={isBusy} onClick={() => void run(items, (item) => api.move(item, target.id))}
          >
            {s("move")}
          </button>
        </>
      )}
      {canvases.length > 0 && (
        <>
          <label className="field">
            {s("new_tag")}
            <input type="text" maxLength={50} value={tag} onChange={(event) => setTag(event.target.value)} />
          </label>
          <button
            type="button" disabled={isBusy || word === ""}
            onClick={() => void run(canvases, ({ id, tags }) => api.tag(id, [...tags, word]))}
          >
            {s("add_tag")}
          </button>
          <button
            type="button" disabled={isBusy || !canvases.some(({ tags }) => tags.includes(word))}
            onClick={() => void run(canvases, ({ id, tags }) => api.tag(id, tags.filter((each) => each !== word)))}
          >
            {s("remove_tag")}
          </button>
        </>
      )}
    </div>
  );
}
