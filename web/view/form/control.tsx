// The editor of one value. Which one is in the schema of the param; no editor knows a component or
// the name of a param.

import { lazy, Suspense } from "react";
import type { Widget } from "@easel/engine";
import { isObject, word } from "../../canvas/dsl.ts";
import { languageOf } from "../../canvas/script.ts";
import { AsJson, Composite } from "./as-json.tsx";
import { BranchField, Targets } from "./branches.tsx";
import { Checks, OperatorField, Segment, Select } from "./choice.tsx";
import { connection } from "./connect.tsx";
import { FieldList } from "./fields.tsx";
import {
  ConditionList, Files, MemberFields, MetadataFilter, ParserSetups, References, RowList, Variants,
} from "./groups.tsx";
import { Messages, Pairs } from "./lists.tsx";
import { ModelField } from "./model.tsx";
import { Outputs } from "./outputs.tsx";
import {
  Code, Color, CountryField, Duration, LanguageField, Line, NumberField, PromptField, Reference, Slider, Toggle,
  Words,
} from "./plain-fields.tsx";
import type { ControlProps } from "./props.ts";
import { widgetOf } from "./shown.ts";
import { Structured } from "./structured.tsx";
import { useFormText } from "./text.ts";
import { ToolList } from "./tools.tsx";
import { TypedValue } from "./typed-value.tsx";

const DatasetPicker = lazy(() => import("./datasets.tsx"));

/** widgets are the editors by their names in the schemas. */
const widgets: Record<Widget, React.ComponentType<ControlProps>> = {
  text: Line,
  prompt: PromptField,
  ref: Reference,
  value: TypedValue,
  select: Select,
  segment: Segment,
  operator: OperatorField,
  number: NumberField,
  slider: Slider,
  duration: Duration,
  toggle: Toggle,
  words: Words,
  pairs: PairList,
  rows: RowList,
  references: References,
  checks: Checks,
  members: MemberFields,
  conditions: ConditionList,
  branches: BranchField,
  code: Script,
  schema: Structured,
  outputs: Outputs,
  fields: Fields,
  messages: Messages,
  variants: Variants,
  model: ModelField,
  datasets: Datasets,
  memories: Words,
  tools: ToolList,
  servers: connection("servers"),
  canvas: Line,
  secret: connection("secret"),
  files: Files,
  language: LanguageField,
  country: CountryField,
  color: Color,
  date: Line,
  targets: Targets,
  request: connection("request"),
  webhook: connection("webhook"),
  address: connection("address"),
  headers: connection("headers"),
  "request-headers": connection("request-headers"),
  database: connection("database"),
  connection: connection("connection"),
  metadata: MetadataFilter,
  parsers: ParserSetups,
  json: AsJson,
};

/** Control edits one value. */
export function Control(props: ControlProps): React.ReactNode {
  const widget = widgetOf(props.schema, props.value);
  const Editor = widgets[widget];
  return isMalformed(widget, props.value) ? <Odd {...props} /> : <Editor {...props} />;
}

// The editors whose entries are objects: of a list or of an object.
const ofObjects: ReadonlySet<Widget> = new Set<Widget>([
  "branches", "fields", "outputs", "parsers", "servers", "tools",
]);

// isMalformed reports whether an editor would replace some entries by empty ones.
function isMalformed(widget: Widget, value: unknown): boolean {
  if (widget === "schema") return isObject(value) && !entriesAreObjects(membersOf(value["structured"]));
  if (widget === "metadata") return isObject(value) && !entriesAreObjects(value["manual"]);
  return ofObjects.has(widget) && !entriesAreObjects(value);
}

function membersOf(schema: unknown): unknown {
  return isObject(schema) ? schema["properties"] : schema;
}

function entriesAreObjects(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return true;
  if (Array.isArray(value)) return value.every(isObject);
  return isObject(value) && Object.values(value).every(isObject);
}

// Odd shows a value that its editor cannot, so that nothing of it is lost.
function Odd(props: ControlProps): React.ReactNode {
  const f = useFormText();
  return (
    <>
      <AsJson {...props} />
      <small className="missing">{f("odd_value")}</small>
    </>
  );
}

const LanguageOfScript = connection("language");

// Script edits a program, and names what runs it if that is missing.
function Script(props: ControlProps): React.ReactNode {
  const { params, schemas } = props.around;
  return (
    <>
      <Code {...props} />
      {languageOf(params, word(schemas["lang"]?.default ?? "")) !== "text" && <LanguageOfScript {...props} />}
    </>
  );
}

function Fields(props: ControlProps): React.ReactNode {
  const { value } = props;
  if (value !== undefined && value !== null && !isObject(value)) return <AsJson {...props} />;
  return (
    <Composite {...props}>
      <FieldList {...props} />
    </Composite>
  );
}

function PairList(props: ControlProps): React.ReactNode {
  return (
    <Composite {...props}>
      <Pairs {...props} />
    </Composite>
  );
}

function Datasets(props: ControlProps): React.ReactNode {
  const list: unknown = props.value ?? [];
  const names = typeof list === "string" ? [list] : list;
  if (!Array.isArray(names) || !names.every((each): each is string => typeof each === "string"))
    return <AsJson {...props} />;
  return (
    <Suspense fallback={<Words {...props} />}>
      <DatasetPicker {...props} value={names} />
    </Suspense>
  );
}
