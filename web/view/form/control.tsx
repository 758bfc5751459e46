// The editor of one value. Which one is in the schema of the param; no editor knows a component or
// the name of a param.

import { lazy, Suspense } from "react";
import type { Widget } from "@easel/engine";
import { isObject } from "../../canvas/dsl.ts";
import { AsJson, Composite } from "./as-json.tsx";
import { BranchField, Targets } from "./branches.tsx";
import { Checks, OperatorField, Segment, Select } from "./choice.tsx";
import { Connection, connects } from "./connect.tsx";
import { FieldList } from "./fields.tsx";
import {
  ConditionList, Files, MemberFields, MetadataFilter, ParserSetups, References, RequestValues, RowList, Variants,
} from "./groups.tsx";
import { Messages, Pairs } from "./lists.tsx";
import { ModelField } from "./model.tsx";
import { Outputs } from "./outputs.tsx";
import {
  Code, Color, CountryField, Duration, LanguageField, Line, NumberField, PromptField, Reference, Secret, Slider, Toggle,
  Words,
} from "./plain-fields.tsx";
import type { ControlProps } from "./props.ts";
import { widgetOf } from "./shown.ts";
import { Structured } from "./structured.tsx";
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
  code: Code,
  schema: Structured,
  outputs: Outputs,
  fields: Fields,
  messages: Messages,
  variants: Variants,
  model: ModelField,
  datasets: Datasets,
  memories: Words,
  tools: ToolList,
  servers: (props) => <Connection {...props} kind="servers" />,
  canvas: Line,
  secret: Secret,
  files: Files,
  language: LanguageField,
  country: CountryField,
  color: Color,
  date: Line,
  targets: Targets,
  request: RequestValues,
  webhook: (props) => <Connection {...props} kind="webhook" />,
  metadata: MetadataFilter,
  parsers: ParserSetups,
  json: AsJson,
};

/** Control edits one value. */
export function Control(props: ControlProps): React.ReactNode {
  const kind = connects(props);
  if (kind) return <Connection {...props} kind={kind} />;
  const Editor = widgets[widgetOf(props.schema, props.value)];
  return <Editor {...props} />;
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
