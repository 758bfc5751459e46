// A chunk's place on its page: a small sheet with boxes. A chunk may reach over pages.

import { useAreaText } from "../area/text.ts";

const sheet = { width: 595, height: 842 }; // A4 in points; larger pages stretch it

/** PagePlace draws positions [page, left, right, top, bottom] in points, if there are any. */
export function PagePlace({ positions }: { positions: number[][] | undefined }): React.ReactNode {
  const a = useAreaText();
  const known = (positions ?? []).filter((at) => at.length === 5 && at.every(Number.isFinite));
  const [first] = known;
  if (!first) return null;
  const page = first[0] ?? 1;
  const pages = [...new Set(known.map(([number]) => number))];
  const boxes = known.filter(([number]) => number === page);
  const width = Math.max(sheet.width, ...boxes.map(([, , right = 0]) => right + 20));
  const height = Math.max(sheet.height, ...boxes.map(([, , , , bottom = 0]) => bottom + 20));
  return (
    <figure className="place">
      <svg viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
        <rect className="sheet" width={width} height={height} />
        {boxes.map(([, left = 0, right = 0, top = 0, bottom = 0], i) => (
          <rect
            key={i}
            className="at"
            x={left}
            y={top}
            width={Math.max(4, right - left)}
            height={Math.max(8, bottom - top)}
          />
        ))}
      </svg>
      <figcaption>
        {pages.length > 1 ? a("chunk.pages", pages[0] ?? 1, pages.at(-1) ?? 1) : a("chunk.page", page)}
      </figcaption>
    </figure>
  );
}
