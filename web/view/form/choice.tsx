// Editors of values from a list: menus, segments, check boxes and operators. The document keeps the
// stored words; an unknown word stays selectable and is marked.

import { useId } from "react";
import type { Option, OperatorSet } from "@easel/engine";
import { word } from "../../canvas/dsl.ts";
import { useSpecText } from "../context.tsx";
import { useOfferedVariables } from "./prompt.tsx";
import { fitting, operatorOf } from "./operators.ts";
import { operatorSets } from "./operators.generated.ts";
import { AsJson } from "./as-json.tsx";
import type { ControlProps } from "./props.ts";
import { canonical, optionsOf, tagOf, valueOf, type Around } from "./shown.ts";
import { useFormText } from "./text.ts";

interface Choices {
  options: Option[];
  chosen: string;
  known: boolean;
}

function useChoices({ schema, value }: ControlProps): Choices {
  const words = useSpecText();
  const options = optionsOf(schema).map((each) => ({ value: each.value, label: words(each.label) }));
  const chosen = word(canonical(schema, value ?? schema.default) ?? "");
  return { options, chosen, known: chosen === "" || options.some((each) => each.value === chosen) };
}

// stored returns the value that a schema stores for an option: enums may hold more than strings.
function stored({ schema }: ControlProps, text: string): unknown {
  return schema.enum?.find((each) => word(each) === text) ?? text;
}

/** Unknown warns that a stored word is not among the options. */
function Unknown({ value }: { value: string }): React.ReactNode {
  const f = useFormText();
  return <small className="missing">{f("unknown", value)}</small>;
}

/** Select is a menu. */
export function Select(asked: ControlProps): React.ReactNode {
  const f = useFormText();
  // Some settings are one word or a list.
  const [only] = Array.isArray(asked.value) && asked.value.length === 1 ? (asked.value as unknown[]) : [asked.value];
  const props = { ...asked, value: only };
  const { id, schema, value, describedBy, onChange } = props;
  const { options, chosen, known } = useChoices(props);
  if (typeof (value ?? "") === "object") return <AsJson {...props} />;
  const none = options.some((each) => each.value === "");
  const fallback = options.find((each) => each.value === schema.default)?.label;
  return (
    <>
      <select
        id={id}
        value={chosen}
        aria-describedby={describedBy}
        onChange={({ target }) => onChange(target.value === "" && !none ? undefined : stored(props, target.value))}
      >
        {!known && <option value={chosen}>{f("unknown_option", chosen)}</option>}
        {!none && (value === undefined || schema.default === undefined) && (
          <option value="">{fallback === undefined ? f("none") : f("default_is", fallback)}</option>
        )}
        {options.map((each) => (
          <option key={each.value} value={each.value}>
            {each.label}
          </option>
        ))}
      </select>
      {!known && <Unknown value={chosen} />}
    </>
  );
}

/** Segment shows two to four options in a row. */
export function Segment(props: ControlProps): React.ReactNode {
  const { id, label, value, describedBy, onChange } = props;
  const group = useId();
  const { options, chosen, known } = useChoices(props);
  const f = useFormText();
  if (typeof (value ?? "") === "object") return <AsJson {...props} />;
  const shown = known ? options : [...options, { value: chosen, label: f("unknown_option", chosen) }];
  return (
    <>
      <span id={id} className="segments" role="radiogroup" aria-label={label} aria-describedby={describedBy}>
        {shown.map((each) => (
          <label key={each.value} data-on={each.value === chosen || undefined}>
            <input
              type="radio"
              name={group}
              value={each.value}
              checked={each.value === chosen}
              onChange={() => onChange(stored(props, each.value))}
            />
            {each.label}
          </label>
        ))}
      </span>
      {!known && <Unknown value={chosen} />}
    </>
  );
}

/** Checks chooses several of the options; none means all, or nothing. */
export function Checks(props: ControlProps): React.ReactNode {
  const { id, label, value, describedBy, onChange } = props;
  const f = useFormText();
  const { options } = useChoices({ ...props, value: "" });
  const list = value === undefined || value === null || value === "" ? [] : Array.isArray(value) ? value : [value];
  if (!list.every((each): each is string => typeof each === "string")) return <AsJson {...props} />;
  const unknown = list.filter((each) => !options.some((one) => one.value === each));
  const shown = [...options, ...unknown.map((each) => ({ value: each, label: f("unknown_option", each) }))];
  return (
    <span id={id} className="checks" role="group" aria-label={label} aria-describedby={describedBy}>
      {shown.map((each) => (
        <label key={each.value} className="row">
          <input
            type="checkbox"
            checked={list.includes(each.value)}
            onChange={(event) =>
              onChange(event.target.checked ? [...list, each.value] : list.filter((one) => one !== each.value))
            }
          />
          {each.label}
        </label>
      ))}
    </span>
  );
}

/** useTypeOf returns the declared type of a param next to a value, such as that of a reference. */
export function useTypeOf(node: string, around: Around, name: string | undefined): string | undefined {
  const offered = useOfferedVariables(node);
  if (name === undefined) return undefined;
  const value = valueOf(name, around);
  if (typeof value !== "string") return undefined;
  const tag = tagOf(around.schemas[name]);
  if (tag.widget !== "ref") return value;
  const bare = value.replaceAll(/^\{+|\}+$/g, "").trim();
  return offered.find(({ ref }) => ref === bare)?.type;
}

/** OperatorField is a menu of the operators that fit the left side. */
export function OperatorField(props: ControlProps): React.ReactNode {
  const { id, node, schema, value, around, label, describedBy, onChange } = props;
  const tag = tagOf(schema);
  const set = tag.ops ?? "filter";
  const type = useTypeOf(node, around, tag.of);
  return (
    <OperatorMenu
      id={id}
      set={set}
      type={type}
      label={label}
      value={value ?? schema.default}
      describedBy={describedBy}
      onChange={onChange}
    />
  );
}

/** OperatorMenu is a menu of the operators of a set. */
export function OperatorMenu({
  id,
  set,
  type,
  label,
  value,
  describedBy,
  onChange,
}: {
  id: string;
  set: OperatorSet;
  type?: string | undefined;
  label: string;
  value: unknown;
  describedBy?: string | undefined;
  onChange(word: string): void;
}): React.ReactNode {
  const words = useSpecText();
  const f = useFormText();
  const word = typeof value === "string" ? value : "";
  const known = operatorOf(set, word);
  const fit = fitting(set, type);
  const shown = known && !fit.includes(known) ? [known, ...fit] : fit;
  const first = set === "logic" ? operatorSets.logic[0]?.word : undefined;
  const chosen = known?.word ?? word;
  return (
    <>
      <select
        id={id}
        aria-label={label}
        value={chosen === "" && first !== undefined ? first : chosen}
        aria-describedby={describedBy}
        onChange={(event) => onChange(event.target.value)}
      >
        {chosen === "" && first === undefined && <option value="">{f("none")}</option>}
        {!known && word !== "" && <option value={word}>{f("unknown_option", word)}</option>}
        {shown.map((each) => (
          <option key={each.word} value={each.word}>
            {words(each.label)}
          </option>
        ))}
      </select>
      {!known && word !== "" && <Unknown value={word} />}
    </>
  );
}
