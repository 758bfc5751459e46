// The areas of the host, by address: #knowledge, #knowledge=dataset, #knowledge=dataset/document,
// #runs, #runs=canvas, #settings, #settings=section, and the guides: #docs, #docs=guide,
// #docs=guide/heading.

import { useSyncExternalStore } from "react";
import { useApp, useStore, useText } from "./context.tsx";

/** Area is a part of the page that shows what the host keeps. */
export interface Area {
  name: "knowledge" | "runs" | "settings" | "docs";
  /** Ids that the address names. */
  path: string[];
}

/** areaOf reads an address. */
export function areaOf(hash: string): Area | undefined {
  const [, name, path = ""] = /^#(knowledge|runs|settings|docs)(?:=(.*))?$/.exec(hash) ?? [];
  if (name === undefined) return undefined;
  try {
    return { name: name as Area["name"], path: path.split("/").filter(Boolean).map(decodeURIComponent) };
  } catch {
    return { name: name as Area["name"], path: [] }; // an address that somebody cut off
  }
}

/** areaLink returns the address of an area. */
export function areaLink(name: Area["name"], ...path: string[]): string {
  return `#${name}${path.length > 0 ? "=" + path.map(encodeURIComponent).join("/") : ""}`;
}

const listeners = new Set<() => void>();
let canvas = ""; // address before an area was opened

function subscribe(listener: () => void): () => void {
  const moved = ({ oldURL }: HashChangeEvent): void => {
    const before = new URL(oldURL).hash;
    if (!areaOf(before)) canvas = before;
    listener();
  };
  addEventListener("hashchange", moved);
  listeners.add(listener);
  return () => {
    removeEventListener("hashchange", moved);
    listeners.delete(listener);
  };
}

/** useArea follows the address; undefined is the canvas or the gallery. */
export function useArea(): Area | undefined {
  return areaOf(useSyncExternalStore(subscribe, () => location.hash));
}

/** leaveAreas shows the canvas again that was open before, or the gallery. */
export function leaveAreas(): void {
  show(canvas);
}

/** showGallery leaves the areas for the gallery. */
export function showGallery(): void {
  show("");
}

function show(hash: string): void {
  history.replaceState(null, "", hash || location.pathname + location.search);
  for (const listener of listeners) listener();
}

/** AreaLinks lead to the areas: in the bar for the signed in, unless a canvas needs the room. */
export function AreaLinks({ always = false }: { always?: boolean }): React.ReactNode {
  const t = useText();
  const { host, session } = useApp();
  const area = useArea();
  const canvas = useStore(session.document, (document) => document !== undefined);
  const open = useStore(host.state, ({ status }) => status === "open");
  if (!always && (!open || (canvas && !area))) return null;
  return (
    <nav className="area-links" aria-label={t("host.title")}>
      {(["knowledge", "runs", "settings"] as const).map((name) => (
        <a key={name} href={areaLink(name)} aria-current={area?.name === name ? "page" : undefined}>
          {t(`area.${name}`)}
        </a>
      ))}
    </nav>
  );
}
