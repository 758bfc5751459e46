// Draws Markdown as elements and never as HTML text, so that nothing an answer says can become
// markup. Pictures from elsewhere are not loaded.

import { Fragment, useMemo } from "react";
import { parse, type Block, type Inline } from "../run/markdown.ts";

type Cite = ((id: string, key: number) => React.ReactNode) | undefined;

/** Markdown shows a text; `cite` draws a citation mark [ID:n]. */
export function Markdown({ text, cite }: { text: string; cite?: Cite }): React.ReactNode {
  const tree = useMemo(() => parse(text), [text]);
  return <div className="markdown"><Blocks blocks={tree} cite={cite} /></div>;
}

function Blocks({ blocks, cite }: { blocks: Block[]; cite: Cite }): React.ReactNode {
  return blocks.map((block, i) => <Fragment key={i}>{draw(block, cite)}</Fragment>);
}

function draw(block: Block, cite: Cite): React.ReactNode {
  switch (block.kind) {
    case "paragraph":
      return <p>{line(block.content, cite)}</p>;
    case "heading":
      return (
        <p className={`h h${block.level}`} role="heading" aria-level={Math.min(6, 3 + block.level)}>
          {line(block.content, cite)}
        </p>
      );
    case "code":
      return (
        <pre tabIndex={0}>
          <code>{block.text}</code>
        </pre>
      );
    case "rule":
      return <hr />;
    case "quote":
      return (
        <blockquote>
          <Blocks blocks={block.blocks} cite={cite} />
        </blockquote>
      );
    case "list": {
      const items = block.items.map((item, i) => <li key={i}>{line(item, cite)}</li>);
      return block.ordered ? <ol>{items}</ol> : <ul>{items}</ul>;
    }
    case "table":
      return (
        <div className="scroll" tabIndex={0}>
          <table>
            <thead>
              <tr>
                {block.head.map((cell, i) => (
                  <th key={i}>{line(cell, cite)}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {block.rows.map((row, i) => (
                <tr key={i}>
                  {row.map((cell, j) => (
                    <td key={j}>{line(cell, cite)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
  }
}

function line(parts: Inline[], cite: Cite): React.ReactNode {
  return parts.map((part, key) => {
    if (typeof part === "string") return part;
    switch (part.kind) {
      case "code": return <code key={key}>{part.text}</code>;
      case "em": return <em key={key}>{part.text}</em>;
      case "strong": return <strong key={key}>{line(part.content, cite)}</strong>;
      case "link": return <Fragment key={key}>{link(part.label, part.address)}</Fragment>;
      case "cite": return cite ? cite(part.id, key) : part.text;
      case "break": return <br key={key} />;
    }
  });
}

function link(label: string, address: string): React.ReactNode {
  if (!/^(https?:\/\/|mailto:)/i.test(address)) return label || address;
  return <a href={address} target="_blank" rel="noreferrer noopener">{label || address}</a>;
}
