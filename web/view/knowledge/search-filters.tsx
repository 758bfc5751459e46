// Conditions on the metadata of documents, by the keys that a dataset has.

import type { Search } from "../../run/datasets.ts";
import { useAreaText } from "../area/text.ts";
import { useSpecText } from "../context.tsx";
import { operatorSets } from "../form/operators.generated.ts";
import { Icon } from "../icons.tsx";

/** FilterRow is a condition as it is written. */
export interface FilterRow {
  key: string;
  operator: string;
  value: string;
}

const rightOf = (word: string): string => operatorSets.metadata.find((each) => each.word === word)?.right ?? "value";

/** filterOf returns the filter of rows; undefined without any. */
export function filterOf(rows: readonly FilterRow[], isAny: boolean): Search["filter"] {
  const conditions = rows.filter(
    ({ key, operator, value }) => key !== "" && (value.trim() !== "" || rightOf(operator) === "none"),
  );
  return conditions.length === 0 ? undefined : { or: isAny, conditions };
}

/** Filters edits conditions. */
export function Filters({ keys, rows, isAny, onChange, onAny }: {
  /** Values by key; undefined until they are known. */
  keys: ReadonlyMap<string, ReadonlyMap<string, number>> | undefined;
  rows: readonly FilterRow[];
  isAny: boolean;
  onChange(rows: FilterRow[]): void;
  onAny(isAny: boolean): void;
}): React.ReactNode {
  const a = useAreaText();
  if (!keys || keys.size === 0) return null;
  const [first = ""] = keys.keys();
  return (
    <div className="search-filters" role="group" aria-label={a("search.filters")}>
      {rows.map((row, i) => (
        <Condition
          key={i} keys={keys} row={row}
          onChange={(part) => onChange(rows.map((each, at) => (at === i ? { ...each, ...part } : each)))}
          onRemove={() => onChange(rows.filter((_, at) => at !== i))}
        />
      ))}
      <div className="tools">
        <button type="button" onClick={() => onChange([...rows, { key: first, operator: "=", value: "" }])}>
          <Icon name="plus" />
          {a("search.add_filter")}
        </button>
        {rows.length > 1 && (
          <select
            aria-label={a("search.filters")} value={isAny ? "any" : "all"}
            onChange={(event) => onAny(event.target.value === "any")}
          >
            <option value="all">{a("search.all_of")}</option>
            <option value="any">{a("search.any_of")}</option>
          </select>
        )}
      </div>
    </div>
  );
}

function Condition({ keys, row: { key, operator, value }, onChange, onRemove }: {
  keys: ReadonlyMap<string, ReadonlyMap<string, number>>;
  row: FilterRow;
  onChange(part: Partial<FilterRow>): void;
  onRemove(): void;
}): React.ReactNode {
  const a = useAreaText();
  const spec = useSpecText();
  const values = keys.get(key);
  return (
    <div className="tools">
      <select aria-label={a("meta.key")} value={key} onChange={(event) => onChange({ key: event.target.value })}>
        {[...keys.keys()].map((each) => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </select>
      <select
        aria-label={a("search.operator", key)} value={operator}
        onChange={(event) => onChange({ operator: event.target.value })}
      >
        {operatorSets.metadata.map(({ word, label }) => (
          <option key={word} value={word}>
            {spec(label)}
          </option>
        ))}
      </select>
      {rightOf(operator) !== "none" && (
        <input
          type="text" aria-label={a("meta.value_of", key)} value={value} list={`values-${key}`}
          onChange={(event) => onChange({ value: event.target.value })}
        />
      )}
      <datalist id={`values-${key}`}>
        {[...(values?.keys() ?? [])].slice(0, 50).map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      <button
        type="button" className="icon-button" aria-label={a("meta.remove", key)} title={a("meta.remove", key)}
        onClick={onRemove}
      >
        <Icon name="cross" />
      </button>
    </div>
  );
}
