// The script that a site includes: a button in a corner that opens the chat.
//
//   <script src="https://host/widget.js" data-agent="ID" data-token="TOKEN" defer></script>
//
// A site that knows its visitors adds data-user-id, and data-user-signature from its server.
//
// The site's Content-Security-Policy has to allow the host in script-src and connect-src, nothing
// else.

import { Chat } from "./chat.ts";
import { icon, make } from "./elements.ts";
import { ofScript } from "./options.ts";
import { styleSheet } from "./style.ts";
import { speaker } from "./words.ts";

const script = document.currentScript;
if (script instanceof HTMLScriptElement) {
  const options = ofScript(script.dataset, script.src, document.documentElement.lang);
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", () => mount(options), { once: true });
  else mount(options);
}

function mount(options: ReturnType<typeof ofScript>): void {
  const say = speaker(options.language);
  const place = make("easel-chat" as "div");
  const root = place.attachShadow({ mode: "open" });
  root.adoptedStyleSheets = [styleSheet(options)];
  const show = (open: boolean): void => {
    panel.hidden = !open;
    bubble.setAttribute("aria-expanded", String(open));
    bubble.setAttribute("aria-label", say(open ? "close" : "open"));
    bubble.replaceChildren(icon(open ? "close" : "chat"));
  };
  const close = (): void => {
    show(false);
    bubble.focus();
  };
  const chat = new Chat(options, close);
  const pressed = (event: Event): void => {
    event.stopPropagation(); // keys in the chat must not trigger shortcuts of the embedding page
    if ((event as KeyboardEvent).key === "Escape") close();
  };
  const panel = make(
    "div",
    {
      class: "panel",
      role: "dialog",
      "aria-label": options.title || say("title"),
      hidden: true,
      keydown: pressed,
    },
    chat.element,
  );
  const toggle = (): void => {
    if (!panel.hidden) return close();
    show(true);
    void chat.start().then(() => {
      panel.setAttribute("aria-label", chat.title);
      requestAnimationFrame(() => chat.focus());
    });
  };
  const bubble = make("button", { type: "button", class: "primary bubble", click: toggle });
  show(false);
  root.append(panel, bubble);
  document.body.append(place);
  if (options.open) toggle();
}
