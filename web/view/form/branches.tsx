// The branches of a node that chooses, with the steps they lead to; edges are drawn on the canvas
// or chosen here.

import type { BranchSpec, Schema } from "@easel/engine";
import { isObject, word, type Params } from "../../canvas/dsl.ts";
import { useApp, useSpecText, useStore, useText } from "../context.tsx";
import { Icon } from "../icons.tsx";
import { Members, Rows, unused } from "./lists.tsx";
import type { ControlProps } from "./props.ts";

/** BranchField edits branches: a list of conditions, or categories by name. */
export function BranchField(props: ControlProps): React.ReactNode {
  const branch = props.spec?.branches?.find(({ param }) => param === props.name) ?? { param: props.name };
  return Array.isArray(props.value) || props.schema.type === "array" ? (
    <Conditions {...props} branch={branch} />
  ) : (
    <Categories {...props} branch={branch} />
  );
}

function useSetBranches(node: string, param: string): (value: unknown) => void {
  const { session } = useApp();
  return (value) => session.editing.branches(node, param, value);
}

function Conditions({
  node,
  name,
  spec,
  schema,
  value,
  branch: { to = "to", label: label_ = "" },
}: ControlProps & { branch: BranchSpec }): React.ReactNode {
  const words = useSpecText();
  const set = useSetBranches(node, name);
  const list = (Array.isArray(value) ? value : []).map((each: unknown): Params => (isObject(each) ? each : {}));
  const items: Schema = isObject(schema.items) ? schema.items : {};
  return (
    <Rows label={words(label_)} value={list} make={() => ({ ...blankOf(items), [to]: [] })} onChange={set}>
      {(each, i) => (
        <>
          <b className="branch-title">{words(`${label_} ${i + 1}`)}</b>
          <Members
            node={node}
            spec={spec}
            schema={items}
            value={each}
            but={[to]}
            onChange={(next) => set(list.with(i, next))}
          />
          <Reached node={node} value={each[to]} onChange={(next) => set(list.with(i, { ...each, [to]: next }))} />
        </>
      )}
    </Rows>
  );
}

// blankOf returns a new branch: defaults, and one open row in each list.
function blankOf({ properties = {} }: Schema): Params {
  return Object.fromEntries(
    Object.entries(properties).flatMap(([key, { default: value, type, items }]): [string, unknown][] => {
      if (value !== undefined) return [[key, value]];
      return type === "array" && isObject(items) && items["type"] === "object" ? [[key, [{}]]] : [];
    }),
  );
}

function Categories({
  node,
  name,
  label,
  value,
  branch: { to = "to" },
}: ControlProps & { branch: BranchSpec }): React.ReactNode {
  const t = useText();
  const set = useSetBranches(node, name);
  const record = isObject(value) ? value : {};
  const list = Object.entries(record).map(([key, each]): [string, Params] => [key, isObject(each) ? each : {}]);
  const write = (next: [string, Params][]): void => set(Object.fromEntries(next));
  const change = (i: number, key: string, part: Params): void => {
    const [name_ = "", each = {}] = list[i] ?? [];
    write(list.with(i, [name_, { ...each, [key]: part[key] }]));
  };
  return (
    <Rows
      label={label}
      value={list}
      make={(): [string, Params] => [unused(record, t("branch.name")), { description: "", examples: [], [to]: [] }]}
      onChange={write}
    >
      {([key, each], i) => (
        <>
          <input
            key={key}
            type="text"
            className="branch-name"
            aria-label={`${t("branch.name")} ${i + 1}`}
            defaultValue={key}
            onBlur={(event) => {
              const next = event.target.value.trim();
              if (next === key) return;
              if (next === "" || Object.hasOwn(record, next)) event.target.value = key;
              else write(list.with(i, [next, each]));
            }}
          />
          <label className="member">
            {t("branch.description")}
            <textarea
              rows={2}
              value={typeof each["description"] === "string" ? each["description"] : ""}
              onChange={(event) => change(i, "description", { description: event.target.value })}
            />
          </label>
          <label className="member">
            {t("branch.examples")}
            <textarea
              rows={2}
              value={Array.isArray(each["examples"]) ? each["examples"].map(word).join("\n") : ""}
              onChange={(event) =>
                change(i, "examples", { examples: event.target.value === "" ? [] : event.target.value.split("\n") })
              }
            />
          </label>
          <Reached node={node} value={each[to]} onChange={(next) => change(i, to, { [to]: next })} />
        </>
      )}
    </Rows>
  );
}

/** Targets edits a param that holds the ids of the nodes it leads to. */
export function Targets({ node, name, spec, value, onChange }: ControlProps): React.ReactNode {
  const set = useSetBranches(node, name);
  const branch = spec?.branches?.some(({ param }) => param === name);
  return <Reached node={node} value={value} onChange={branch ? set : onChange} />;
}

// Reached shows the nodes that something leads to, by name, and offers others.
function Reached({
  node,
  value,
  onChange,
}: {
  node: string;
  value: unknown;
  onChange(value: string[]): void;
}): React.ReactNode {
  const t = useText();
  const { session } = useApp();
  const model = useStore(session.document, (document) => document?.model);
  const ids =
    typeof value === "string"
      ? [value]
      : Array.isArray(value)
        ? value.filter((each): each is string => typeof each === "string")
        : [];
  const parent = model?.byId.get(node)?.parent;
  const others = (model?.nodes ?? []).filter(
    (each) =>
      (each.role === "node" || each.role === "group") &&
      each.spec?.role !== "start" &&
      each.id !== node &&
      each.parent === parent &&
      !ids.includes(each.id),
  );
  return (
    <div className="reached">
      <span className="quiet small">{t("branch.leads")}</span>
      {ids.map((id) => (
        <span key={id} className="chip">
          {model?.byId.get(id)?.name ?? id}
          <button
            type="button"
            className="chip-remove"
            aria-label={`${t("form.remove")} ${model?.byId.get(id)?.name ?? id}`}
            onClick={() => onChange(ids.filter((each) => each !== id))}
          >
            <Icon name="cross" />
          </button>
        </span>
      ))}
      <select
        className="small-select"
        aria-label={t("branch.leads")}
        value=""
        onChange={(event) => onChange([...ids, event.target.value])}
      >
        <option value="">{ids.length > 0 ? "+" : t("form.none")}</option>
        {others.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}
