// Makes elements, and never parses HTML: an answer cannot become markup, also on pages that require
// Trusted Types.

type Attributes = Record<string, string | boolean | ((event: Event) => void) | undefined>;

/** Content is a child of an element; false and undefined are left out. */
export type Content = Node | string | false | undefined;

/**
 * make returns an element; functions are listeners, false and undefined leave an attribute out.
 * Long content is passed as a list: a call takes only so many arguments.
 */
export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...content: (Content | Content[])[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  for (const each of content.flat()) if (each !== false && each !== undefined) element.append(each);
  return element;
}

const shapes = {
  chat: "M4 5h16v11H9l-4 4v-4H4z",
  close: "M6 6l12 12M18 6L6 18",
  send: "M4 12l16-8-6 16-3-6z",
  stop: "M7 7h10v10H7z",
  attach: "M8 12l6-6a3 3 0 0 1 4 4l-8 8a5 5 0 0 1-7-7l7-7",
  restart: "M5 12a7 7 0 1 0 2-5M5 4v4h4",
};

/** icon draws one of the shapes. */
export function icon(name: keyof typeof shapes): SVGElement {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", shapes[name]);
  svg.append(path);
  return svg;
}
