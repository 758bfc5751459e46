// The search by meaning of a dataset: its model, how far another one is, and how to turn it on.

import { useEffect } from "react";
import type { Dataset, Datasets } from "../../run/datasets.ts";
import { Fault, useAttempt } from "../area/parts.tsx";
import { useAreaText } from "../area/text.ts";

/** How often the progress is read, in milliseconds. */
const interval = 3000;

/** Meaning shows the model of a dataset and turns on search by meaning. */
export function Meaning({ api, dataset, onChange }: {
  api: Datasets;
  dataset: Dataset;
  onChange(dataset: Dataset): void;
}): React.ReactNode {
  const a = useAreaText();
  const attempt = useAttempt();
  const { id, embedding } = dataset;
  // Each answer begins the next wait, since it is another object.
  useEffect(() => {
    if (!embedding) return undefined;
    const timer = setTimeout(() => void attempt.run(async () => onChange(await api.get(id))), interval);
    return () => clearTimeout(timer);
  }, [embedding]);
  const turnOn = (): void =>
    void attempt.run(async () => {
      await api.update(id, { embedding_model: "" }); // the host's default
      const now = await api.get(id);
      onChange(now);
      if (now.embedding_model === "") throw new Error(a("dataset.no_model"));
    });
  return (
    <>
      {dataset.embedding_model || a("dataset.words_only")}
      {dataset.embedding_model === "" && !dataset.read_only && (
        <>
          {" "}
          <button type="button" className="link" disabled={attempt.busy} onClick={turnOn}>
            {a("dataset.turn_on")}
          </button>
        </>
      )}
      {embedding && (
        <span role="status">
          {" "}
          ({a("dataset.embedding", embedding.done.toLocaleString(), embedding.chunks.toLocaleString(),
            embedding.model || a("dataset.words_only"))})
        </span>
      )}
      <Fault text={attempt.fault} />
    </>
  );
}
