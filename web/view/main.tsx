import { createRoot } from "react-dom/client";
import { createEngine, type ComponentSpec } from "@easel/engine";
import { python, scripts } from "@easel/engine/code/python";
import { sandbox } from "@easel/engine/code/runner";
import { datasets, request, retrieve } from "../demo/world.ts";
import { reader } from "../read/reader.ts";
import { Canvases } from "../run/canvases.ts";
import { Consents, tabStorage } from "../run/consent.ts";
import { DatasetNames } from "../run/dataset-names.ts";
import { Datasets } from "../run/datasets.ts";
import { preferHost } from "../run/default-model.ts";
import { Drafts } from "../run/drafts.ts";
import { Host } from "../run/host.ts";
import { everywhere } from "../run/retrieve.ts";
import { ServerNames } from "../run/server-names.ts";
import { Session, type Document } from "../run/session.ts";
import type { Local } from "../run/substitutes.ts";
import { staySignedIn } from "../run/signed.ts";
import { Together } from "../run/together.ts";
import { learn } from "../words/words.ts";
import { App } from "./app.tsx";
import { AppContext, newLook } from "./context.tsx";
import "@xyflow/react/dist/base.css";
import "../style/canvas.css";
import "../style/page.css";
import "../style/edit.css";
import "../style/form.css";
import "../style/connect.css";
import "../style/area.css";
import "../style/home.css";
import "../style/settings.css";
import "../style/publish.css";
import "../style/tests.css";

// The bundler fills in where it put the parts that are loaded later.
declare const EASEL_ENGINE_WORKER: string;
declare const EASEL_CODE_WORKER: string;
declare const EASEL_PYTHON: string;
declare const EASEL_PYTHON_WORKER: string;
declare const EASEL_PLUGIN_WORKER: string;
declare const EASEL_READ_WORKER: string;
declare const EASEL_WASM: string;
declare const EASEL_RUNTIME: string;
declare const EASEL_TOOLS: string;
declare const EASEL_COMPONENTS: string;

const at = (file: string): URL => new URL(file, document.baseURI);
const engine = createEngine({ wasm: at(EASEL_WASM), runtime: at(EASEL_RUNTIME), worker: at(EASEL_ENGINE_WORKER), pluginWorker: at(EASEL_PLUGIN_WORKER) });
const host = new Host();
const code = scripts({
  javascript: sandbox({ worker: at(EASEL_CODE_WORKER) }),
  python: python({ worker: at(EASEL_PYTHON_WORKER), files: at(EASEL_PYTHON) }),
});
const onHost = new Datasets(host);
const search = everywhere(retrieve, datasets, host, onHost, () => session.own);
const tools = once(async () => new (await import("../run/tools.ts")).Tools(engine, { index: EASEL_TOOLS, at }));
const tool: Local = async (...call) => (await tools()).call(...call);
const drafts: Drafts = new Drafts(
  {
    database: allowed(() => indexedDB),
    storage: allowed(() => localStorage),
    channel: allowed(() => new BroadcastChannel("easel.drafts")),
    estimate: allowed(() => navigator.storage)?.estimate.bind(navigator.storage),
  },
  {
    edited,
    join: (copy, synced) => session.sharing.join(copy, synced),
    moved: ({ id }) => {
      session.origin.set({ id, rev: 0 }); // its revision follows from the host
      history.replaceState(null, "", "#canvas=" + encodeURIComponent(id));
    },
  },
);
const canvases = new Canvases({ drafts, host, own: () => session.own });
const world = {
  retrieve: search, datasets, read: reader(at(EASEL_READ_WORKER)), fetch: request, code, tool, canvases: canvases.port,
};
// The module describes the same components, but needs longer to start than this file to load.
const described = fetch(at(EASEL_COMPONENTS)).then((answer) => {
  if (!answer.ok) throw new Error(`the descriptions of components: status ${answer.status}`);
  return answer.json() as Promise<ComponentSpec[]>;
});
const session: Session = new Session(engine, world, host, new Consents(tabStorage()), described);

const together = new Together(host, session);
preferHost(session.player.provider, host.state);
staySignedIn(host, allowed(() => localStorage), {
  hash: () => location.hash,
  moved: (listener) => {
    addEventListener("hashchange", listener);
    session.document.subscribe(listener); // Home changes the address without an event
  },
});

session.document.subscribe(() => drafts.changed(edited()));
session.sharing.rival.subscribe(() => {
  if (session.sharing.rival.get() === undefined) drafts.rejoin();
});

// edited returns the current canvas. One that was saved since it was opened is now another revision
// of the host.
function edited(): Document | undefined {
  const [document_, origin] = [session.document.get(), session.origin.get()];
  return document_ && origin ? { ...document_, source: { kind: "host", origin } } : document_;
}

// once makes a value when it is first needed; one that fails is made again.
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make().catch((err: unknown) => {
    made = undefined;
    throw err;
  }));
}

// allowed returns a storage of the browser, or undefined if the page may not use it.
function allowed<T>(get: () => T): T | undefined {
  try {
    return get();
  } catch {
    return undefined;
  }
}

// Keys that compose a letter choose nothing in open lists; Safari names only their code.
addEventListener("keydown", (event) => {
  if (event.isComposing || event.keyCode === 229) event.stopPropagation();
}, true);

const root = document.getElementById("root");
const datasetNames = new DatasetNames(onHost, host, session.allowed.get);
const serverNames = new ServerNames(host);
const context = { session, host, look: newLook(), drafts, canvases, together, datasetNames, serverNames };
// A page without the texts of its language is better in English than not drawn.
void learn(context.look.get().language).catch(() => undefined).then(() => {
  if (root) createRoot(root).render(<AppContext value={context}><App /></AppContext>);
});
