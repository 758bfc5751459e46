// The field before its editor is loaded.

import { useLayoutEffect, useRef } from "react";
import { selectedIn, type SelectedRef } from "./selected.ts";

/**
 * Plain stands in for an editor that is being loaded. A person who is writing in it then continues
 * in the editor, with the same selection.
 */
export function Plain({
  label,
  rows,
  text,
  selected,
  onChange,
}: {
  label: string;
  rows: number;
  text: string;
  selected: SelectedRef;
  onChange(text: string): void;
}): React.ReactNode {
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    const element = field.current;
    return () => {
      if (element && element === document.activeElement) selected.current = selectedIn(element);
    };
  }, [selected]);
  return (
    <textarea
      ref={field}
      aria-label={label}
      rows={rows}
      value={text}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}
