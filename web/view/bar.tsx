// The bar at the top: what is open, and what can be done with it.

import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { pack } from "../canvas/link.ts";
import { shown } from "../words/shown.ts";
import { pick } from "../words/words.ts";
import { AreaLinks, useArea } from "./areas.tsx";
import { speak, useApp, useLook, useStore, useText } from "./context.tsx";
import { copyText } from "./copy.ts";
import { Icon, type IconName } from "./icons.tsx";
import { Me } from "./me.tsx";
import { useModelName } from "./no-model.tsx";
import { People } from "./others.tsx";
import { save } from "./save.ts";
import { saver } from "./saver.ts";

// Below this width a menu holds what is needed seldom.
const narrow = matchMedia("(max-width: 720px)");

function useNarrow(): boolean {
  return useSyncExternalStore(
    (listener) => {
      narrow.addEventListener("change", listener);
      return () => narrow.removeEventListener("change", listener);
    },
    () => narrow.matches,
  );
}

/** Bar returns the page's header. */
export function Bar({ onGallery, onFile, onModel, onKeep, onNew, onPublish }: {
  onGallery(): void; onFile(file: File): void; onModel(): void; onKeep(): Promise<boolean>; onNew(): void;
  onPublish(): void;
}): React.ReactNode {
  const t = useText();
  const { session, look } = useApp();
  const { language, dark } = useLook((all) => all);
  const document_ = useStore(session.document, (document) => document);
  const model = useModelName();
  const picker = useRef<HTMLInputElement>(null);
  const [linked, setLinked] = useState<"bar.link" | "bar.linked" | "bar.link_shown">("bar.link");
  const menu = useNarrow();
  const area = useArea();
  const editing = menu && area ? undefined : document_; // a narrow bar has no room for both it and the area links
  const title = document_ ? pick(document_.opened.title, language) || "canvas" : "";
  const taken = async (): Promise<string> => {
    const now = session.document.get();
    const text = await session.text();
    if (now) session.saved(now);
    return text;
  };
  const exportFile = async (): Promise<void> => {
    await taken();
    save(session.file(), `${title.replace(/[^\p{L}\p{N}]+/gu, "-").toLowerCase() || "canvas"}.json`);
  };
  const copyLink = async (): Promise<void> => {
    history.replaceState(null, "", `#${await pack(await taken())}&name=${encodeURIComponent(title)}`);
    setLinked((await copyText(location.href)) ? "bar.linked" : "bar.link_shown");
    setTimeout(() => setLinked("bar.link"), 2000);
  };
  const files = document_ && ( // home has its own way to import a file
    <>
      <Action icon="open" label={t("bar.open")} onClick={() => picker.current?.click()} />
      <Action icon="grid" label={t("bar.gallery")} onClick={onGallery} />
    </>
  );
  const copies = document_ && (
    <>
      <Action icon="save" label={t("bar.export")} onClick={() => void exportFile()} />
      <Action icon="link" label={t(linked)} onClick={() => void copyLink()} stay />
    </>
  );
  const settings = (
    <>
      {(menu || !document_) && (
        <Action icon="box" label={t("plugins.title")} onClick={() => look.update({ dialog: "plugins" })} />
      )}
      <Action icon="spark" label={`${t("bar.model")}: ${model}`} onClick={onModel} named />
      <button
        type="button"
        className="plain"
        lang={language === "en" ? "zh" : "en"}
        onClick={() => void speak(look, language === "en" ? "zh" : "en").catch(reportError)}
      >
        {t("bar.language")}
      </button>
      <Action
        icon={dark ? "sun" : "moon"} label={t("bar.theme")} short={!menu}
        onClick={() => look.update({ dark: !dark })}
      />
      <Me />
    </>
  );
  return (
    <header className="bar">
      <a
        className="skip"
        href="#panel"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById("page")?.focus();
        }}
      >
        {t("app.skip")}
      </a>
      <button type="button" className="brand" onClick={onGallery} aria-label={`easel, ${t("bar.gallery")}`}>
        <svg viewBox="0 0 24 24" aria-hidden="true">
          <path d="M5 4h14v10H5zM8 14l-3 7M16 14l3 7M12 14v5M12 4V2" />
        </svg>
        <span>easel</span>
      </button>
      {document_ ? <h1 className="title">{shown(title)}</h1> : <p className="title quiet">{t("app.tagline")}</p>}
      <AreaLinks />
      <span className="grow" />
      {document_ && <People />}
      <input
        ref={picker}
        type="file"
        accept=".json,application/json"
        hidden
        onChange={(event) => {
          const [file] = event.target.files ?? [];
          if (file) onFile(file);
          event.target.value = "";
        }}
      />
      {!menu && files}
      {editing && (
        <>
          <Action
            icon="undo"
            label={t("bar.undo")}
            disabled={!editing.history.canUndo}
            onClick={() => session.undo()}
            short
          />
          <Action
            icon="redo"
            label={t("bar.redo")}
            disabled={!editing.history.canRedo}
            onClick={() => session.redo()}
            short
          />
          <Save onKeep={onKeep} onNew={onNew} />
        </>
      )}
      {menu ? <Menu>{files}{copies}{settings}</Menu> : <>{copies}{settings}</>}
      {editing && (
        <button type="button" className="primary" onClick={onPublish}>
          {t("bar.publish")}
        </button>
      )}
      {editing && <PanelAction />}
    </header>
  );
}

