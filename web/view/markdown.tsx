// Shows Markdown. The parser is loaded when a text is first shown; until then, and where it cannot
// be loaded, the text is shown as it is.

import { lazy, Suspense } from "react";
import type { DrawnProps } from "./drawn.tsx";

const Drawn = lazy(() => import("./drawn.tsx").catch(() => ({ default: Unformatted })));

/** Markdown shows a text; `cite` draws a mark [ID:n], and is the same function each time. */
export function Markdown(props: DrawnProps): React.ReactNode {
  return (
    <div className="markdown">
      <Suspense fallback={<Unformatted {...props} />}>
        <Drawn {...props} />
      </Suspense>
    </div>
  );
}

function Unformatted({ text }: DrawnProps): React.ReactNode {
  return <p className="plain">{text}</p>;
}
