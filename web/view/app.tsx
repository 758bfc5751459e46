// The page as a whole: gallery or canvas, opening by file, drop and link, dialogs.

import { lazy, Suspense, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { CanvasError } from "../canvas/dsl.ts";
import { blank } from "../canvas/edit/blank.ts";
import type { Choices } from "../canvas/edit/resources.ts";
import { PatchError, same } from "../canvas/patch.ts";
import { draftKey, type Kept } from "../run/drafts.ts";
import { HostError, type Origin } from "../run/host.ts";
import type { Source } from "../run/session.ts";
import { codeWords } from "../words/codes.ts";
import { pick } from "../words/words.ts";
import { AreaView } from "./area-view.tsx";
import { showGallery, useArea } from "./areas.tsx";
import { Bar } from "./bar.tsx";
import { Board } from "./board.tsx";
import { useApp, useLook, useStore, useText } from "./context.tsx";
import { takers, useFiles } from "./drop.ts";
import { chooseFile } from "./home/choose.ts";
import { EditedContext, newEdited } from "./edit/state.ts";
import { Guard } from "./guard.tsx";
import type { Example, Template } from "./example.ts";
import { useOpening } from "./opening.ts";
import { Others } from "./others.tsx";
import { Panel } from "./panel.tsx";
import { PluginDialog } from "./plugins.tsx";
import { Replace } from "./replace.tsx";
import { Space } from "./space.tsx";
import { faultOf, reasonOf, unreadable, type Told } from "./reason.tsx";

const CanvasSettings = lazy(() => import("./canvas-settings.tsx"));
const DraftDialog = lazy(() => import("./draft.tsx"));
const Home = lazy(() => import("./home/home.tsx"));
const ImportDialog = lazy(() => import("./home/import.tsx"));
const KeepDialog = lazy(() => import("./keep.tsx"));
const ModelDialog = lazy(() => import("./model.tsx"));
const Person = lazy(() => import("./home/person.tsx"));
const Publish = lazy(() => import("./publish/publish.tsx"));
const Choice = lazy(() => import("./publish/choice.tsx"));

/** App returns the page. */
export function App(): React.ReactNode {
  const t = useText();
  const { session, host, look, drafts, canvases, together } = useApp();
  const document_ = useStore(session.document, (document) => document);
  const trouble = useStore(session.trouble, (text) => text);
  const { language, panel, dialog: choosing } = useLook((all) => all);
  const pluginFault = useStore(session.plugins.fault, (told) => told);
  const [fault, setFault] = useState<Told>();
  const [notKept, setNotKept] = useState<Told>();
  const [waiting, setWaiting] = useState<string>(); // canvas of the address, until somebody signs in
  const [restored, setRestored] = useState<number>(); // document with changes of an earlier visit
  const [keeping, setKeeping] = useState(false);
  const dialog = useRef<HTMLDialogElement>(null);
  const area = useArea();
  // Without the descriptions of components, cards have no settings and branches, and would grow.
  const drawable = useStore(session.specs, ({ size }) => size > 0) || trouble !== undefined;
  const taker = useStore(takers, (view) => view);
  const publishing = useLook((all) => all.publish);
  const [deciding, setDeciding] = useState(false);
  const [next, setNext] = useState<{ open(): void; keep(): void }>();
  const [incoming, setIncoming] = useState<File>();
  const [templates, setTemplates] = useState(0);

  const fail = useCallback((told: Told) => setFault(() => told), []);

  // opens returns a function that reports whether nothing else was opened since: of two canvases
  // that are loading, the one chosen last is shown.
  const opened = useRef(0);
  const opens = useCallback(() => {
    const number = ++opened.current;
    return () => number === opened.current;
  }, []);

  // show opens a canvas, or its draft if there is one. `found` marks a draft that the person did
  // not choose: a banner then reports the restored changes.
  const show = useCallback((text: string, name: string, source: Source, kept?: Kept, found = false) => {
    try {
      // A draft applies to the text it was made from; later revisions of the host are merged below.
      if (kept) session.open(kept.text, pick(kept.title, look.get().language) || name, kept.source, kept.acts);
      else session.open(text, name, source);
      look.update({ selected: undefined, step: undefined, tab: "chat", ...(session.allowed.get() ? {} : { panel: true }) });
      setFault(undefined);
    } catch (err) {
      // A damaged draft neither prevents the canvas from opening nor is overwritten by edits of it.
      if (kept && err instanceof PatchError) {
        const key = `${kept.key}~${crypto.randomUUID()}`;
        return show(text, name, source, { ...kept, key, version: 0, source, text, acts: [] });
      }
      fail((words) => (err instanceof CanvasError ? unreadable(words, err) : reasonOf(err)));
      return;
    }
    setRestored(undefined);
    const key = kept?.key ?? draftKey(text, source);
    const document = session.document.get();
    if (!document || !drafts) return;
    if (source.kind === "file" && !kept) history.replaceState(null, "", "#draft=" + encodeURIComponent(key));
    drafts.begin(key, document, source.kind === "file" || source.kind === "new", kept?.version);
    if (kept) {
      if (source.kind === "host") session.sharing.receive(text, source.origin);
      const now = session.document.get(); // the host may have all of it
      const isElsewhere = found || source.kind === "host"; // else the draft is all there is
      setRestored(now && isElsewhere && !same(now.dsl, now.base.dsl) ? now.number : undefined);
      return;
    }
    void drafts.find(key, { text, title: document.opened.title, source }).then((draft) => {
      const now = session.document.get();
      const untouched = now?.number === document.number && !now.history.canUndo;
      if (!draft || draft.acts.length === 0 || !untouched) return;
      const { selected, tab, panel } = look.get(); // the person may have been quicker than the database
      show(text, name, source, draft, true);
      look.update({ selected, tab, panel });
    });
  }, [session, look, drafts, fail]);

  const openText = useCallback((text: string, name: string, source: Source, kept?: Kept) => {
    opens();
    show(text, name, source, kept);
  }, [opens, show]);

  const openDraft = useCallback(async (key: string) => {
    const latest = opens();
    const draft = await drafts?.find(key);
    if (!latest()) return;
    if (!draft) return fail((words) => words("error.link", words("drafts.gone")));
    history.replaceState(null, "", "#draft=" + encodeURIComponent(key));
    openText(draft.text, "", draft.source, draft);
  }, [drafts, opens, openText, fail]);

  const replace = useCallback((open: () => void, keep: () => void = () => undefined) => {
    if (session.unsaved) setNext((before) => ({ open, keep: before?.keep ?? keep })); // where the first link came from
    else open();
  }, [session]);

  const openImport = useCallback((text: string, name: string, choices?: Choices, tidy?: boolean) => {
    showGallery();
    openText(text, name, { kind: "file" });
    if (choices) session.editing.settle(choices); if (tidy) void session.editing.tidy();
  }, [openText, session]);

  const addPlugin = useCallback((file: File): boolean => {
    if (!/\.wasm$/i.test(file.name)) return false;
    look.update({ dialog: "plugins" });
    void session.plugins.add(file);
    return true;
  }, [session, look]);

  const importText = useCallback((text: string, { name }: File, choices?: Choices, tidy?: boolean) => {
    canvases?.add({ name, text, source: { kind: "file" } });
    replace(() => openImport(text, name.replace(/\.(json|ya?ml)$/i, ""), choices, tidy));
  }, [canvases, openImport, replace]);

  const openFile = useCallback(async (file: File) => {
    if (addPlugin(file)) return;
    if (file.size > 40_000_000) return fail((words) => words("error.too_large", Math.round(file.size / 1e6)));
    const read = session.complete(await file.text());
    await read.then((text) => importText(text, file), (err: unknown) => fail(() => reasonOf(err)));
  }, [addPlugin, session, importText, fail]);

  // Of several files the first is opened; it may run the others as nodes.
  const keepFile = useCallback(async (file: File) => {
    if (!/\.json$/i.test(file.name) || file.size > 40_000_000) return;
    canvases?.add({ name: file.name, text: await session.complete(await file.text()), source: { kind: "file" } });
  }, [session, canvases]);

  const openExample = useCallback((example: Example) => {
    history.replaceState(null, "", "#example=" + example.id);
    openText(JSON.stringify(example), example.id, { kind: "example" });
  }, [openText]);

  const openCopy = useCallback((text: string) => {
    const key = `new:${crypto.randomUUID()}`;
    history.replaceState(null, "", "#draft=" + encodeURIComponent(key));
    const source = { kind: "new", copy: true } as const;
    openText(text, "", source, { key, text, title: "", source, acts: [], updated: 0 });
  }, [openText]);

  const openNew = useCallback(() => openCopy(blank(session.specs.get(), t("gallery.untitled"))), [session, openCopy, t]);

  const openTemplate = useTemplates(opens, openCopy, fail);

  const openCanvas = useCallback(async (id: string) => {
    const latest = opens();
    try {
      const { text, title, origin } = await host.canvas(id);
      if (!latest()) return;
      history.replaceState(null, "", "#canvas=" + encodeURIComponent(id));
      openText(text, title, { kind: "host", origin });
    } catch (err) {
      if (!latest()) return;
      fail((words) => words("error.host", reasonOf(err)));
      if (!(err instanceof HostError) || err.status !== 401) return;
      await host.connect();
      if (host.state.get().status === "closed") setWaiting(id);
    }
  }, [host, opens, openText, fail]);

  const signedIn = useStore(host.state, ({ status }) => status === "open");
  useEffect(() => {
    if (!signedIn || waiting === undefined) return;
    setWaiting(undefined);
    if (location.hash === "#canvas=" + encodeURIComponent(waiting)) void openCanvas(waiting);
  }, [signedIn, waiting, openCanvas]);

  const keep = useCallback(async (): Promise<boolean> => {
    try {
      const saved = await together.save();
      setNotKept(undefined);
      if (saved === "choice") setDeciding(true);
      return saved === "saved";
    } catch (err) {
      setNotKept(() => () => reasonOf(err));
      return false;
    }
  }, [together]);

  useOpening({ opens, openText, openTemplate, openCanvas, openDraft, replace, fail });

  useEffect(() => {
    const leaving = (event: BeforeUnloadEvent): void => {
      if (session.unsaved && drafts?.working.get() !== true) event.preventDefault(); // else the draft has it
    };
    addEventListener("beforeunload", leaving);
    return () => removeEventListener("beforeunload", leaving);
  }, [session, drafts]);

  const over = useFiles(useCallback(([file, ...more]: readonly File[]) => {
    for (const each of more) void keepFile(each);
    if (file && !addPlugin(file)) setIncoming(file);
  }, [addPlugin, keepFile]));

  useEffect(() => {
    if (choosing && !dialog.current?.open) dialog.current?.showModal();
  }, [choosing]);

  const title = document_ ? pick(document_.opened.title, language) : "";
  useEffect(() => { document.title = title ? `${title} · easel` : "easel"; }, [title]);
  const goToGallery = (): void => { opens(); session.close(); showGallery(); };
  const isKept = (): boolean => drafts?.working.get() === true;

  const created = (origin: Origin): void => {
    setKeeping(false);
    setNotKept(undefined);
    history.replaceState(null, "", "#canvas=" + encodeURIComponent(origin.id));
    void drafts?.moved(origin);
  };
  const chooseImport = (): void => chooseFile(".json,.yaml,.yml,application/json", setIncoming);
  const edited = useMemo(newEdited, [document_?.number]);
  return (
    <EditedContext value={edited}>
      <Bar
        onGallery={() => (isKept() ? goToGallery() : replace(goToGallery))}
        onFile={(file) => void openFile(file)} onModel={() => look.update({ dialog: "model" })}
        onKeep={keep} onNew={() => setKeeping(true)} onPublish={() => look.update({ publish: "release" })}
      />
      {trouble && <p className="fault banner" role="alert">{t("app.engine_failed", trouble)}</p>}
      <Fault title={t("error.title")} text={fault} onClose={() => setFault(undefined)} />
      <Fault title={t("error.not_kept")} text={notKept} onClose={() => setNotKept(undefined)}>
        <button type="button" onClick={() => setKeeping(true)}>{t("save.as_copy")}</button>
      </Fault>
      {document_ && <Others onChoose={() => setDeciding(true)} />}
      <Fault title={t("plugins.title")} text={choosing || !pluginFault ? undefined : () => faultOf(pluginFault)} onClose={() => session.plugins.fault.set(undefined)} />
      <Space
        restored={restored !== undefined && restored === document_?.number && !area}
        onRead={() => setRestored(undefined)}
      />
      <main data-panel={document_ && panel && !area ? true : undefined}>
        <Guard mark={area?.name ?? document_?.opened}>
          {area ? <AreaView area={area} onCanvas={openCanvas} />
            : !document_ ? (
              <Suspense fallback={null}>
                <Home
                  acts={{
                    onNew: openNew, onDraft: (key) => void openDraft(key), onHost: (id) => void openCanvas(id),
                    onExample: openExample, onImport: chooseImport,
                    onTemplate: (template) => void openTemplate(template),
                  }}
                  templates={templates}
                />
              </Suspense>
            )
            : document_.model.unplaced || !drawable ? <p className="busy quiet" role="status"><span className="spinner" /> {t("canvas.arranging")}</p>
            : <Board key={document_.number} model={document_.model} title={title} />}
        </Guard>
        {document_ && panel && !area && <Panel key={document_.number} />}
      </main>
      {next && <Replace title={title} onOpen={() => { setNext(undefined); next.open(); }} onKeep={() => { setNext(undefined); next.keep(); }} />}
      {incoming && (
        <Suspense fallback={null}>
          <ImportDialog
            key={`${incoming.name} ${incoming.lastModified} ${incoming.size}`} file={incoming}
            onOther={chooseImport} onClose={() => setIncoming(undefined)}
            onImport={(text, ...how) => { setIncoming(undefined); importText(text, incoming, ...how); }}
            onTemplates={() => {
              setIncoming(undefined);
              replace(() => { goToGallery(); setTemplates((count) => count + 1); });
            }}
          />
        </Suspense>
      )}
      {publishing && document_ && !keeping && (
        <Suspense fallback={null}>
          <Publish key={document_.number} onKeep={keep} onNew={() => setKeeping(true)} />
        </Suspense>
      )}
      {deciding && document_ && (
        <Suspense fallback={null}>
          <Choice onCopy={() => setKeeping(true)} onClose={() => setDeciding(false)} />
        </Suspense>
      )}
      {keeping && document_ && <Suspense><KeepDialog title={title || t("gallery.untitled")} onDone={created} onClose={() => setKeeping(false)} /></Suspense>}
      {over && <div className="drop" aria-hidden="true">{taker?.label ?? t("gallery.drop")}</div>}
      <dialog ref={dialog} aria-labelledby="dialog-title" onClose={() => look.update({ dialog: undefined })}>
        <Suspense fallback={null}><Chosen dialog={choosing} onDone={() => dialog.current?.close()} /></Suspense>
      </dialog>
    </EditedContext>
  );
}

// useTemplates opens copies of templates, written in the language of the page.
function useTemplates(
  opens: () => () => boolean, openCopy: (text: string) => void, fail: (text: Told) => void,
): (template: Template) => Promise<void> {
  const language = useLook((look) => look.language);
  return useCallback(async (template) => {
    const latest = opens();
    try {
      const { written } = await import("./home/written.ts");
      if (latest()) openCopy(written(template, language));
    } catch (err) {
      if (latest()) fail(() => reasonOf(err));
    }
  }, [opens, openCopy, fail, language]);
}

const dialogs = {
  model: ModelDialog, plugins: PluginDialog, person: Person, canvas: CanvasSettings, draft: DraftDialog,
};

function Chosen({ dialog, onDone }: { dialog: keyof typeof dialogs | undefined; onDone(): void }): React.ReactNode {
  const Content = dialog && dialogs[dialog];
  return Content && <Content onDone={onDone} />;
}

// Fault shows a message in the language of the page, also after a change of it.
function Fault({ title, text, onClose, children }: {
  title: string; text: Told | undefined; onClose(): void; children?: React.ReactNode;
}): React.ReactNode {
  const t = useText();
  useStore(codeWords, (words) => words);
  if (text === undefined) return null;
  return (
    <div className="fault banner" role="alert">
      <b>{title}</b> {text(t)} {children} <button type="button" onClick={onClose}>{t("error.close")}</button>
    </div>
  );
}
