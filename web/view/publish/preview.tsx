// The chat as it will look on a site, with the canvas that answers there. It is the widget's own
// code: the policy of this page allows no frames.

import { useEffect, useMemo, useRef } from "react";
import type { Embed } from "../../run/snippets.ts";
import { Chat } from "../../widget/chat.ts";
import { icon, make } from "../../widget/elements.ts";
import type { Options } from "../../widget/options.ts";
import { styleSheet } from "../../widget/style.ts";
import { speaker } from "../../widget/words.ts";
import { useLook } from "../context.tsx";
import { usePublishText } from "./parts.tsx";

/** Preview follows the choices above it. */
export default function Preview({ embed, published }: { embed: Embed; published: boolean }): React.ReactNode {
  const t = usePublishText();
  const page = useLook((look) => look.language);
  const { agent, token, color, side, title, files } = embed;
  const language = embed.language || page;
  const host = useRef<HTMLDivElement>(null);
  const options = useMemo((): Options => ({
    host: `${location.origin}/`, agent, token, language, theme: "auto", side, color, title, files, published,
    open: true, user: "", signature: "", inputs: {},
  }), [agent, token, language, side, color, title, files, published]);
  const looks = useRef(options);
  looks.current = options;
  // A chat is made again only for what it is made with; its colour and its side are a style sheet.
  useEffect(() => {
    const root = host.current?.shadowRoot ?? host.current?.attachShadow({ mode: "open" });
    if (!root) return;
    const say = speaker(language);
    const panel = make("section", { class: "panel", "aria-label": t("preview") });
    const toggle = (): void => show(panel.hidden === true);
    const bubble = make("button", { type: "button", class: "primary bubble", click: toggle });
    const show = (open: boolean): void => {
      panel.hidden = !open;
      bubble.setAttribute("aria-expanded", String(open));
      bubble.setAttribute("aria-label", say(open ? "close" : "open"));
      bubble.replaceChildren(icon(open ? "close" : "chat"));
    };
    const chat = new Chat(looks.current, () => show(false));
    panel.append(chat.element);
    root.replaceChildren(panel, bubble);
    show(true);
    void chat.start();
  }, [agent, token, language, title, files, published, t]);
  useEffect(() => {
    const root = host.current?.shadowRoot;
    if (root) root.adoptedStyleSheets = [styleSheet(options), boxed()];
  }, [options]);
  return (
    <figure className="embed-preview">
      <figcaption>{t(published ? "preview" : "preview_draft")}</figcaption>
      <div className="embed-site"><div ref={host} /></div>
    </figure>
  );
}

// boxed sizes the chat by the box and not by the window, on a phone too.
function boxed(): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(".panel{max-width:calc(100% - 40px);height:calc(100% - 108px)}" +
    "@media (max-width:480px){.panel{max-width:none;width:100%;height:100%}}");
  return sheet;
}
