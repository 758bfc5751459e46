import { createRoot } from "react-dom/client";
import { createEngine } from "@easel/engine";
import { python, scripts } from "@easel/engine/code/python";
import { sandbox } from "@easel/engine/code/runner";
import { datasets, request, retrieve } from "../demo/world.ts";
import { reader } from "../read/reader.ts";
import { Consents, tabStorage } from "../run/consent.ts";
import { Datasets } from "../run/datasets.ts";
import { Drafts } from "../run/drafts.ts";
import { Host } from "../run/host.ts";
import { everywhere } from "../run/retrieve.ts";
import { Session } from "../run/session.ts";
import { App } from "./app.tsx";
import { AppContext, newLook } from "./context.tsx";
import "@xyflow/react/dist/base.css";
import "../style/page.css";
import "../style/edit.css";
import "../style/form.css";
import "../style/area.css";
import "../style/home.css";
import "../style/settings.css";
import "../style/publish.css";

// The bundler fills in where it put the parts that are loaded later.
declare const EASEL_ENGINE_WORKER: string;
declare const EASEL_CODE_WORKER: string;
declare const EASEL_PYTHON: string;
declare const EASEL_PYTHON_WORKER: string;
declare const EASEL_PLUGIN_WORKER: string;
declare const EASEL_READ_WORKER: string;
declare const EASEL_WASM: string;
declare const EASEL_RUNTIME: string;

const at = (file: string): URL => new URL(file, document.baseURI);
const engine = createEngine({ wasm: at(EASEL_WASM), runtime: at(EASEL_RUNTIME), worker: at(EASEL_ENGINE_WORKER), pluginWorker: at(EASEL_PLUGIN_WORKER) });
const host = new Host();
const code = scripts({
  javascript: sandbox({ worker: at(EASEL_CODE_WORKER) }),
  python: python({ worker: at(EASEL_PYTHON_WORKER), files: at(EASEL_PYTHON) }),
});
const search = everywhere(retrieve, datasets, host, new Datasets(host), () => session.own);
const world = { retrieve: search, datasets, read: reader(at(EASEL_READ_WORKER)), fetch: request, code };
const session: Session = new Session(engine, world, host, new Consents(tabStorage()));

const drafts = new Drafts(storage());
session.document.subscribe(() => {
  const document_ = session.document.get();
  const origin = session.origin.get();
  // A canvas that was saved since it was opened is now another revision of the host.
  if (document_ && origin) drafts.changed({ ...document_, source: { kind: "host", origin } });
  else drafts.changed(document_);
});

// storage is the browser's database; a page may be forbidden to have one.
function storage(): IDBFactory | undefined {
  try {
    return indexedDB;
  } catch {
    return undefined;
  }
}

const root = document.getElementById("root");
if (root) createRoot(root).render(<AppContext value={{ session, host, look: newLook(), drafts }}><App /></AppContext>);
