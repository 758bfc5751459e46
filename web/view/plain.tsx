// The field before its editor is loaded.

import { useLayoutEffect, useRef } from "react";

/**
 * Plain stands in for an editor that is being loaded. A person who is writing in it then continues
 * in the editor, at the caret.
 */
export function Plain({
  label,
  rows,
  text,
  caret,
  onChange,
}: {
  label: string;
  rows: number;
  text: string;
  caret: React.RefObject<number | undefined>;
  onChange(text: string): void;
}): React.ReactNode {
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    const element = field.current;
    return () => {
      if (element && element === document.activeElement) caret.current = element.selectionStart;
    };
  }, [caret]);
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
