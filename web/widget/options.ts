// The options of a chat set by the owner of a site: attributes of the script, or the address of the
// chat page, in easel's form and in RAGFlow's.

import { languageOf, type Language } from "./words.ts";

/** Options describe one chat. */
export interface Options {
  /** The host, with a slash at the end. */
  host: string;
  agent: string;
  /** The embed token of the agent. It opens this agent's chat and nothing else. */
  token: string;
  language: Language;
  theme: "auto" | "light" | "dark";
  side: "left" | "right";
  /** CSS hex colour of buttons and of the visitor's messages. */
  color: string;
  title: string;
  /** Visitors may attach files. */
  files: boolean;
  /** The published version answers, else the canvas as it is saved. */
  published: boolean;
  /** Begin with an open chat. */
  open: boolean;
  /** Id of the visitor at the site, for sys.user_id. */
  user: string;
  /** Signature of `user` by the site; without one the visitor is anonymous. */
  signature: string;
  /** Values for the fields of the start form, by name. */
  inputs: Record<string, string>;
}

const defaultColor = "#1f6470";

/** ofScript reads the attributes of the script element; `src` is its address. */
export function ofScript(data: DOMStringMap, src: string, page: string): Options {
  return {
    host: folderOf(data["host"] || src),
    agent: data["agent"] ?? "",
    token: data["token"] ?? "",
    language: languageOf(data["language"]) ?? languageOf(page) ?? "en",
    theme: themeOf(data["theme"]),
    side: data["position"] === "left" ? "left" : "right",
    color: colorOf(data["color"]),
    title: data["title"] ?? "",
    files: data["files"] !== "off",
    published: data["version"] !== "draft",
    open: data["open"] !== undefined,
    user: data["userId"] ?? data["user"] ?? "",
    signature: data["userSignature"] ?? "",
    inputs: {},
  };
}

/**
 * ofAddress reads the address of the chat page. Our own form is agent and token, in the fragment
 * or the query; RAGFlow's is shared_id, auth, locale, theme, release, widget_title,
 * widget_accent_color and data_NAME in the query. Both have user_id and user_signature.
 */
export function ofAddress(address: URL): Options {
  const all = new URLSearchParams(address.search);
  for (const [name, value] of new URLSearchParams(address.hash.slice(1))) all.set(name, value);
  const first = (...names: string[]): string => names.map((name) => all.get(name)).find((value) => value) ?? "";
  const ours = all.has("agent");
  const inputs = [...all].flatMap(([name, value]) => (name.startsWith("data_") ? [[name.slice(5), value]] : []));
  return {
    host: new URL("..", address.origin + address.pathname).href,
    agent: first("agent", "shared_id"),
    token: first("token", "auth"),
    language: languageOf(first("language", "locale")) ?? languageOf(navigator.language) ?? "en",
    theme: themeOf(first("theme")),
    side: "right",
    color: colorOf(first("color", "widget_accent_color")),
    title: first("title", "widget_title"),
    files: first("files") !== "off",
    published: ours ? first("version") !== "draft" : first("release") === "true",
    open: true,
    user: first("user_id", "user", "userId"),
    signature: first("user_signature"),
    inputs: Object.fromEntries(inputs) as Record<string, string>,
  };
}

function folderOf(address: string): string {
  return new URL(".", new URL(address, document.baseURI)).href;
}

function themeOf(text: string | undefined): Options["theme"] {
  return text === "light" || text === "dark" ? text : "auto";
}

/** colorOf accepts #rgb and #rrggbb; anything else is the default. */
export function colorOf(text: string | undefined): string {
  if (!text || !/^#?([\da-f]{3}|[\da-f]{6})$/i.test(text)) return defaultColor;
  const digits = text.replace("#", "").toLowerCase();
  return "#" + (digits.length === 3 ? digits.replace(/./g, "$&$&") : digits);
}

/** inkOn returns black or white, whichever has more contrast on a colour. */
export function inkOn(color: string): "#000000" | "#ffffff" {
  return luminance(color) > 0.179 ? "#000000" : "#ffffff";
}

/** legibleOn moves a colour towards black or white until text in it is legible on a ground. */
export function legibleOn(color: string, ground: string): string {
  const target = luminance(ground) > 0.179 ? 0 : 255;
  let channels = channelsOf(color);
  for (let tries = 0; tries < 20 && contrast(hexOf(channels), ground) < 4.6; tries++) {
    channels = channels.map((value) => Math.round(value + (target - value) * 0.15));
  }
  return hexOf(channels);
}

function contrast(a: string, b: string): number {
  const [low = 0, high = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = channelsOf(color).map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

const channelsOf = (color: string): number[] => [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
const hexOf = (channels: number[]): string =>
  "#" + channels.map((value) => value.toString(16).padStart(2, "0")).join("");
