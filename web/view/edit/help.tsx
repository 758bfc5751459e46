// Help: what the selected step does, with an example, where the guides are, and all keys.

import { useEffect, useRef } from "react";
import type { ComponentSpec, Schema } from "@easel/engine";
import { isObject } from "../../canvas/dsl.ts";
import { examples } from "../../words/examples.ts";
import { areaLink } from "../areas.tsx";
import { useApp, useLook, useSpecText, useStore, useText } from "../context.tsx";
import { useDocsText } from "../docs/text.ts";
import { loadExamples } from "../example.ts";
import { isShown, tagOf } from "../form/shown.ts";
import { hueOf, Icon, iconOf } from "../icons.tsx";
import { useLoaded } from "../loaded.ts";
import { sentence, titled } from "../text.ts";
import type { Command } from "./commands.ts";

/** Help is a dialog; an import of Keys would split the first scripts. */
export default function Help({ commands, Keys, onLeave }: {
  commands: readonly Command[]; Keys: React.ComponentType<{ keys: string }>; onLeave(): void;
}): React.ReactNode {
  const t = useText();
  const d = useDocsText();
  const { session } = useApp();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const selected = useLook((look) => look.selected);
  const node = useStore(session.document, (document) => document?.model.byId.get(selected ?? ""));
  const spec = useStore(session.specs, (specs) => specs.get(node?.kind ?? ""));
  const words = useSpecText();
  const close = (): void => dialog.current?.close();
  const list = <KeyList commands={commands} Keys={Keys} />;
  return (
    <dialog ref={dialog} className="help" aria-labelledby="help-title" onClose={onLeave}>
      <h2 id="help-title">{spec ? d("help_of", words(titled(spec, spec.name))) : t("edit.help")}</h2>
      <nav className="help-links" aria-label={d("guides")}>
        <a href={areaLink("docs")} onClick={close}>{d("guides")}</a>
        <a href={areaLink("docs", "api")} onClick={close}>{d("api")}</a>
      </nav>
      {spec ? <About spec={spec} onFollow={close} /> : <p className="quiet small">{d("pick")}</p>}
      {spec ? <details className="more"><summary>{d("keys")}</summary>{list}</details> : list}
      <form method="dialog">
        <button type="submit" className="primary">{t("error.close")}</button>
      </form>
    </dialog>
  );
}

function KeyList({ commands, Keys }: {
  commands: readonly Command[]; Keys: React.ComponentType<{ keys: string }>;
}): React.ReactNode {
  const t = useText();
  const rows: [text: string, keys: string][] = [
    ...commands.flatMap(({ label, keys }): [string, string][] => (keys === undefined ? [] : [[t(label), keys]])),
    [t("help.copy"), "Mod+C"],
    [t("help.cut"), "Mod+X"],
    [t("help.paste"), "Mod+V"],
    [t("help.box"), "Shift+Drag"],
    [t("help.more"), "Mod+Click"],
    [t("help.go"), "Arrows"],
    [t("help.through"), "PageDown"],
    [t("help.go_select"), "Alt+Arrows"],
    [t("help.move"), "Arrows"],
    [t("help.release"), "Escape"],
    [t("help.tab"), "Tab"],
    [t("help.pan"), "Space+Drag"],
  ];
  return (
    <dl>
      {rows.map(([text, keys]) => (
        <div key={text}>
          <dt>{text}</dt>
          <dd><Keys keys={keys} /></dd>
        </div>
      ))}
    </dl>
  );
}

// About explains a component.
function About({ spec, onFollow }: { spec: ComponentSpec; onFollow(): void }): React.ReactNode {
  const d = useDocsText();
  const words = useSpecText();
  const language = useLook((look) => look.language);
  const example = examples[spec.name]?.[language];
  const { value: shown } = useLoaded("examples", loadExamples);
  const canvas = shown?.find(({ dsl }) => uses(dsl.components, [spec.name, ...(spec.aliases ?? [])]));
  const around = { params: {}, schemas: spec.params?.properties ?? {} };
  const settings = Object.entries(around.schemas).filter(([name, schema]) => isShown(name, around) && isOwn(schema));
  const outputs = (spec.outputs ?? []).filter(({ name }) => !/^(\*|_)/.test(name));
  return (
    <div className="help-about" data-hue={hueOf(spec)}>
      <p><span className="glyph"><Icon name={iconOf(spec)} /></span> {words(spec.description ?? "")}</p>
      <p className="quiet small">
        {d("stored", spec.name)} {spec.tool ? d("as_tool") : ""}
      </p>
      {example && (
        <section>
          <h3>{d("example")}</h3>
          <p className="help-example">{example}</p>
          {canvas && <a href={`#example=${canvas.id}`} onClick={onFollow}>{d("try")}</a>}
        </section>
      )}
      {settings.length > 0 && (
        <section>
          <h3>{d("settings")}</h3>
          <dl className="help-rows">
            {settings.map(([name, { title = name, description = "" }]) => (
              <div key={name}>
                <dt>{words(title)}</dt>
                <dd>{sentence(words(description))}</dd>
              </div>
            ))}
          </dl>
        </section>
      )}
      {outputs.length > 0 && (
        <section lang="en">
          <h3 lang={language}>{d("outputs")}</h3>
          <dl className="help-rows">
            {outputs.map(({ name, description = "" }) => (
              <div key={name}><dt>{name}</dt><dd>{sentence(description)}</dd></div>
            ))}
          </dl>
        </section>
      )}
      <a href={areaLink("docs", "components", spec.name.toLowerCase())} onClick={onFollow}>{d("more")}</a>
    </div>
  );
}

// isOwn leaves out what every step has.
function isOwn(schema: Schema): boolean {
  const { section } = tagOf(schema);
  return section !== "fail" && section !== "advanced" && section !== "tools" || tagOf(schema).widget === "tools";
}

// uses reports whether a value contains one of the components, tools of agents included.
function uses(value: unknown, names: readonly string[]): boolean {
  if (Array.isArray(value)) return value.some((each) => uses(each, names));
  if (!isObject(value)) return false;
  const name = value["component_name"];
  return (typeof name === "string" && names.includes(name)) || Object.values(value).some((each) => uses(each, names));
}
