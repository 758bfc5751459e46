// Editors of single values: texts, numbers, yes or no, lists of words.

import { word } from "../../canvas/dsl.ts";
import { useId, useState } from "react";
import type { Schema } from "@easel/engine";
import { isObject } from "../../canvas/dsl.ts";
import { failingLine, languageOf, skeleton } from "../../canvas/script.ts";
import { choices } from "../../run/model-names.ts";
import { useApp, useSpecText, useStore, useText } from "../context.tsx";
import { Icon } from "../icons.tsx";
import { AsJson } from "./as-json.tsx";
import { Prompt } from "./prompt.tsx";
import { useSettings } from "./params.tsx";
import { typeOf, useEditors, type ControlProps } from "./props.ts";
import { tagOf } from "./shown.ts";
import { useLastStep } from "./tried.ts";
import { useFormText } from "./text.ts";

function isText(value: unknown): value is string | undefined | null {
  return value === undefined || value === null || typeof value === "string";
}

/** Line edits one line of text. */
export function Line(props: ControlProps): React.ReactNode {
  const { id, node, label, schema, value, hint, describedBy, onChange } = props;
  const options = tagOf(schema).options ?? [];
  const words = useSpecText();
  if (!isText(value)) return <AsJson {...props} />;
  const text = value ?? "";
  if (/\n/.test(text)) {
    return <Prompt node={node} label={label} text={text} hint={hint} onChange={onChange} />;
  }
  return (
    <>
      <input
        id={id}
        type="text"
        autoComplete="off"
        list={options.length > 0 ? `${id}-options` : undefined}
        value={text}
        placeholder={hint}
        spellCheck={false}
        aria-describedby={describedBy}
        onChange={(event) => onChange(event.target.value)}
      />
      {options.length > 0 && (
        <datalist id={`${id}-options`}>
          {options.map((each) => (
            <option key={each.value} value={each.value}>
              {words(each.label)}
            </option>
          ))}
        </datalist>
      )}
    </>
  );
}

/** PromptField edits a text with references. */
export function PromptField(props: ControlProps): React.ReactNode {
  const { node, label, value, hint, onChange } = props;
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return <Words {...props} />;
  if (typeof value === "number") {
    return <Prompt node={node} label={label} text={word(value)} hint={hint} onChange={onChange} />;
  }
  if (!isText(value)) return <AsJson {...props} />;
  return <Prompt node={node} label={label} text={value ?? ""} hint={hint} onChange={onChange} />;
}

/** Reference edits a reference to a variable. */
export function Reference(props: ControlProps): React.ReactNode {
  const { node, label, value, hint, onChange } = props;
  if (!isText(value)) return <AsJson {...props} />;
  return <Prompt node={node} label={label} text={value ?? ""} hint={hint} bare onChange={onChange} />;
}

/** Code edits a program. */
export function Code(props: ControlProps): React.ReactNode {
  const { node, label, value, around, onChange } = props;
  const f = useFormText();
  const { Trial } = useEditors();
  const { tool } = useSettings(node);
  const step = useLastStep(node);
  if (!isText(value)) return <AsJson {...props} />;
  const text = value ?? "";
  const language = languageOf(around.params, word(around.schemas["lang"]?.default ?? ""));
  const given = around.params["arguments"];
  return (
    <>
      <Prompt
        node={node} label={label} text={text} language={language} onChange={onChange}
        failed={step?.error === undefined ? undefined : failingLine(step.error)}
      />
      {language !== "text" && text.trim() === "" && (
        <button
          type="button" className="add"
          onClick={() => onChange(skeleton(language, isObject(given) ? Object.keys(given) : []))}
        >
          {f("skeleton")}
        </button>
      )}
      {language !== "text" && !tool && Trial && <Trial {...props} />}
    </>
  );
}

/** Toggle edits yes or no. */
export function Toggle({ id, schema, value, describedBy, onChange }: ControlProps): React.ReactNode {
  const now = value ?? schema.default;
  return (
    <input
      id={id}
      type="checkbox"
      checked={typeof now === "string" ? now.trim().toLowerCase() === "true" : Boolean(now)}
      aria-describedby={describedBy}
      onChange={(event) => onChange(event.target.checked)}
    />
  );
}

