// The guides, with a search: #docs, #docs=guide, #docs=guide/heading.

import { useEffect, useMemo, useRef, useState } from "react";
import { find, partsOf, type Guide } from "../../run/guides.ts";
import { inEnglish } from "../../words/docs.ts";
import { areaLink, leaveAreas } from "../areas.tsx";
import { useApp, useStore } from "../context.tsx";
import { Icon } from "../icons.tsx";
import { Markdown } from "../markdown.tsx";
import { reasonOf } from "../reason.tsx";
import { useDocsText } from "./text.ts";

declare const EASEL_GUIDES: string;

let loading: Promise<Guide[]> | undefined;

function loadGuides(): Promise<Guide[]> {
  loading ??= fetch(new URL(EASEL_GUIDES, document.baseURI)).then((answer) => {
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    return answer.json() as Promise<Guide[]>;
  });
  loading.catch(() => { loading = undefined; });
  return loading;
}

const groups = ["use", "call", "operate", "plugins"] as const;

/** Docs shows the list of guides and the open one. */
export default function Docs({ path }: { path: string[] }): React.ReactNode {
  const d = useDocsText();
  const [guides, setGuides] = useState<Guide[]>();
  const [fault, setFault] = useState<string>();
  const [query, setQuery] = useState("");
  const heading = useRef<HTMLHeadingElement>(null);
  const [id = "page", anchor = ""] = path;
  useEffect(() => {
    loadGuides().then(setGuides, (err: unknown) => setFault(reasonOf(err)));
  }, []);
  const guide = guides?.find((each) => each.id === id) ?? guides?.[0];
  useEffect(() => {
    if (!guide) return;
    setQuery("");
    if (anchor === "") return heading.current?.focus({ preventScroll: true });
    const target = document.getElementById(`guide-${anchor}`);
    target?.focus();
    target?.scrollIntoView({ block: "start" });
  }, [guide, anchor]);
  return (
    <section className="area docs">
      <div className="area-head">
        <h1>{d("title")}</h1>
        <button type="button" onClick={leaveAreas}><Icon name="grid" />{d("back")}</button>
      </div>
      {fault !== undefined && <p className="fault" role="alert">{d("failed", fault)}</p>}
      {guides && guide && (
        <div className="docs-body">
          <nav aria-label={d("title")}>
            <input
              type="search" aria-label={d("search")} placeholder={d("search")} value={query}
              onChange={(event) => setQuery(event.target.value)}
            />
            {groups.map((group) => (
              <section key={group}>
                <h2>{d(`group_${group}`)}</h2>
                <ul>
                  {guides.filter((each) => each.group === group).map((each) => (
                    <li key={each.id}>
                      <a href={areaLink("docs", each.id)} aria-current={each === guide ? "page" : undefined}>
                        {each.title}
                      </a>
                    </li>
                  ))}
                  {group === "call" && <OpenApi />}
                </ul>
              </section>
            ))}
          </nav>
          {query.trim() === ""
            ? <Text guide={guide} heading={heading} />
            : <Hits guides={guides} query={query} onFollow={() => setQuery("")} />}
        </div>
      )}
    </section>
  );
}

function OpenApi(): React.ReactNode {
  const d = useDocsText();
  const status = useStore(useApp().host.state, (state) => state.status);
  if (status !== "open" && status !== "closed") return null;
  return <li><a href="/api/v2/openapi.json" target="_blank" rel="noreferrer">{d("openapi")}</a></li>;
}

function Text({ guide, heading }: { guide: Guide; heading: React.Ref<HTMLHeadingElement> }): React.ReactNode {
  const d = useDocsText();
  const parts = useMemo(() => partsOf(guide), [guide]);
  return (
    <article lang="en">
      <h2 ref={heading} tabIndex={-1}>{guide.title}</h2>
      {d("language") !== "" && <p className="quiet" lang="zh">{d("language")}</p>}
      {parts.map(({ anchor, heading: words, level, text }) => (
        <section key={anchor} className="guide-part">
          {words !== "" && (
            <p
              id={`guide-${anchor}`} className={`h h${level}`} role="heading" aria-level={Math.min(6, level + 1)}
              tabIndex={-1}
            >
              <a href={areaLink("docs", guide.id, anchor)}>{words}</a>
            </p>
          )}
          <Markdown text={text} />
        </section>
      ))}
    </article>
  );
}

function Hits({ guides, query, onFollow }: {
  guides: readonly Guide[]; query: string; onFollow(): void;
}): React.ReactNode {
  const d = useDocsText();
  const words = inEnglish(query);
  const hits = useMemo(() => find(guides, words), [guides, words]);
  return (
    <article>
      <p className="quiet" role="status">{hits.length === 0 ? d("none") : d("found", hits.length)}</p>
      {words !== query && <p className="quiet small">{d("searched", words)}</p>}
      <ol className="guide-hits" lang="en">
        {hits.map(({ guide, part, snippet }) => (
          <li key={`${guide.id} ${part.anchor}`}>
            <a href={areaLink("docs", guide.id, ...(part.anchor === "" ? [] : [part.anchor]))} onClick={onFollow}>
              <b>{part.heading || guide.title}</b> <small>{guide.title}</small>
            </a>
            <p className="quiet small">{snippet}</p>
          </li>
        ))}
      </ol>
    </article>
  );
}
