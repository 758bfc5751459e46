// One dataset: its documents, a test of searches, and its settings.

import { lazy, Suspense, useRef, useState } from "react";
import type { Dataset, Datasets } from "../../run/datasets.ts";
import { useAreaText } from "../area/text.ts";
import { Documents } from "./documents.tsx";
import { Meaning } from "./meaning.tsx";
import { Parses } from "./parses.tsx";
import { ReadersSection } from "./readers.tsx";
import { SearchTest } from "./search.tsx";
import { Settings } from "./settings.tsx";

const ShareDialog = lazy(() => import("../sharing/dialog.tsx"));

type Tab = "documents" | "search" | "parses" | "settings";
const editable: Tab[] = ["documents", "search", "parses", "settings"];
const readOnly: Tab[] = ["documents", "search"];

/** DatasetView shows a dataset in tabs; a folder of the host has nothing to set. */
export function DatasetView({
  api,
  dataset,
  onChange,
}: {
  api: Datasets;
  dataset: Dataset;
  onChange(dataset: Dataset): void;
}): React.ReactNode {
  const a = useAreaText();
  const tabs = dataset.read_only ? readOnly : editable;
  const [tab, setTab] = useState<Tab>("documents");
  const list = useRef<HTMLDivElement>(null);
  const move = (event: React.KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length] ?? tab;
    setTab(next);
    list.current?.querySelector<HTMLElement>(`#dataset-${next}`)?.focus();
  };
  return (
    <>
      {dataset.description && <p className="quiet">{dataset.description}</p>}
      {dataset.read_only && <p className="quiet">{a("dataset.read_only")}</p>}
      <div className="facts">
        {a("dataset.counts", dataset.documents.toLocaleString(), dataset.chunks.toLocaleString())} ·{" "}
        <Meaning api={api} dataset={dataset} onChange={onChange} />
      </div>
      <div className="tabs" role="tablist" ref={list} onKeyDown={move} aria-label={dataset.name}>
        {tabs.map((each) => (
          <button
            key={each}
            type="button"
            role="tab"
            id={`dataset-${each}`}
            aria-selected={tab === each}
            aria-controls="dataset-page"
            tabIndex={tab === each ? 0 : -1}
            onClick={() => setTab(each)}
          >
            {a(`dataset.${each}`)}
          </button>
        ))}
      </div>
      <div id="dataset-page" role="tabpanel" aria-labelledby={`dataset-${tab}`}>
        {tab === "documents" && <Documents api={api} dataset={dataset} onIdle={onChange} />}
        {tab === "search" && <SearchTest api={api} dataset={dataset} />}
        {tab === "parses" && <Parses api={api} dataset={dataset.id} />}
        {tab === "settings" && <Settings api={api} dataset={dataset} onChange={onChange} />}
        {tab === "settings" && <ShareDataset dataset={dataset} />}
        {tab === "settings" && <ReadersSection api={api} dataset={dataset} onChange={onChange} />}
      </div>
    </>
  );
}

function ShareDataset({ dataset }: { dataset: Dataset }): React.ReactNode {
  const a = useAreaText();
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="tools">
      <button type="button" onClick={() => setOpen(true)}>{a("share.of", dataset.name)}</button>
      {isOpen && (
        <Suspense>
          <ShareDialog kind="dataset" id={dataset.id} name={dataset.name} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </div>
  );
}
