// The tools of an agent: components with their settings, and other agents.

import { isObject, word, type Params } from "../../canvas/dsl.ts";
import { callable } from "../../canvas/edit/tools.ts";
import { takesTools } from "../../canvas/edit/nodes.ts";
import { useApp, useSelect, useSpecText, useStore, useText } from "../context.tsx";
import { hueOf, Icon, iconOf } from "../icons.tsx";
import { titled } from "../text.ts";
import { SettingsContext } from "./params.tsx";
import { useEditors, type ControlProps } from "./props.ts";

/** ToolList edits the tools of an agent. */
export function ToolList({ node, value }: ControlProps): React.ReactNode {
  const t = useText();
  const words = useSpecText();
  const { session } = useApp();
  const specs = useStore(session.specs, (all) => all);
  const tools = (Array.isArray(value) ? value : []).map((each: unknown): Params => (isObject(each) ? each : {}));
  const set = (i: number, part: Params): void => session.editing.tool(node, tools.with(i, { ...tools[i], ...part }));
  const offered = callable(specs);
  const add = (kind: string): void => session.editing.attach(node, kind, titled(specs.get(kind), kind));
  return (
    <div className="tools">
      {tools.length === 0 && <p className="quiet small">{t("tools.none")}</p>}
      {tools.map((tool, i) => (
        <Tool
          key={i}
          node={node}
          tool={tool}
          onChange={(part) => set(i, part)}
          onRemove={() => session.editing.detach(node, i)}
        />
      ))}
      <select aria-label={t("tools.add")} value="" onChange={(event) => add(event.target.value)}>
        <option value="">{t("tools.add")}…</option>
        {offered
          .filter((spec) => !takesTools(spec))
          .map((spec) => (
            <option key={spec.name} value={spec.name}>
              {words(titled(spec, spec.name))}
            </option>
          ))}
      </select>
      {offered.filter(takesTools).map(({ name }) => (
        <button key={name} type="button" className="add" onClick={() => add(name)}>
          <Icon name="plus" />
          {t("tools.agent")}
        </button>
      ))}
    </div>
  );
}

// changed returns params with changes, of which undefined removes one.
function changed(params: Params, changes: Params): Params {
  return Object.fromEntries(Object.entries({ ...params, ...changes }).filter(([, value]) => value !== undefined));
}

function Tool({
  node,
  tool,
  onChange,
  onRemove,
}: {
  node: string;
  tool: Params;
  onChange(part: Params): void;
  onRemove(): void;
}): React.ReactNode {
  const t = useText();
  const words = useSpecText();
  const { session } = useApp();
  const select = useSelect();
  const { Form } = useEditors();
  const kind = word(tool["component_name"] ?? "");
  const spec = useStore(session.specs, (all) => all.get(kind));
  const params = isObject(tool["params"]) ? tool["params"] : {};
  const name = typeof tool["name"] === "string" ? tool["name"] : "";
  const box = typeof tool["id"] === "string" ? tool["id"] : undefined;
  return (
    <details className="tool-item" data-hue={hueOf(spec)}>
      <summary>
        <span className="glyph">
          <Icon name={iconOf(spec)} />
        </span>
        <b>{name || words(titled(spec, kind))}</b>
        <button
          type="button"
          className="icon-button"
          aria-label={t("tools.remove", name || kind)}
          title={t("tools.remove", name || kind)}
          onClick={(event) => {
            event.preventDefault();
            onRemove();
          }}
        >
          <Icon name="cross" />
        </button>
      </summary>
      <label className="member">
        {t("tools.name")}
        <input type="text" value={name} onChange={(event) => onChange({ name: event.target.value })} />
      </label>
      {box !== undefined ? (
        <button type="button" onClick={() => select(box, { tab: "node", reveal: true })}>
          {t("problems.goto", name)}
        </button>
      ) : (
        <SettingsContext
          value={{ params, set: (changes) => onChange({ params: changed(params, changes) }), tool: true }}
        >
          <Form
            node={node}
            spec={spec}
            params={params}
            tool
            changed={{}}
            onChange={(key, next) => onChange({ params: { ...params, [key]: next } })}
          />
        </SettingsContext>
      )}
    </details>
  );
}
