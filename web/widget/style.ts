// The style sheet of the chat, constructed by the script. Colours follow the owner's choice, with
// legible text on them.

import { inkOn, legibleOn, type Options } from "./options.ts";

const light = `
--paper:#fff;--ground:#f4f4f2;--ink:#1d1d1b;--soft:#5b5b57;--line:#d5d5d0;--edge:#8a8a85;--bad:#a3231c;
  --bad-soft:#fbe5e2;`;
const dark = `
--paper:#1e1e1d;--ground:#2a2a28;--ink:#efefec;--soft:#b4b4ae;--line:#4a4a46;--edge:#7d7d78;--bad:#ffb0a8;
  --bad-soft:#452320;`;

/** styleSheet returns the sheet of a chat. */
export function styleSheet({ color, theme, side }: Options): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  const lightColors = `${light}color-scheme:light;--link:${legibleOn(color, "#f4f4f2")};`;
  const darkColors = `${dark}color-scheme:dark;--link:${legibleOn(color, "#2a2a28")};`;
  const scheme = theme === "dark" ? darkColors : lightColors;
  const auto = theme === "auto" ? `@media (prefers-color-scheme:dark){:host{${darkColors}}}` : "";
  const accent = `--accent:${color};--on-accent:${inkOn(color)};`;
  sheet.replaceSync(`:host{all:initial;${scheme}${accent}}${auto}${rules}${placed(side)}`);
  return sheet;
}

