// Knowledge: the datasets of the host, a dataset, or a document of it.

import { useMemo } from "react";
import { Datasets } from "../../run/datasets.ts";
import { Fault, useLoaded } from "../area/parts.tsx";
import { Frame, type Crumb } from "../area/frame.tsx";
import { useAreaText } from "../area/text.ts";
import { areaLink } from "../areas.tsx";
import { useApp, useText } from "../context.tsx";
import { Chunks } from "./chunks.tsx";
import { DatasetView } from "./dataset.tsx";
import { DatasetList } from "./list.tsx";

/** Knowledge shows what the address names. */
export default function Knowledge({ path: [dataset, document, chunk] }: { path: string[] }): React.ReactNode {
  const t = useText();
  const { host } = useApp();
  const api = useMemo(() => new Datasets(host), [host]);
  if (dataset === undefined)
    return (
      <Frame crumbs={[{ label: t("area.knowledge") }]}>
        <DatasetList api={api} />
      </Frame>
    );
  return <Named key={dataset} api={api} id={dataset} document={document} chunk={chunk} />;
}

function Named({ api, id, document, chunk }: {
  api: Datasets;
  id: string;
  document: string | undefined;
  chunk: string | undefined;
}): React.ReactNode {
  const t = useText();
  const a = useAreaText();
  const { host } = useApp();
  const dataset = useLoaded(id, async () => {
    if (host.state.get().status !== "open") await host.connect();
    return api.get(id);
  });
  const root: Crumb = { label: t("area.knowledge"), href: areaLink("knowledge") };
  const name = dataset.value?.name ?? a("dataset.one");
  if (!dataset.value) {
    return (
      <Frame crumbs={[root, { label: name }]}>
        {dataset.busy && (
          <p className="quiet" role="status">
            <span className="spinner" /> {t("host.asking")}
          </p>
        )}
        <Fault text={dataset.fault} onAgain={dataset.reload} />
      </Frame>
    );
  }
  if (document !== undefined) {
    return (
      <Chunks
        key={document}
        api={api}
        dataset={dataset.value}
        id={document}
        cited={chunk}
        crumbs={[root, { label: name, href: areaLink("knowledge", id) }]}
      />
    );
  }
  return (
    <Frame crumbs={[root, { label: name }]}>
      <DatasetView api={api} dataset={dataset.value} onChange={(value) => dataset.change(() => value)} />
    </Frame>
  );
}
