// The text of docx, xlsx and pptx files: headings as #, lists as -, tables as rows between |.
// Pictures, layout, headers and footers are left out.

import { ReadError } from "./errors.ts";
import { attribute, tokens } from "./xml.ts";
import { Zip } from "./zip.ts";

/** officeText reads an Office file by the parts that it has. */
export async function officeText(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const zip = new Zip(bytes);
  const text = zip.has("word/document.xml") ? prose(await zip.text("word/document.xml"))
    : zip.has("xl/workbook.xml") ? await sheets(zip)
    : zip.has("ppt/presentation.xml") ? await slides(zip) : undefined;
  if (text === undefined) throw new ReadError("archive");
  if (text.trim() === "") throw new ReadError("no_text");
  return text;
}

function row(cells: string[]): string {
  const line = cells.map((cell) => cell.replaceAll("|", "\\|").replace(/\s+/g, " ").trim());
  return `| ${line.join(" | ")} |`;
}

function table(rows: string[][]): string {
  const [head = [], ...rest] = rows;
  return [row(head), row(head.map(() => "---")), ...rest.map(row)].join("\n");
}

// prose reads the paragraphs and tables of a Word document or a slide; both have the same local
// names.
function prose(xml: string): string {
  const blocks: string[] = [];
  let [text, mark, within] = ["", "", false];
  let rows: string[][] = [];
  let cells: string[] = [];
  let tables = 0; // a table inside a cell is text of the cell
  const paragraph = (): void => {
    if (text.trim() !== "" && tables > 0) cells.push(`${cells.pop() ?? ""} ${text}`);
    else if (text.trim() !== "") blocks.push(mark + text.trim());
    [text, mark] = ["", ""];
  };
  for (const token of tokens(xml)) {
    if (token.kind === "text") {
      if (within) text += token.text;
    } else if (token.kind === "open") {
      const value = attribute(token.attributes, "val");
      switch (token.name) {
        case "t": within = true; break;
        case "tab": text += "\t"; break;
        case "br": case "cr": text += "\n"; break;
        case "pStyle": mark ||= heading(value); break;
        case "numPr": mark ||= "- "; break;
        case "tbl": if (++tables === 1) rows = []; break;
        case "tr": if (tables === 1) cells = []; break;
        case "tc": if (tables === 1) cells.push(""); break;
      }
    } else {
      switch (token.name) {
        case "t": within = false; break;
        case "p": paragraph(); break;
        case "tr": if (tables === 1) rows.push(cells); break;
        case "tbl": if (--tables === 0 && rows.length > 0) blocks.push(table(rows)); break;
      }
    }
  }
  paragraph();
  return blocks.join("\n\n");
}

function heading(style: string): string {
  const [, level] = /^heading ?([1-6])$/i.exec(style) ?? [];
  return level ? "#".repeat(Number(level)) + " " : /^title$/i.test(style) ? "# " : "";
}

async function slides(zip: Zip): Promise<string> {
  const targets = await related(zip, "ppt/presentation.xml");
  const texts: string[] = [];
  for (const token of tokens(await zip.text("ppt/presentation.xml"))) {
    if (token.kind !== "open" || token.name !== "sldId") continue;
    const text = prose(await zip.text(targets.get(attribute(token.attributes, "r:id")) ?? ""));
    if (text) texts.push(text);
  }
  return texts.join("\n\n");
}

async function sheets(zip: Zip): Promise<string> {
  const targets = await related(zip, "xl/workbook.xml");
  const strings = sharedStrings(await zip.text("xl/sharedStrings.xml"));
  const dates = dateStyles(await zip.text("xl/styles.xml"));
  const blocks: string[] = [];
  for (const token of tokens(await zip.text("xl/workbook.xml"))) {
    if (token.kind !== "open" || token.name !== "sheet") continue;
    const part = targets.get(attribute(token.attributes, "r:id")) ?? "";
    const rows = cellsOf(await zip.text(part), strings, dates);
    if (rows.length > 0) blocks.push(`# ${attribute(token.attributes, "name")}`, table(rows));
  }
  return blocks.join("\n\n");
}

