// What became of each file that was given to a dataset.

import { useAreaText } from "../area/text.ts";
import { Icon } from "../icons.tsx";
import { Unread } from "./unread.tsx";
import type { Upload, Uploading } from "./uploads.ts";

/** UploadReport counts the files by their result, and lists those that were not stored. */
export function UploadReport({ uploading: { uploads, again, dismiss } }: { uploading: Uploading }): React.ReactNode {
  const a = useAreaText();
  if (uploads.length === 0) return null;
  const of = (...states: Upload["state"][]): Upload[] => uploads.filter(({ state }) => states.includes(state));
  const ids = (list: Upload[]): number[] => list.map(({ id }) => id);
  const under = of("waiting", "sending");
  const refused = of("refused");
  const copies = of("duplicate");
  return (
    <section className="uploads" aria-label={a("upload.label")}>
      <p role="status">
        {under.length > 0 && <span className="spinner" aria-hidden="true" />}
        <span>
          {a("upload.counts", of("stored").length, uploads.length)}
          {refused.length > 0 && ` · ${a("upload.refused", refused.length)}`}
          {copies.length > 0 && ` · ${a("upload.copies", copies.length)}`}
        </span>
        <button
          type="button" className="icon-button" aria-label={a("upload.dismiss")} onClick={() => dismiss(ids(uploads))}
        >
          <Icon name="cross" />
        </button>
      </p>
      {under.length > 0 && (
        <progress max={uploads.length} value={uploads.length - under.length} aria-label={a("upload.label")} />
      )}
      {refused.length + copies.length > 0 && (
        <ul>
          {[...refused, ...copies].map(({ id, file, state, reason = "" }) => (
            <li key={id} data-failed={state === "refused" || undefined}>
              <span>
                <b>{file.name}</b> · {a(state === "refused" ? "upload.is_refused" : "upload.is_copy")}:{" "}
                <Unread message={reason} />
              </span>
              <button type="button" onClick={() => again([id], state === "duplicate")}>
                {a(state === "refused" ? "upload.again" : "upload.keep_copy")}
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
