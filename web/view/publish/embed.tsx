// The lines that put the chat on a site.

import { lazy, Suspense, useState } from "react";
import { chatAddress, frameTag, widgetTag, type Embed } from "../../run/snippets.ts";
import { useAttempt, useLoaded } from "../loaded.ts";
import { Code, Fault, usePublishText, Waiting, type Section } from "./parts.tsx";
import { Signing } from "./signing.tsx";

const Preview = lazy(() => import("./preview.tsx"));

/** Look is the part of a chat that its site chooses. */
type Look = Omit<Embed, "host" | "agent" | "token">;

/** EmbedSection chooses how the chat looks. */
export function EmbedSection({ release, onSection }: Section): React.ReactNode {
  const t = usePublishText();
  const token = useLoaded("token", () => release.token());
  const published = useLoaded("published", async () => ({ at: (await release.stored()).published }));
  const { busy, fault, run } = useAttempt();
  const [revoked, setRevoked] = useState(false);
  const [look, setLook] = useState<Look>({
    color: "#1f6470",
    side: "right",
    language: "",
    title: "",
    files: true,
  });
  if (token.value === undefined) return <Waiting {...token} />;
  if (!published.value) return <Waiting {...published} />;
  const embed: Embed = { ...look, host: location.origin, agent: release.id, token: token.value };
  const revoke = (): void =>
    void run(async () => {
      await token.after(() => release.revoke());
      setRevoked(true);
    });
  return (
    <>
      {!published.value.at && (
        <p className="fault" role="alert">
          {t("publish_first")}{" "}
          <button type="button" onClick={() => onSection("release")}>
            {t("release")}
          </button>
        </p>
      )}
      <p>{t("embed_hint")}</p>
      <LookFields look={look} onLook={setLook} />
      <Suspense><Preview embed={embed} published={Boolean(published.value.at)} /></Suspense>
      <Code label={t("widget")} text={widgetTag(embed)} />
      <p className="quiet small">{t("widget_csp", location.origin)}</p>
      <Signing release={release} embed={embed} />
      <Code label={t("frame")} text={frameTag(embed)} />
      <Code label={t("page")} text={chatAddress(embed)} />
      <p className="publish-act">
        <a href={chatAddress(embed)} target="_blank" rel="noreferrer noopener">
          {t("open_page")}
        </a>
        <button type="button" className="danger" disabled={busy} onClick={revoke}>
          {t("revoke")}
        </button>
      </p>
      {revoked && (
        <p className="good" role="status">
          {t("revoked")}
        </p>
      )}
      <Fault text={fault} />
    </>
  );
}

function LookFields({ look, onLook }: { look: Look; onLook(look: Look): void }): React.ReactNode {
  const t = usePublishText();
  return (
    <div className="embed-look">
      <label className="field">
        {t("color")}
        <input
          type="color"
          value={look.color}
          onChange={(event) => onLook({ ...look, color: event.target.value })}
        />
      </label>
      <label className="field">
        {t("side")}
        <select
          value={look.side}
          onChange={(event) => onLook({ ...look, side: event.target.value === "left" ? "left" : "right" })}
        >
          <option value="right">{t("right")}</option>
          <option value="left">{t("left")}</option>
        </select>
      </label>
      <label className="field">
        {t("chat_language")}
        <select
          value={look.language}
          onChange={(event) => onLook({ ...look, language: event.target.value as Embed["language"] })}
        >
          <option value="">{t("language_page")}</option>
          <option value="en">English</option>
          <option value="zh">中文</option>
        </select>
      </label>
      <label className="field">
        {t("heading")}
        <input
          type="text"
          maxLength={80}
          placeholder={t("heading_default")}
          value={look.title}
          onChange={(event) => onLook({ ...look, title: event.target.value })}
        />
      </label>
      <label className="field row">
        <input
          type="checkbox"
          checked={look.files}
          onChange={(event) => onLook({ ...look, files: event.target.checked })}
        />
        {t("files")}
      </label>
    </div>
  );
}
