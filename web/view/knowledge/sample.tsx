// The button that makes the sample data, and that which removes it.

import { useEffect, useRef } from "react";
import { Datasets } from "../../run/datasets.ts";
import recipe from "../../run/sample.json";
import { addSample, findSample, keptHere, removeSample, type Sample as Found } from "../../run/sample.ts";
import { Confirm, Fault, useAttempt, useLoaded } from "../area/parts.tsx";
import { useAreaText } from "../area/text.ts";
import { useApp, useLook } from "../context.tsx";
import { Icon } from "../icons.tsx";

/** Sample offers the sample data, and opens the canvas that answers from it. */
export default function Sample({ onChange }: {
  /** The datasets of the host have changed. */
  onChange?(): void;
}): React.ReactNode {
  const a = useAreaText();
  const { host } = useApp();
  const language = useLook((look) => look.language);
  const api = useRef<Datasets>(undefined);
  const datasets = (api.current ??= new Datasets(host));
  const { value: found, reload } = useLoaded("sample", () => findSample(host, datasets, keptHere));
  const attempt = useAttempt();
  const leaving = useRef<AbortController>(undefined);
  useEffect(() => {
    leaving.current = new AbortController();
    return () => leaving.current?.abort();
  }, []);
  const add = async (): Promise<void> => {
    const { signal } = (leaving.current ??= new AbortController());
    const id = await addSample(host, datasets, keptHere, recipe, language, signal);
    location.hash = `#canvas=${encodeURIComponent(id)}`;
  };
  const remove = async (those: Found[]): Promise<void> => {
    try {
      await removeSample(host, datasets, keptHere, those);
    } finally {
      await reload();
      onChange?.();
    }
  };
  const nameOf = ({ name, documents = 0, title }: Found): string[] => [
    ...(name === undefined ? [] : [a("sample.dataset", name, documents)]),
    ...(title === undefined ? [] : [a("sample.canvas", title)]),
  ];
  if (!host.state.get().scopes.includes("edit") || !found) return null;
  return (
    <div className="tools">
      {found.length === 0 ? (
        <button type="button" disabled={attempt.busy} onClick={() => void attempt.run(add)}>
          <Icon name="spark" />
          {a(attempt.busy ? "sample.adding" : "sample.add")}
        </button>
      ) : (
        <Confirm
          label={a("sample.remove")}
          sure={a("sample.remove_sure", found.flatMap(nameOf).join(", "))}
          disabled={attempt.busy}
          onDone={() => void attempt.run(() => remove(found))}
        />
      )}
      <Fault text={attempt.fault} />
    </div>
  );
}
