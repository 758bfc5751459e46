// The changes of other people and other tabs to the open canvas.

import { useEffect, useState } from "react";
import { shown } from "../words/shown.ts";
import { useApp, useStore, useText } from "./context.tsx";

/** People lists who else has the canvas open. */
export function People(): React.ReactNode {
  const t = useText();
  const people = useStore(useApp().together.people, (all) => all);
  if (people.length === 0) return null;
  const names = people.map(({ name, pages }) => (pages > 1 ? t("others.pages", name, pages) : shown(name)));
  return (
    <ul className="people" aria-label={t("others.here", names.join(", "))}>
      {people.slice(0, 4).map(({ name, pages }, i) => (
        <li key={name} title={names[i]}>
          {initials(name)}
          {pages > 1 && <sup>{pages}</sup>}
        </li>
      ))}
      {people.length > 4 && <li title={names.slice(4).join(", ")}>+{people.length - 4}</li>}
    </ul>
  );
}

function initials(name: string): string {
  const words = name.split(/[\s._@-]+/).filter(Boolean);
  return words.slice(0, 2).map((word) => [...word][0]?.toUpperCase()).join("") || "?";
}

/** Others reports merged changes, and offers a choice where both sides changed a setting. */
export function Others({ onChoose }: { onChoose(): void }): React.ReactNode {
  const t = useText();
  const { session, together } = useApp();
  const rival = useStore(session.sharing.rival, (now) => now);
  const merged = useStore(together.merged, (count) => count);
  const author = useStore(together.author, (name) => name) || t("others.unknown");
  const [seen, setSeen] = useState(merged);
  useEffect(() => {
    if (merged === seen) return;
    const timer = setTimeout(() => setSeen(merged), 8000);
    return () => clearTimeout(timer);
  }, [merged, seen]);
  if (rival) {
    return (
      <p className="banner note-bar" role="alert">
        {rival.tab ? t("others.rival_tab", rival.conflicts.length) : t("others.rival", rival.conflicts.length, author)}
        <button type="button" className="primary" onClick={onChoose}>
          {t("others.choose")}
        </button>
      </p>
    );
  }
  return merged === seen ? null : (
    <p className="banner note-bar" role="status">
      {t("others.merged", author)}
    </p>
  );
}
