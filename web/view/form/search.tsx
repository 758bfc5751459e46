// Search in a long form: by label, explanation and options, in both languages.

import { useEffect, useId, useRef, useState } from "react";
import { own } from "../../canvas/dsl.ts";
import { loadSpecWords, specWords, translated } from "../../words/specs.ts";
import { useSpecText, useStore } from "../context.tsx";
import { useNodeText } from "../node/text.ts";
import { optionsOf, type Around } from "./shown.ts";

const most = 8;

/** FormSearch offers the settings that match; onFound gets the chosen one. */
export function FormSearch({ names, around, onFound }: {
  names: readonly string[]; around: Around; onFound(name: string): void;
}): React.ReactNode {
  const n = useNodeText();
  const words = useSpecText();
  const chinese = useStore(specWords, (all) => all);
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const [query, setQuery] = useState("");
  const [active, setActive] = useState(0);
  useEffect(() => {
    const panel = field.current?.closest(".inspector");
    const slash = (event: Event): void => {
      const { key, target } = event as KeyboardEvent;
      if (key !== "/" || !(target instanceof HTMLElement) || target.isContentEditable) return;
      if (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return;
      event.preventDefault();
      field.current?.focus();
    };
    panel?.addEventListener("keydown", slash);
    return () => panel?.removeEventListener("keydown", slash);
  }, []);
  const wanted = query.trim().toLowerCase();
  const labelOf = (name: string): string => words(own(around.schemas, name)?.title ?? name);
  const found = wanted === "" ? [] : names.flatMap((name) => {
    const schema = own(around.schemas, name) ?? {};
    const texts = [schema.title ?? "", schema.description ?? "", ...optionsOf(schema).map(({ label }) => label)];
    const all = [name, ...texts, ...texts.map((text) => translated(chinese, text))].map((text) => text.toLowerCase());
    if (!all.some((text) => text.includes(wanted))) return [];
    return { name, label: labelOf(name), rank: labelOf(name).toLowerCase().includes(wanted) ? 0 : 1 };
  }).sort((a, b) => a.rank - b.rank).slice(0, most);
  const at = Math.min(active, found.length - 1);
  const choose = (name: string | undefined): void => {
    if (name === undefined) return;
    setQuery("");
    onFound(name);
  };
  const key = (event: React.KeyboardEvent): void => {
    if (event.key === "ArrowDown") setActive(Math.min(at + 1, found.length - 1));
    else if (event.key === "ArrowUp") setActive(Math.max(at - 1, 0));
    else if (event.key === "Enter") choose(found[at]?.name);
    else if (event.key === "Escape" && query !== "") setQuery("");
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className="form-search" onKeyDown={key}>
      <input
        ref={field} type="search" role="combobox" aria-label={n("search")} placeholder={n("search")} value={query}
        aria-expanded={wanted !== ""} aria-controls={id}
        aria-activedescendant={found[at] ? `${id}-${at}` : undefined}
        onFocus={() => void loadSpecWords()}
        onChange={(event) => {
          setQuery(event.target.value);
          setActive(0);
        }}
      />
      <ul id={id} role="listbox" aria-label={n("search")} hidden={wanted === ""}>
        {found.map(({ name, label }, i) => (
          <li
            key={name} id={`${id}-${i}`} role="option" aria-selected={i === at}
            onPointerDown={(event) => event.preventDefault()} onClick={() => choose(name)}
          >
            {label}
          </li>
        ))}
        {found.length === 0 && (
          <li className="quiet" role="option" aria-selected="false" aria-disabled="true">{n("search_none")}</li>
        )}
      </ul>
    </div>
  );
}
