// The lines that put the chat on a site.

import { useState } from "react";
import { chatAddress, frameTag, widgetTag, type Embed } from "../../run/snippets.ts";
import { useAttempt, useLoaded } from "../loaded.ts";
import { Code, Fault, usePublishText, Waiting, type Section } from "./parts.tsx";

/** EmbedSection chooses how the chat looks. */
export function EmbedSection({ release, onSection }: Section): React.ReactNode {
  const t = usePublishText();
  const token = useLoaded("token", () => release.token());
  const published = useLoaded("published", async () => ({ at: (await release.stored()).published }));
  const { busy, fault, run } = useAttempt();
  const [revoked, setRevoked] = useState(false);
  const [look, setLook] = useState<Omit<Embed, "host" | "agent" | "token">>({
    color: "#1f6470",
    side: "right",
    language: "",
    title: "",
    files: true,
  });
  if (token.value === undefined || !published.value)
    return <Waiting {...(token.value === undefined ? token : published)} />;
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
      <div className="embed-look">
        <label className="field">
          {t("color")}
          <input
            type="color"
            value={look.color}
            onChange={(event) => setLook({ ...look, color: event.target.value })}
          />
        </label>
        <label className="field">
          {t("side")}
          <select
            value={look.side}
            onChange={(event) => setLook({ ...look, side: event.target.value === "left" ? "left" : "right" })}
          >
            <option value="right">{t("right")}</option>
            <option value="left">{t("left")}</option>
          </select>
        </label>
        <label className="field">
          {t("chat_language")}
          <select
            value={look.language}
            onChange={(event) => setLook({ ...look, language: event.target.value as Embed["language"] })}
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
            onChange={(event) => setLook({ ...look, title: event.target.value })}
          />
        </label>
        <label className="field row">
          <input
            type="checkbox"
            checked={look.files}
            onChange={(event) => setLook({ ...look, files: event.target.checked })}
          />
          {t("files")}
        </label>
      </div>
      <Code label={t("widget")} text={widgetTag(embed)} />
      <p className="quiet small">{t("widget_csp", location.origin)}</p>
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
