// Attaching files: each is read at once, and one that cannot be read is refused with the reason.

import { useEffect, useRef, useState } from "react";
import { ReadError } from "../read/errors.ts";
import type { Descriptor, Files } from "../run/files.ts";
import { useText } from "./context.tsx";

/** Attaching is the state of reading files, and the way to add some. */
export interface Attaching {
  /** attach reads files and returns the descriptors of the readable ones. */
  attach(list: FileList | null): Promise<Descriptor[]>;
  /** Files are being read. */
  busy: boolean;
  /** Messages to render next to the field. */
  notes: React.ReactNode;
}

/** useAttaching reads files for one field. */
export function useAttaching(files: Files): Attaching {
  const t = useText();
  const [reading, setReading] = useState<string[]>([]);
  const [refused, setRefused] = useState<{ name: string; err: unknown }[]>([]);
  const gone = useRef(false);
  useEffect(() => {
    gone.current = false;
    return () => { gone.current = true; };
  }, []);
  const attach = async (list: FileList | null): Promise<Descriptor[]> => {
    const chosen = [...(list ?? [])];
    setRefused([]);
    setReading(chosen.map((file) => file.name));
    const taken: Descriptor[] = [];
    const faults: { name: string; err: unknown }[] = [];
    for (const file of chosen) {
      try {
        taken.push(await files.add(file));
      } catch (err) {
        faults.push({ name: file.name, err });
      }
    }
    if (gone.current) return [];
    setReading([]);
    setRefused(faults);
    return taken;
  };
  const reason = (err: unknown): string => (err instanceof ReadError ? t(`read.${err.code}`) : String(err));
  const notes = (
    <>
      {reading.length > 0 && (
        <p className="quiet small" role="status">
          <span className="spinner" /> {t("read.busy", reading.join(", "))}
        </p>
      )}
      {refused.map(({ name, err }) => (
        <p key={name} className="fault" role="alert">
          {t("read.refused", name, reason(err))}
        </p>
      ))}
    </>
  );
  return { attach, busy: reading.length > 0, notes };
}