function Save({ onKeep, onNew }: { onKeep(): Promise<boolean>; onNew(): void }): React.ReactNode {
  const t = useText();
  const { session } = useApp();
  const [kept, setKept] = useState(false);
  const latest = useRef({ onKeep, onNew });
  latest.current = { onKeep, onNew };
  useEffect(() => {
    saver.set(async () => {
      if (!session.origin.get()) {
        latest.current.onNew();
        return false;
      }
      if (!(await latest.current.onKeep())) return false;
      setKept(true);
      setTimeout(() => setKept(false), 2000);
      return true;
    });
    return () => saver.set(undefined);
  }, [session]);
  return <Action icon="keep" label={kept ? t("bar.kept") : t("bar.keep")} onClick={() => void saver.get()?.()} />;
}

// Menu shows the actions that do not fit; one that opens something else closes it.
function Menu({ children }: { children: React.ReactNode }): React.ReactNode {
  const t = useText();
  const list = useRef<HTMLDivElement>(null);
  return (
    <>
      <button
        type="button"
        className="icon-button"
        popoverTarget="bar-menu"
        aria-label={t("bar.more")}
        title={t("bar.more")}
      >
        <Icon name="more" />
      </button>
      <div
        ref={list}
        id="bar-menu"
        popover="auto"
        role="group"
        aria-label={t("bar.more")}
        onClick={({ target }) => {
          if (!(target as Element).closest("[data-stay]")) list.current?.hidePopover();
        }}
      >
        {children}
      </div>
    </>
  );
}

function PanelAction(): React.ReactNode {
  const t = useText();
  const { look } = useApp();
  const panel = useLook((all) => all.panel);
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={t("bar.panel")}
      title={t("bar.panel")}
      aria-pressed={panel}
      onClick={() => look.update({ panel: !panel })}
    >
      <Icon name="panel" />
    </button>
  );
}

function Action({
  icon,
  label,
  onClick,
  disabled,
  short,
  stay,
  named,
}: {
  icon: IconName;
  label: string;
  onClick(): void;
  disabled?: boolean;
  short?: boolean;
  /** The label changes: the menu around it stays open. */
  stay?: boolean;
  /** The label is shown where those of others are not: it changes. */
  named?: boolean;
}): React.ReactNode {
  return (
    <button
      type="button"
      className={short ? "icon-button" : "action"}
      title={label}
      aria-label={label}
      disabled={disabled}
      data-stay={stay}
      data-named={named}
      onClick={onClick}
    >
      <Icon name={icon} />
      {!short && <span className="action-label">{label}</span>}
    </button>
  );
}
