// The context of all views: the session, the texts, and the selection. Each part of the state has
// its subscribers, so that a view is only drawn again for its changes.

import { createContext, useCallback, useContext, useEffect, useSyncExternalStore } from "react";
import type { Canvases } from "../run/canvases.ts";
import type { DatasetNames } from "../run/dataset-names.ts";
import type { Drafts } from "../run/drafts.ts";
import type { Host } from "../run/host.ts";
import type { ServerNames } from "../run/server-names.ts";
import { Session } from "../run/session.ts";
import { Store } from "../run/store.ts";
import type { Together } from "../run/together.ts";
import { speakCodes } from "../words/codes.ts";
import { loadSpecWords, specWords, translated } from "../words/specs.ts";
import { learn, preferred, translator, type Language } from "../words/words.ts";

/** Tab is a page of the side panel. */
export type Tab = "chat" | "timeline" | "node" | "variables" | "problems" | "tests";

/** NodePart is a part of the page of a node. */
export type NodePart = "in" | "settings" | "out";

/** Look is the settings of the page for this person. */
export interface Look {
  language: Language;
  dark: boolean;
  tab: Tab;
  panel: boolean;
  /** Part of a node that is shown where not all fit. */
  part?: NodePart;
  /** Node whose most important field gets the keyboard next. */
  enter?: string | undefined;
  /** Width of the panel in px, or its height in percent where it is a sheet. */
  width?: number | undefined;
  sheet?: number | undefined;
  /** The effect of a wheel or two fingers on the canvas. */
  wheel: "pan" | "zoom";
  selected?: string;
  /** The open dialog: the choice of the model, the plugins of the page, and others. */
  dialog?: "model" | "plugins" | "person" | "canvas" | "draft" | undefined;
  /** The page of the publishing view that is open. */
  publish?: "release" | "webhook" | "schedules" | undefined;
  /** What was asked for when the dialog of drafts was opened. */
  wish?: string | undefined;
  /** Turn that becomes a test when the page of tests is shown. */
  saving?: number | undefined;
  /** Execution of the selected node that is inspected; undefined is the latest. */
  step?: number;
  /** Node to bring into view, with a count so that asking twice works. */
  reveal?: { node: string; count: number };
}

/** App is the content of the context. */
export interface App {
  session: Session;
  host: Host;
  look: Store<Look>;
  /** Drafts of canvases; absent if none are kept. */
  drafts?: Drafts;
  /** Canvases that others run, if the page has any. */
  canvases?: Canvases;
  together: Together;
  datasetNames: DatasetNames;
  serverNames: ServerNames;
}

/** AppContext carries the app. */
export const AppContext = createContext<App | undefined>(undefined);

const remembered = "easel.look";

/** newLook reads the person's last choice. */
export function newLook(): Store<Look> {
  let saved: Partial<Look> = {};
  try {
    saved = JSON.parse(localStorage.getItem(remembered) ?? "{}") as Partial<Look>;
  } catch { /* then the defaults do */ }
  const look = new Store<Look>({
    language: saved.language === "zh" || saved.language === "en" ? saved.language : preferred(),
    dark: typeof saved.dark === "boolean" ? saved.dark : matchMedia("(prefers-color-scheme: dark)").matches,
    tab: "chat", panel: true, width: saved.width, sheet: saved.sheet, wheel: saved.wheel === "zoom" ? "zoom" : "pan",
  });
  const apply = (): void => {
    const { language, dark, wheel, width, sheet } = look.get();
    document.documentElement.lang = language;
    speakCodes(language).catch(() => undefined); // then the messages stand alone
    document.documentElement.dataset["theme"] = dark ? "dark" : "light";
    try {
      localStorage.setItem(remembered, JSON.stringify({ language, dark, wheel, width, sheet }));
    } catch { /* a page may be forbidden to remember */ }
  };
  look.subscribe(apply);
  apply();
  return look;
}

/** useApp returns the app. */
export function useApp(): App {
  const app = useContext(AppContext);
  if (!app) throw new Error("no app around this view");
  return app;
}

/** useStore follows a part of a store; `select` must give the same object for the same state. */
export function useStore<T, S>(store: Store<T>, select: (value: T) => S): S {
  const read = (): S => select(store.get());
  return useSyncExternalStore(store.subscribe, read, read);
}

/**
 * useBusy reports whether no run may begin: one is active, or the canvas is not allowed to run.
 */
export function useBusy(): boolean {
  const { session } = useApp();
  const running = useStore(session.player.play, (play) => play.running);
  const allowed = useStore(session.allowed, (may) => may);
  return running || !allowed;
}

/** useLook follows a part of the look. */
export function useLook<S>(select: (look: Look) => S): S {
  return useStore(useApp().look, select);
}

/** speak shows the page in a language, once its texts are there. */
export async function speak(look: Store<Look>, language: Language): Promise<void> {
  await learn(language);
  look.update({ language });
}

/** useText returns the texts in the person's language. */
export function useText(): ReturnType<typeof translator> {
  return translator(useLook((look) => look.language));
}

/** useSpecText returns the descriptions of components in the person's language. */
export function useSpecText(): (english: string) => string {
  const words = useStore(specWords, (all) => all);
  const language = useLook((look) => look.language);
  useEffect(() => { if (language === "zh") void loadSpecWords(); }, [language]);
  return useCallback((english) => (language === "zh" ? translated(words, english) : english), [words, language]);
}

/** useSelect returns a function that selects a node and shows it in the panel. */
export function useSelect(): (node: string | undefined, options?: { tab?: Tab; reveal?: boolean; step?: number }) => void {
  const { look } = useApp();
  return useCallback((node, options = {}) => {
    const { reveal, tab } = look.get();
    look.update({
      selected: node, step: options.step, ...(options.step === undefined ? {} : { part: "out" as const }),
      tab: options.tab ?? tab, panel: options.tab ? true : look.get().panel,
      reveal: options.reveal && node ? { node, count: (reveal?.count ?? 0) + 1 } : reveal,
    });
  }, [look]);
}
