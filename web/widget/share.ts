// The chat as a separate page, at /agent/share and /agent/chat, and the frames of RAGFlow's widget
// at /chats/widget: a button in one frame and the window in another, which the script of the
// embedding page creates on a message of the button.

import { Chat } from "./chat.ts";
import { icon, make } from "./elements.ts";
import { ofAddress } from "./options.ts";
import { styleSheet } from "./style.ts";
import { speaker } from "./words.ts";

const address = new URL(location.href);
const options = ofAddress(address);
const mode = address.pathname.endsWith("/chats/widget") ? (address.searchParams.get("mode") ?? "") : "";
document.documentElement.lang = options.language;

const place = make("main");
const root = place.attachShadow({ mode: "open" });
root.adoptedStyleSheets = [styleSheet(options)];
document.body.append(place);
if (mode === "master" || mode === "button") drawButton();
else drawChat();

function drawChat(): void {
  const chat = new Chat(options);
  root.append(make("div", { class: "page" }, chat.element));
  document.title = chat.title;
  void chat.start().then(() => {
    document.title = chat.title;
    if (parent === window) requestAnimationFrame(() => chat.focus());
  });
}

// drawButton draws the frame with the button. Its messages to the embedding page contain no secret
// of the host: the page itself has set the address with the token.
function drawButton(): void {
  const say = speaker(options.language);
  let open = false;
  const toggle = (): void => {
    open = !open;
    parent.postMessage({ type: "TOGGLE_CHAT", isOpen: open }, "*");
    draw();
  };
  const button = make("button", { type: "button", class: "primary bubble", click: toggle });
  const draw = (): void => {
    button.setAttribute("aria-expanded", String(open));
    button.setAttribute("aria-label", say(open ? "close" : "open"));
    button.replaceChildren(icon(open ? "close" : "chat"));
  };
  draw();
  root.append(button);
  if (mode === "master") {
    const src = new URL(address);
    src.searchParams.set("mode", "window");
    parent.postMessage({ type: "CREATE_CHAT_WINDOW", src: src.href }, "*");
  }
}