// useProblem returns what is wrong with the text of a number field, in words.
function useProblem(schema: Schema): (field: HTMLInputElement) => string | undefined {
  const f = useFormText();
  return ({ value, validity }) => {
    if (validity.badInput) return f("not_number");
    if (value === "") return undefined;
    const number = Number(value);
    if (schema.minimum !== undefined && number < schema.minimum) return f("at_least", schema.minimum);
    if (schema.maximum !== undefined && number > schema.maximum) return f("at_most", schema.maximum);
    return typeOf(schema) === "integer" && !Number.isInteger(number) ? f("whole") : undefined;
  };
}

/** NumberField edits a number, with its unit and bounds. */
export function NumberField(props: ControlProps): React.ReactNode {
  const { id, schema, value, hint, describedBy, onChange } = props;
  const words = useSpecText();
  const { unit, zero, step } = tagOf(schema);
  const problemOf = useProblem(schema);
  const [problem, setProblem] = useState<string>();
  if (typeof value === "string" && value !== "" && !Number.isFinite(Number(value))) return <PromptField {...props} />;
  if (typeof value === "object" && value !== null) return <AsJson {...props} />;
  const number = value === undefined || value === null || value === "" ? undefined : Number(value);
  const none = zero !== undefined && number === 0;
  return (
    <>
      <span className="with-unit">
        <input
          id={id}
          type="number"
          min={schema.minimum}
          max={schema.maximum}
          step={step ?? (typeOf(schema) === "integer" ? 1 : "any")}
          placeholder={zero === undefined ? hint : words(zero)}
          value={number === undefined || none ? "" : number}
          aria-describedby={describedBy}
          aria-invalid={problem !== undefined || undefined}
          onChange={(event) => {
            const wrong = problemOf(event.target);
            setProblem(wrong);
            if (wrong === undefined || !event.target.validity.badInput)
              onChange(event.target.value === "" ? undefined : Number(event.target.value));
          }}
        />
        {unit !== undefined && <span className="unit">{words(unit)}</span>}
      </span>
      {problem !== undefined && (
        <p className="field-problem" role="alert">
          {problem}
        </p>
      )}
    </>
  );
}

/** Slider edits a number between two bounds, also as a number. */
export function Slider(props: ControlProps): React.ReactNode {
  const { label, schema, value, onChange } = props;
  const { step } = tagOf(schema);
  const { minimum: min, maximum: max } = schema;
  if (min === undefined || max === undefined) return <NumberField {...props} />;
  const now = typeof value === "number" ? value : typeof schema.default === "number" ? schema.default : min;
  return (
    <span className="slider">
      <input
        type="range"
        aria-label={label}
        min={min}
        max={max}
        step={step ?? (typeOf(schema) === "integer" ? 1 : (max - min) / 100)}
        value={now}
        onChange={(event) => onChange(Number(event.target.value))}
      />
      <NumberField {...props} />
    </span>
  );
}

/** Duration edits seconds. */
export function Duration(props: ControlProps): React.ReactNode {
  const f = useFormText();
  const { schema } = props;
  return <NumberField {...props} schema={{ ...schema, "x-easel": { ...tagOf(schema), unit: f("seconds") } }} />;
}

