// The saved versions of a canvas, and what restoring one would change.

import { lazy, Suspense, useMemo, useState } from "react";
import { compare, shown, type Comparison, type NodeChange, type Setting } from "../../canvas/compare.ts";
import { diff } from "../../canvas/diff.ts";
import type { Dsl } from "../../canvas/dsl.ts";
import type { Version } from "../../run/release.ts";
import { useApp, useSpecText, useStore } from "../context.tsx";
import { useAttempt, useLoaded, type Loaded } from "../loaded.ts";
import { Fault, useDate, usePublishText, Waiting, type Section } from "./parts.tsx";

const TextDiff = lazy(() => import("./text-diff.tsx"));

/** HistorySection lists versions and compares one with the canvas. */
export function HistorySection({ release }: Section): React.ReactNode {
  const t = usePublishText();
  const date = useDate();
  const versions = useLoaded("versions", () => release.versions());
  const [chosen, setChosen] = useState<string>();
  const list = versions.value;
  if (!list) return <Waiting {...versions} />;
  if (list.length === 0) return <p className="quiet">{t("no_versions")}</p>;
  const open = chosen ?? (list[0] as Version).id;
  return (
    <div className="versions">
      <ul aria-label={t("saved_versions")}>
        {list.map((version) => (
          <li key={version.id}>
            <button type="button" aria-pressed={version.id === open} onClick={() => setChosen(version.id)}>
              <b>
                {version.number}. {titleOf(version)}
              </b>
              <small>{version.author ? t("by", version.author, date(version.created)) : date(version.created)}</small>
              {version.published && <span className="badge-good">{t("badge_published")}</span>}
            </button>
          </li>
        ))}
      </ul>
      <VersionView key={open} release={release} id={open} after={versions.after} />
    </div>
  );
}

// titleOf leaves out the time that a host appends to titles: it stands below.
function titleOf({ title }: Version): string {
  return title.replace(/_\d{4}(_\d\d){5}$/, "");
}

function VersionView({
  release,
  id,
  after,
}: Pick<Section, "release"> & { id: string } & Pick<Loaded<unknown>, "after">): React.ReactNode {
  const t = usePublishText();
  const { session } = useApp();
  const version = useLoaded(id, () => release.version(id));
  const now = useStore(session.document, (document) => document?.dsl);
  const { busy, fault, run } = useAttempt();
  const [title, setTitle] = useState<string>();
  const [restored, setRestored] = useState(false);
  const saved = version.value?.dsl;
  const comparison = useMemo(() => (saved && now ? compare(now, saved) : undefined), [saved, now]);
  if (!saved || !comparison || !now) return <Waiting {...version} />;
  const same = diff(now, saved).length === 0;
  const restore = (): void => {
    session.act((draft) => draft.take(diff(draft.dsl, saved as Dsl)));
    setRestored(true);
  };
  const rename = (): void =>
    void run(async () => {
      await after(() => release.rename(id, title ?? ""));
      setTitle(undefined);
    });
  return (
    <section className="version" aria-label={version.value?.title}>
      {title === undefined ? (
        <p className="publish-act">
          <button type="button" className="primary" disabled={same} onClick={restore}>
            {t("restore")}
          </button>
          <button type="button" onClick={() => setTitle(version.value?.title ?? "")}>
            {t("rename")}
          </button>
        </p>
      ) : (
        <form
          className="publish-act"
          onSubmit={(event) => {
            event.preventDefault();
            rename();
          }}
        >
          <input
            type="text"
            required
            maxLength={200}
            aria-label={t("rename_label")}
            value={title}
            autoFocus
            onChange={(event) => setTitle(event.target.value)}
          />
          <button type="submit" className="primary" disabled={busy}>
            {t("done")}
          </button>
        </form>
      )}
      <Fault text={fault} />
      {restored && (
        <p className="good" role="status">
          {t("restored")}
        </p>
      )}
      {same || comparison.looks ? <p className="quiet">{t("same")}</p> : (
        <>
          <h3>{t("differs")}</h3>
          <Difference comparison={comparison} />
        </>
      )}
    </section>
  );
}

/** Difference shows what differs between two documents. */
export function Difference({ comparison: { nodes, edges, other } }: { comparison: Comparison }): React.ReactNode {
  const t = usePublishText();
  return (
    <>
      {nodes.map((node) => (
        <NodeCard key={node.id} node={node} />
      ))}
      {edges.length > 0 && (
        <article className="change">
          <h4>{t("edges")}</h4>
          <ul>
            {edges.map(({ from, to, change }, i) => (
              <li key={i} data-change={change}>
                {from} → {to} <small>{t(change)}</small>
              </li>
            ))}
          </ul>
        </article>
      )}
      {other.length > 0 && (
        <article className="change">
          <h4>{t("other")}</h4>
          {other.map((setting) => (
            <SettingDiff key={setting.name} setting={setting} label={setting.name} />
          ))}
        </article>
      )}
    </>
  );
}

function NodeCard({ node }: { node: NodeChange }): React.ReactNode {
  const t = usePublishText();
  const specText = useSpecText();
  const { session } = useApp();
  const spec = useStore(session.specs, (all) => all.get(node.kind));
  const label = (name: string): string => specText(spec?.params?.properties?.[name]?.title ?? name);
  return (
    <article className="change" data-change={node.change}>
      <h4>
        {node.name} <small>{t(node.change)}</small>
      </h4>
      {node.settings.map((setting) => (
        <SettingDiff key={setting.name} setting={setting} label={label(setting.name)} />
      ))}
    </article>
  );
}

/** SettingDiff shows a setting before and after. */
export function SettingDiff({
  setting: { before, after },
  label,
}: {
  setting: Setting;
  label: string;
}): React.ReactNode {
  const [old, now] = [shown(before), shown(after)];
  return (
    <div className="setting-diff">
      <b>{label}</b>
      {old.length + now.length < 80 && !/\n/.test(old + now) ? (
        <p>
          {old && <del>{old}</del>} {now && <ins>{now}</ins>}
        </p>
      ) : (
        <Suspense fallback={<pre tabIndex={0}>{now}</pre>}>
          <TextDiff before={old} after={now} label={label} />
        </Suspense>
      )}
    </div>
  );
}
