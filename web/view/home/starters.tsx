// Starting points of a new canvas: templates by use case, and the examples.

import { useEffect, useState } from "react";
import type { ComponentSpec } from "@easel/engine";
import type { HomeKey } from "../../words/home.ts";
import { pick } from "../../words/words.ts";
import { useApp, useLook, useStore } from "../context.tsx";
import { loadExamples, loadTemplates, useCases, type Example, type Template, type UseCase } from "../example.ts";
import { hueOf, Icon, iconOf } from "../icons.tsx";
import type { HomeActs } from "./acts.ts";
import { useHomeText } from "./text.ts";

const mostIcons = 7;

/** Starters shows templates and examples. */
export function Starters({
  acts,
  ref,
}: {
  acts: Pick<HomeActs, "onExample" | "onTemplate">;
  ref: React.Ref<HTMLElement>;
}): React.ReactNode {
  const h = useHomeText();
  const [templates, setTemplates] = useState<Template[]>([]);
  const [examples, setExamples] = useState<Example[]>([]);
  const [use, setUse] = useState<UseCase>();
  useEffect(() => {
    void loadTemplates().then(setTemplates);
    void loadExamples().then(setExamples);
  }, []);
  return (
    <>
      <section className="templates" aria-labelledby="templates-title" ref={ref}>
        <div className="line">
          <h2 id="templates-title" tabIndex={-1}>
            {h("templates")}
          </h2>
          <div className="use-cases" role="group" aria-label={h("use_label")}>
            {[undefined, ...useCases].map((each) => (
              <button key={each ?? ""} type="button" aria-pressed={use === each} onClick={() => setUse(each)}>
                {h(each ? `use_${each}` : "use_all")}
              </button>
            ))}
          </div>
        </div>
        <p className="quiet">{h("templates_hint")}</p>
        <ul className="cards">
          {templates
            .filter((template) => use === undefined || template.use === use)
            .map((template) => (
              <StarterCard
                key={template.id}
                starter={template}
                label={h(`use_${template.use}`)}
                onOpen={() => acts.onTemplate(template)}
              />
            ))}
        </ul>
      </section>
      <section className="examples" aria-labelledby="examples-title">
        <h2 id="examples-title">{h("examples")}</h2>
        <p className="quiet">{h("examples_hint")}</p>
        <ul className="cards">
          {examples.map((example) => (
            <StarterCard key={example.id} starter={example} onOpen={() => acts.onExample(example)} />
          ))}
        </ul>
      </section>
    </>
  );
}

function StarterCard({
  starter,
  label,
  onOpen,
}: {
  starter: Example;
  label?: string;
  onOpen(): void;
}): React.ReactNode {
  const h = useHomeText();
  const language = useLook((look) => look.language);
  const specs = useStore(useApp().session.specs, (all) => all);
  const components = Object.values(starter.dsl.components);
  const needs = needsOf(components.map(({ obj }) => obj.component_name), specs);
  return (
    <li>
      <button type="button" className="card" onClick={onOpen}>
        <Glyphs kinds={kindsOf(components.map(({ obj }) => obj.component_name), specs)} />
        <b>{pick(starter.title, language)}</b>
        <span>{pick(starter.description, language)}</span>
        <small>
          {[label, h("steps", components.length), ...needs.map((need) => h(need))].filter(Boolean).join(" · ")}
        </small>
      </button>
    </li>
  );
}

const kinds = { model: "starter_model", datasets: "starter_documents" } as const;

// needsOf names what a canvas of these components needs for real answers.
function needsOf(names: string[], specs: ReadonlyMap<string, ComponentSpec>): HomeKey[] {
  const widgets = new Set(names.flatMap((name) => {
    const params = specs.get(name)?.params?.properties ?? {};
    return [...Object.values(params).map((each) => each["x-easel"]?.widget), ...("llm_id" in params ? ["model"] : [])];
  }));
  const needs = Object.entries(kinds).flatMap(([widget, need]) => (widgets.has(widget) ? [need] : []));
  return needs.length > 0 ? needs : ["starter_now"];
}

/** kindsOf returns the components that are drawn for a canvas, each once. */
export function kindsOf(names: string[], specs: ReadonlyMap<string, ComponentSpec>): ComponentSpec[] {
  return [...new Set(names)].flatMap((name) => specs.get(name) ?? []).filter(({ role }) => role !== "item");
}

/** Glyphs returns the pictures of components in a row. */
export function Glyphs({ kinds }: { kinds: ComponentSpec[] }): React.ReactNode {
  return (
    <span className="glyphs" aria-hidden="true">
      {kinds.slice(0, mostIcons).map((spec) => (
        <span key={spec.name} className="glyph" data-hue={hueOf(spec)}>
          <Icon name={iconOf(spec)} />
        </span>
      ))}
    </span>
  );
}