/** Words edits a list of short texts. */
export function Words(props: ControlProps): React.ReactNode {
  const { id, schema, value, hint, describedBy, onChange } = props;
  const f = useFormText();
  const t = useText();
  const { host } = useApp();
  const models = useStore(host.state, (state) => state.models);
  const ofModels = tagOf(schema).kind !== undefined;
  const [typed, setTyped] = useState("");
  const list = value === undefined || value === null || value === "" ? [] : Array.isArray(value) ? value : [value];
  if (!list.every((each): each is string => typeof each === "string")) return <AsJson {...props} />;
  const add = (): void => {
    if (typed === "") return;
    setTyped("");
    onChange([...list, unmarked(typed)]);
  };
  return (
    <span className="words">
      {list.map((each, i) => (
        <span key={i} className="chip">
          {marked(each)}
          <button
            type="button"
            className="chip-remove"
            aria-label={f("word_remove", marked(each))}
            onClick={() => onChange(list.toSpliced(i, 1))}
          >
            <Icon name="cross" />
          </button>
        </span>
      ))}
      <input
        id={id}
        type="text"
        list={ofModels ? `${id}-models` : undefined}
        value={typed}
        placeholder={list.length === 0 && hint ? hint : t("form.add")}
        aria-describedby={describedBy}
        spellCheck={false}
        onChange={(event) => setTyped(event.target.value)}
        onBlur={add}
        onKeyDown={(event) => {
          if (event.key === "Enter") {
            event.preventDefault();
            add();
          } else if (event.key === "Backspace" && typed === "" && list.length > 0) onChange(list.slice(0, -1));
        }}
      />
      {ofModels && (
        <datalist id={`${id}-models`}>
          {choices(models).map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
    </span>
  );
}

const marks: readonly [string, string][] = [["\n", "⏎"], ["\t", "⇥"], [" ", "␠"]];

// escape shows blanks by marks, where a word is nothing else or has them at its ends.
function marked(word: string): string {
  if (word.trim() === word && !/[\n\t]/.test(word) && word !== "") return word;
  return marks.reduce((text, [blank, mark]) => text.replaceAll(blank, mark), word);
}

function unmarked(word: string): string {
  const written = word.replaceAll("\\n", "\n").replaceAll("\\t", "\t");
  return marks.reduce((text, [blank, mark]) => text.replaceAll(mark, blank), written);
}

/** Color edits a color, as a picture of it and as text. */
export function Color(props: ControlProps): React.ReactNode {
  const { label, value, onChange } = props;
  const text = typeof value === "string" ? value : "";
  return (
    <span className="with-unit">
      <input
        type="color"
        aria-label={label}
        value={/^#[0-9a-f]{6}$/i.test(text) ? text : "#000000"}
        onChange={(event) => onChange(event.target.value)}
      />
      <Line {...props} />
    </span>
  );
}

const languages = ["en", "zh", "de", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "tr", "uk", "ar", "hi"];
const countries = ["us", "gb", "cn", "de", "fr", "es", "it", "jp", "kr", "in", "br", "ca", "au", "nl", "ch", "at"];

/** LanguageField edits the code of a language; those of the list have a name. */
export function LanguageField(props: ControlProps): React.ReactNode {
  return <Coded {...props} codes={languages} kind="language" />;
}

/** CountryField edits the code of a country. */
export function CountryField(props: ControlProps): React.ReactNode {
  return <Coded {...props} codes={countries} kind="region" />;
}

function Coded({
  codes,
  kind,
  ...props
}: ControlProps & { codes: readonly string[]; kind: "language" | "region" }): React.ReactNode {
  const { look } = useApp();
  const language = useStore(look, (all) => all.language);
  const list = useId();
  const { id, value, hint, describedBy, onChange } = props;
  if (!isText(value)) return <AsJson {...props} />;
  const names = new Intl.DisplayNames([language], { type: kind });
  const named = (code: string): string => {
    try {
      return names.of(kind === "region" ? code.toUpperCase() : code) ?? code;
    } catch {
      return ""; // it is no code
    }
  };
  const text = value ?? "";
  return (
    <span className="with-unit">
      <input
        id={id}
        type="text"
        list={list}
        value={text}
        placeholder={hint}
        spellCheck={false}
        aria-describedby={describedBy}
        onChange={(event) => onChange(event.target.value)}
      />
      <datalist id={list}>
        {codes.map((code) => (
          <option key={code} value={code}>
            {named(code)}
          </option>
        ))}
      </datalist>
      {text !== "" && !text.includes("{") && <span className="unit">{named(text)}</span>}
    </span>
  );
}