const rules = `
*{box-sizing:border-box}
[hidden]{display:none!important}
.chat,.bubble{
  font:15px/1.5 system-ui,-apple-system,"Segoe UI","Noto Sans","PingFang SC","Microsoft YaHei",sans-serif;
  color:var(--ink)}
.chat{display:flex;flex-direction:column;height:100%;min-height:0;background:var(--paper)}
header{display:flex;align-items:center;gap:4px;padding:8px 8px 8px 16px;background:var(--accent);
  color:var(--on-accent)}
h1,h2{font-size:16px;font-weight:600;margin:0;flex:1;min-width:0;overflow:hidden;text-overflow:ellipsis;
  white-space:nowrap}
button{font:inherit;color:inherit;cursor:pointer;border:1px solid var(--line);border-radius:8px;
  background:var(--paper);padding:6px 12px}
button:disabled{opacity:.5;cursor:default}
:focus-visible{outline:2px solid var(--link);outline-offset:2px}
header :focus-visible,.primary:focus-visible{outline-color:currentColor;outline-offset:-4px}
.primary{background:var(--accent);border-color:var(--accent);color:var(--on-accent);font-weight:600}
.round{width:40px;height:40px;flex:none;padding:0;border-radius:50%;border-color:transparent;display:grid;
  place-items:center}
.round:not(.primary){background:none}
svg{width:20px;height:20px;fill:none;stroke:currentColor;stroke-width:1.8;stroke-linecap:round;
  stroke-linejoin:round}
.transcript{flex:1;min-height:0;overflow:auto;padding:16px;display:flex;flex-direction:column;gap:12px;
  overscroll-behavior:contain}
.transcript:focus-visible{outline-offset:-3px}
.turn{display:flex;flex-direction:column;gap:12px}
.mine,.theirs{max-width:88%;padding:9px 13px;border-radius:16px;overflow-wrap:anywhere}
.mine{align-self:flex-end;background:var(--accent);color:var(--on-accent);border-bottom-right-radius:4px;
  white-space:pre-wrap}
.theirs{align-self:flex-start;background:var(--ground);border-bottom-left-radius:4px}
.markdown>:first-child{margin-top:0}.markdown>:last-child{margin-bottom:0}
.markdown p,.markdown ul,.markdown ol,.markdown pre,.markdown blockquote{margin:8px 0}
.markdown ul,.markdown ol{padding-left:22px}
.markdown blockquote{border-left:3px solid var(--line);padding-left:10px;margin-left:0}
.markdown li>ul,.markdown li>ol,.markdown li>p{margin:4px 0}
.plain{white-space:pre-wrap}
.heading{font-weight:600}
a{color:var(--link)}
pre,code{font-family:ui-monospace,"Cascadia Code","DejaVu Sans Mono",monospace;font-size:13px}
pre{overflow:auto;background:var(--paper);border:1px solid var(--line);border-radius:8px;padding:8px;margin:0;
  white-space:pre-wrap}
.scroll{overflow:auto}
table{border-collapse:collapse;font-size:14px}
th,td{border:1px solid var(--line);padding:4px 8px;text-align:left}
[data-align=center]{text-align:center}
[data-align=right]{text-align:right}
hr{border:0;border-top:1px solid var(--line)}
.cite{font-size:12px;line-height:1;min-width:24px;height:24px;padding:0 6px;margin:0 2px;border-radius:12px;
  color:var(--link)}
.sources{margin-top:8px;font-size:13px}
.sources ol{padding-left:22px;margin:6px 0 0}
.sources .markdown{margin:2px 0 8px}
summary{cursor:pointer;color:var(--soft);min-height:24px}
.think{color:var(--soft);font-size:14px}
.chips{display:flex;flex-wrap:wrap;gap:6px}
.chips:empty,.note:empty{display:none}
.chip{display:inline-flex;align-items:center;gap:4px;font-size:13px;border:1px solid currentColor;
  border-radius:8px;padding:3px 8px;margin:2px 4px 0 0}
.chip svg{width:14px;height:14px}
.note{color:var(--soft);font-size:13px;margin:0}
.fault{background:var(--bad-soft);color:var(--bad);border-radius:10px;padding:9px 13px;margin:0}
.fault button{color:var(--ink);padding:2px 10px}
.dots{display:inline-block;width:8px;height:8px;border-radius:50%;background:var(--soft);margin-right:8px;
  animation:pulse 1.2s infinite ease-in-out}
@keyframes pulse{50%{opacity:.25}}
@media (prefers-reduced-motion:reduce){.dots{animation:none}}
.form{display:flex;flex-direction:column;gap:12px;background:var(--ground);border-radius:16px;padding:14px}
.form p{margin:0}
.field{display:flex;flex-direction:column;gap:4px;border:0;padding:0;margin:0;min-width:0}
.field.check{flex-direction:row;align-items:center;gap:8px}
.field small{color:var(--soft)}
.choice{display:flex;gap:8px;align-items:center;min-height:28px}
input,select,textarea{font:inherit;color:inherit}
input:not([type=checkbox],[type=radio],[type=file]),select,textarea{width:100%;border:1px solid var(--edge);
  border-radius:10px;background:var(--paper);padding:8px 10px}
input[type=checkbox],input[type=radio]{accent-color:var(--link);width:18px;height:18px;margin:0}
.composer{border-top:1px solid var(--line);padding:10px;display:flex;flex-direction:column;gap:8px}
.line{display:flex;align-items:end;gap:6px}
.composer textarea{flex:1;resize:none;field-sizing:content;max-height:140px;border-radius:20px;padding:8px 14px}
textarea::placeholder{color:var(--soft);opacity:1}
.sr{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
`;

// placed returns the position of the widget on the embedding page; on a phone it fills the screen.
function placed(side: Options["side"]): string {
  return `
.bubble{position:fixed;bottom:20px;${side}:20px;z-index:2147483000;width:56px;height:56px;border-radius:50%;
  padding:0;display:grid;place-items:center;box-shadow:0 4px 16px rgb(0 0 0/.25)}
.bubble svg{width:26px;height:26px}
.panel{position:fixed;bottom:88px;${side}:20px;z-index:2147483000;width:min(390px,calc(100vw - 40px));
  height:min(620px,calc(100dvh - 108px));border:1px solid var(--line);border-radius:16px;overflow:hidden;
  box-shadow:0 10px 40px rgb(0 0 0/.22)}
@media (max-width:480px){.panel{inset:0;width:100vw;height:100dvh;border:0;border-radius:0}
  .panel:not([hidden])+.bubble{display:none}.composer{padding-bottom:max(10px,env(safe-area-inset-bottom))}}
.page{position:fixed;inset:0;background:var(--ground)}
.page .chat{max-width:820px;margin:0 auto}
`;
}
