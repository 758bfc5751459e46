// A new canvas from a wish in words: drafted by a model, or else the nearest template.

import { useEffect, useState } from "react";
import { useApp, useStore } from "../context.tsx";
import { loadTemplates, type Template } from "../example.ts";
import type { HomeActs } from "./acts.ts";
import { useHomeText } from "./text.ts";

/** Describe takes a wish and opens what is made of it. */
export function Describe({ acts }: { acts: HomeActs }): React.ReactNode {
  const h = useHomeText();
  const { session, look } = useApp();
  const offline = useStore(session.player.provider, ({ kind }) => kind === "offline");
  const ready = useStore(session.specs, (specs) => specs.size > 0);
  const [wish, setWish] = useState("");
  const [templates, setTemplates] = useState<readonly Template[]>([]);
  useEffect(() => void loadTemplates().then(setTemplates), []);
  const make = (): void => {
    const template = offline ? nearest(templates, wish) : undefined;
    if (template) acts.onTemplate(template);
    else acts.onNew();
    look.update({ dialog: "draft", wish: wish.trim() });
  };
  return (
    <form
      className="describe"
      onSubmit={(event) => {
        event.preventDefault();
        make();
      }}
    >
      <textarea
        rows={2} value={wish} maxLength={4000} placeholder={h("describe_example")} aria-label={h("describe")}
        onChange={(event) => setWish(event.target.value)}
      />
      <button type="submit" className="primary" disabled={!ready || wish.trim() === ""}>{h("describe_make")}</button>
    </form>
  );
}

/** nearest returns the template with the most words of a wish in its texts. */
export function nearest(templates: readonly Template[], wish: string): Template | undefined {
  const words = new Set(wish.toLowerCase().match(/\p{Script=Han}+|[\p{Ll}\p{N}]{3,}/gu)?.flatMap(
    // Chinese has no spaces: each pair of signs counts.
    (word) => {
      if (!/\p{Script=Han}/u.test(word)) return [word];
      return [...word].slice(1).map((_, i) => word.slice(i, i + 2));
    },
  ));
  const score = ({ title, description }: Template): number => {
    const text = [title, description].flatMap((each) => Object.values(each)).join(" ").toLowerCase();
    return [...words].filter((word) => text.includes(word.replace(/s$/, ""))).length;
  };
  return templates.toSorted((a, b) => score(b) - score(a))[0];
}