// related returns the parts that a part refers to, by the ids of the references.
async function related(zip: Zip, part: string): Promise<Map<string, string>> {
  const cut = part.lastIndexOf("/") + 1;
  const targets = new Map<string, string>();
  for (const token of tokens(await zip.text(`${part.slice(0, cut)}_rels/${part.slice(cut)}.rels`))) {
    if (token.kind !== "open" || token.name !== "Relationship") continue;
    const target = new URL(attribute(token.attributes, "Target"), `file:///${part}`).pathname.slice(1);
    targets.set(attribute(token.attributes, "Id"), target);
  }
  return targets;
}

function sharedStrings(xml: string): string[] {
  const strings: string[] = [];
  let within = false;
  for (const token of tokens(xml)) {
    if (token.kind === "open" && token.name === "si") strings.push("");
    else if (token.kind === "text" && within) strings.push(strings.pop() + token.text);
    else if (token.kind !== "text" && token.name === "t") within = token.kind === "open";
  }
  return strings;
}

// dateStyles returns, by cell format, whether it shows a number as a date or a time.
function dateStyles(xml: string): boolean[] {
  const formats = new Map<string, string>();
  const dates: boolean[] = [];
  let inside = false;
  for (const token of tokens(xml)) {
    if (token.kind === "text") continue;
    if (token.name === "cellXfs") inside = token.kind === "open";
    if (token.kind !== "open") continue;
    const id = attribute(token.attributes, "numFmtId");
    if (token.name === "numFmt") formats.set(id, attribute(token.attributes, "formatCode"));
    if (token.name === "xf" && inside)
      dates.push(/^(1[4-9]|2[0-2]|4[5-7])$/.test(id) || showsDate(formats.get(id) ?? ""));
  }
  return dates;
}

// showsDate looks for the letters of dates outside of quoted text, colours and escapes.
function showsDate(format: string): boolean {
  return /[ymdhs]/i.test(format.replace(/"[^"]*"|\[[^\]]*\]|\\./g, ""));
}

const mostColumns = 1_000;
const mostCells = 2_000_000; // of a sheet, empty ones before the last of a row included

function cellsOf(xml: string, strings: string[], dates: boolean[]): string[][] {
  const rows: string[][] = [];
  let cells: string[] = [];
  let count = 0;
  let [value, within] = ["", false];
  let cell = { column: 0, type: "", style: 0 };
  for (const token of tokens(xml)) {
    if (token.kind === "text") {
      if (within) value += token.text;
    } else if (token.name === "row") {
      if (token.kind === "open") cells = [];
      else if (cells.some(Boolean)) {
        count += cells.length;
        if (count > mostCells) throw new ReadError("too_long", `${mostCells} cells`);
        rows.push(Array.from(cells, (text) => text ?? ""));
      }
    } else if (token.name === "v" || token.name === "t") within = token.kind === "open";
    else if (token.name === "c" && token.kind === "open") {
      const place = columnOf(attribute(token.attributes, "r"));
      const [type, style] = [attribute(token.attributes, "t"), Number(attribute(token.attributes, "s"))];
      cell = { column: place ?? cells.length, type, style };
      value = "";
    } else if (token.name === "c" && cell.column < mostColumns) {
      cells[cell.column] = shown(value, cell.type, dates[cell.style] === true, strings);
    }
  }
  return rows;
}

function shown(value: string, type: string, date: boolean, strings: string[]): string {
  switch (type) {
    case "s": return strings[Number(value)] ?? "";
    case "b": return value === "1" ? "TRUE" : "FALSE";
    case "": case "n": return date ? dateOf(value) : value;
    default: return value;
  }
}

// columnOf reads the letters of a reference such as AB12, from 0.
function columnOf(reference: string): number | undefined {
  const [letters] = /^[A-Z]{1,3}/.exec(reference) ?? [];
  return letters === undefined
    ? undefined
    : [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

// dateOf writes the days since 1899-12-30 as a date, a time or both.
function dateOf(value: string): string {
  const days = Number(value);
  if (value === "" || !(days >= 0 && days < 2_958_466)) return value;
  const [date = "", time = ""] = new Date(Math.round((days - 25_569) * 86_400) * 1_000)
    .toISOString()
    .replace(".000Z", "")
    .split("T");
  return days < 1 ? time : time === "00:00:00" ? date : `${date} ${time}`;
}
