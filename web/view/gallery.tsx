// The first thing a person sees: what there is to try.

import type { Dsl, Words } from "../canvas/dsl.ts";
import type { Drafts } from "../run/drafts.ts";
import { pick } from "../words/words.ts";
import { useApp, useLook, useStore, useText } from "./context.tsx";
import { OnHost } from "./host.tsx";
import { hueOf, Icon, iconOf } from "./icons.tsx";

/** Example is an entry of the gallery. */
export interface Example {
  id: string;
  title: Words;
  description: Words;
  dsl: Dsl;
}

/** Gallery shows the examples. */
export function Gallery({ examples, onOpen, onNew, onDraft, onHost }: {
  examples: Example[]; onOpen(example: Example): void; onNew(): void; onDraft(key: string): void; onHost(id: string): void;
}): React.ReactNode {
  const t = useText();
  const language = useLook((look) => look.language);
  const specs = useStore(useApp().session.specs, (all) => all);
  return (
    <section className="gallery">
      <h1>{t("gallery.title")}</h1>
      <p className="lead">{t("gallery.hint")}</p>
      <ul className="cards">
        <li>
          <button type="button" className="card new" disabled={specs.size === 0} onClick={onNew}>
            <span className="glyphs" aria-hidden="true"><span className="glyph"><Icon name="plus" /></span></span>
            <b>{t("gallery.new")}</b>
            <span>{t("gallery.new_hint")}</span>
          </button>
        </li>
        {examples.map((example) => {
          const kinds = [...new Set(Object.values(example.dsl.components).map((component) => component.obj.component_name))].flatMap((kind) => specs.get(kind) ?? []).filter((spec) => spec.role !== "item");
          return (
            <li key={example.id}>
              <button type="button" className="card" onClick={() => onOpen(example)}>
                <span className="glyphs" aria-hidden="true">{kinds.slice(0, 7).map((spec) => <span key={spec.name} className="glyph" data-hue={hueOf(spec)}><Icon name={iconOf(spec)} /></span>)}</span>
                <b>{pick(example.title, language)}</b>
                <span>{pick(example.description, language)}</span>
                <small>{t("gallery.nodes", Object.keys(example.dsl.components).length)}</small>
              </button>
            </li>
          );
        })}
      </ul>
      <DraftList onOpen={onDraft} />
      <OnHost onOpen={onHost} />
    </section>
  );
}

function DraftList({ onOpen }: { onOpen(key: string): void }): React.ReactNode {
  const { drafts } = useApp();
  return drafts ? <Listed drafts={drafts} onOpen={onOpen} /> : null;
}

function Listed({ drafts, onOpen }: { drafts: Drafts; onOpen(key: string): void }): React.ReactNode {
  const t = useText();
  const language = useLook((look) => look.language);
  const list = useStore(drafts.list, (all) => all);
  if (list.length === 0) return null;
  return (
    <section className="drafts" aria-labelledby="drafts-title">
      <h2 id="drafts-title">{t("drafts.title")}</h2>
      <ul>
        {list.slice(0, 12).map(({ key, title, updated }) => {
          const name = pick(title, language) || t("gallery.untitled");
          return (
            <li key={key}>
              <button type="button" className="draft" onClick={() => onOpen(key)}>
                <b>{name}</b><small>{t("drafts.changed", new Date(updated).toLocaleString(language))}</small>
              </button>
              <button type="button" className="icon-button" aria-label={t("drafts.delete", name)} onClick={() => void drafts.drop(key)}><Icon name="trash" /></button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
