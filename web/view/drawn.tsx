// Renders Markdown as elements, never as an HTML string: answers cannot inject markup. Loaded with
// the parser.

import { Fragment, memo, useState } from "react";
import { Growing } from "../run/growing.ts";
import type { Block, Inline } from "../run/markdown.ts";

const guides = "https://guides.invalid/"; // the bundler writes links between guides so

type Cite = ((id: string, key: number) => React.ReactNode) | undefined;

/** DrawnProps are a text and how to draw it. */
export interface DrawnProps {
  text: string;
  /** Draws a citation mark [ID:n]. */
  cite?: Cite;
  /** More text may follow. */
  open?: boolean;
}

/** Drawn draws a text; sections of it that did not change are not drawn again. */
export default function Drawn({ text, cite, open }: DrawnProps): React.ReactNode {
  const [growing] = useState(() => new Growing());
  return growing.read(text, open).map((blocks, i) => <Blocks key={i} blocks={blocks} cite={cite} />);
}

const Blocks = memo(function Blocks({ blocks, cite }: { blocks: Block[]; cite: Cite }): React.ReactNode {
  return blocks.map((block, i) => <Fragment key={i}>{draw(block, cite)}</Fragment>);
});

function draw(block: Block, cite: Cite): React.ReactNode {
  switch (block.kind) {
    case "paragraph":
      return <p>{line(block.content, cite)}</p>;
    case "line":
      return line(block.content, cite);
    case "plain":
      return <p className="plain">{block.text}</p>;
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
    case "list":
      return <List list={block} cite={cite} />;
    case "table":
      return <Table table={block} cite={cite} />;
  }
}

function List({ list, cite }: { list: Block & { kind: "list" }; cite: Cite }): React.ReactNode {
  const items = list.items.map((blocks, i) => (
    <li key={i}>
      <Blocks blocks={blocks} cite={cite} />
    </li>
  ));
  if (!list.ordered) return <ul>{items}</ul>;
  return <ol start={list.start === 1 ? undefined : list.start}>{items}</ol>;
}

function Table({ table, cite }: { table: Block & { kind: "table" }; cite: Cite }): React.ReactNode {
  const { align, head, rows } = table;
  return (
    <div className="scroll" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {head.map((cell, i) => (
              <th key={i} data-align={align[i]}>
                {line(cell, cite)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i}>
              {row.map((cell, j) => (
                <td key={j} data-align={align[j]}>
                  {line(cell, cite)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function line(parts: Inline[], cite: Cite): React.ReactNode {
  return parts.map((part, key) => {
    if (typeof part === "string") return part;
    switch (part.kind) {
      case "code":
        return <code key={key}>{part.text}</code>;
      case "em":
        return <em key={key}>{line(part.content, cite)}</em>;
      case "strong":
        return <strong key={key}>{line(part.content, cite)}</strong>;
      case "del":
        return <del key={key}>{line(part.content, cite)}</del>;
      case "link":
        return (
          <a
            key={key}
            {...(part.address.startsWith(guides)
              ? { href: `#docs=${part.address.slice(guides.length)}` }
              : { href: part.address, target: "_blank", rel: "noreferrer noopener" })}
          >
            {line(part.content, cite)}
          </a>
        );
      case "cite":
        return cite ? cite(part.id, key) : part.text;
      case "break":
        return <br key={key} />;
    }
  });
}
