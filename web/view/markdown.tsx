// A small part of Markdown, turned into elements and never into HTML text, so that
// nothing an answer says can become markup. Pictures from elsewhere are not loaded.

import { Fragment } from "react";

/** Markdown shows a text; `cite` draws a citation mark [ID:n]. */
export function Markdown({ text, cite }: { text: string; cite?: (id: string, key: number) => React.ReactNode }): React.ReactNode {
  return <div className="markdown">{blocks(text, cite)}</div>;
}

type Cite = ((id: string, key: number) => React.ReactNode) | undefined;

function blocks(text: string, cite: Cite): React.ReactNode[] {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const out: React.ReactNode[] = [];
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? "";
    const take = (fits: (line: string) => boolean): string[] => {
      const from = at;
      while (at < lines.length && fits(lines[at] ?? "")) at++;
      return lines.slice(from, at);
    };
    const key = out.length;
    const heading = /^(#{1,6})\s+(.*)$/.exec(line);
    if (line.trim() === "") at++;
    else if (/^\s*```/.test(line)) {
      at++;
      const code = take((each) => !/^\s*```/.test(each));
      at++;
      out.push(<pre key={key} tabIndex={0}><code>{code.join("\n")}</code></pre>);
    } else if (heading) {
      at++;
      out.push(<p key={key} className={`h h${heading[1]?.length}`} role="heading" aria-level={Math.min(6, 3 + (heading[1]?.length ?? 1))}>{inline(heading[2] ?? "", cite)}</p>);
    } else if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(line)) {
      at++;
      out.push(<hr key={key} />);
    } else if (/^\s*>/.test(line)) {
      out.push(<blockquote key={key}>{blocks(take((each) => /^\s*>/.test(each)).map((each) => each.replace(/^\s*>\s?/, "")).join("\n"), cite)}</blockquote>);
    } else if (isItem(line)) {
      const ordered = /^\s*\d/.test(line);
      const items = take((each) => isItem(each) || /^\s{2,}\S/.test(each)).reduce<string[]>((list, each) => (isItem(each) ? [...list, each.replace(/^\s*([-*+]|\d+[.)])\s+/, "")] : [...list.slice(0, -1), `${list.at(-1)}\n${each.trim()}`]), []);
      const drawn = items.map((item, i) => <li key={i}>{inline(item, cite)}</li>);
      out.push(ordered ? <ol key={key}>{drawn}</ol> : <ul key={key}>{drawn}</ul>);
    } else if (line.includes("|") && /^\s*\|?\s*:?-+/.test(lines[at + 1] ?? "")) {
      out.push(<Table key={key} rows={take((each) => each.includes("|"))} cite={cite} />);
    } else {
      out.push(<p key={key}>{inline(take((each) => each.trim() !== "" && !starts(each)).join("\n") || (lines[at++] ?? ""), cite)}</p>);
    }
  }
  return out;
}

const isItem = (line: string): boolean => /^\s*([-*+]|\d+[.)])\s+\S/.test(line);
const starts = (line: string): boolean => isItem(line) || /^(#{1,6}\s|\s*```|\s*>)/.test(line);

function Table({ rows, cite }: { rows: string[]; cite: Cite }): React.ReactNode {
  const cells = (row: string): string[] => row.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());
  const [head = "", , ...body] = rows;
  return (
    <div className="scroll" tabIndex={0}>
      <table>
        <thead><tr>{cells(head).map((cell, i) => <th key={i}>{inline(cell, cite)}</th>)}</tr></thead>
        <tbody>{body.map((row, i) => <tr key={i}>{cells(row).map((cell, j) => <td key={j}>{inline(cell, cite)}</td>)}</tr>)}</tbody>
      </table>
    </div>
  );
}

const mark = /`([^`]+)`|\*\*([^*]+(?:\*[^*]+)*)\*\*|(?<![\w*])[*_]([^*_\n]+)[*_](?![\w*])|!?\[([^\]\n]*)\]\((\S+?)\)|\[ID:([\d\s]+)\]|(\n)/g;

function inline(text: string, cite: Cite): React.ReactNode[] {
  const out: React.ReactNode[] = [];
  let from = 0;
  for (const match of text.matchAll(mark)) {
    if (match.index > from) out.push(text.slice(from, match.index));
    from = match.index + match[0].length;
    const key = match.index;
    const [, code, bold, italic, label, address, id, lineBreak] = match;
    if (code !== undefined) out.push(<code key={key}>{code}</code>);
    else if (bold !== undefined) out.push(<strong key={key}>{inline(bold, cite)}</strong>);
    else if (italic !== undefined) out.push(<em key={key}>{inline(italic, cite)}</em>);
    else if (address !== undefined) out.push(<Fragment key={key}>{link(label ?? "", address)}</Fragment>);
    else if (id !== undefined) out.push(cite ? cite(id.trim(), key) : match[0]);
    else if (lineBreak !== undefined) out.push(<br key={key} />);
  }
  if (from < text.length) out.push(text.slice(from));
  return out;
}

function link(label: string, address: string): React.ReactNode {
  if (!/^(https?:\/\/|mailto:)/i.test(address)) return label || address;
  return <a href={address} target="_blank" rel="noreferrer noopener">{label || address}</a>;
}
