// Answers for components that work outside and that a page cannot reach: web
// searches, markets, mail, databases. Each says that it is a stand-in, so that a
// canvas runs to its end and nobody takes the result for one. Documents and sheets
// are written for real, as far as text can be.

import type { Tool } from "@easel/engine";

/** Descriptor of a written file, as canvases pass it on. The content is in base64. */
interface Written {
  doc_id: string;
  filename: string;
  mime_type: string;
  size: number;
  base64: string;
}

const searches = [
  "TavilySearch", "TavilyExtract", "DuckDuckGo", "Google", "SearXNG", "Bing", "BGPT", "Keenable", "QueritSearch", "QueritContents",
  "Wikipedia", "ArXiv", "PubMed", "GitHub", "GoogleScholar", "Crawler", "Jin10", "QWeather", "TuShare",
];
const reports = ["YahooFinance", "WenCai", "AkShare", "DeepL"];

/** standIns is a tool for every such component. */
export const standIns: Record<string, Tool> = {
  ...Object.fromEntries(searches.map((name) => [name, { run: (args) => passage(name, asked(args)) } satisfies Tool])),
  ...Object.fromEntries(reports.map((name) => [name, { run: (args) => ({ report: notice(name, asked(args)) }) } satisfies Tool])),
  ExeSQL: { run: (args) => ({ formalized_content: notice("ExeSQL", asked(args)), json: [] }) },
  Browser: { run: (args) => ({ content: notice("Browser", asked(args)), downloaded_files: [] }) },
  Email: { run: () => ({ success: false }) },
  DocGenerator: { run: (args, { params }) => ({ success: true, download: JSON.stringify(written(args, params)) }) },
  ExcelProcessor: { run: (args, { params }) => sheet(args, params) },
};

/** invented reports whether the stand-in for a component makes its answer up, instead of doing the work here. */
export function invented(component: string, args: Record<string, unknown>): boolean {
  return component !== "DocGenerator" && !(component === "ExcelProcessor" && args["operation"] === "output");
}

function asked(args: Record<string, unknown>): string {
  const [first] = Object.values(args);
  return typeof first === "string" ? first : JSON.stringify(first ?? "");
}

// What was asked is not repeated: a model would take it for a finding.
function notice(name: string, text: string): string {
  return /\p{Script=Han}/u.test(text) ? `替身：没有调用 ${name}。` : `Stand-in: ${name} was not called.`;
}

function passage(name: string, text: string): Record<string, unknown> {
  if (text === "") return { chunks: [], doc_aggs: [] };
  const content = notice(name, text);
  const source = `${name} (stand-in)`;
  return {
    chunks: [{ id: `stand-in-${name}`, content, document_id: source, document_name: source, similarity: 1 }],
    doc_aggs: [{ doc_name: source, doc_id: source, count: 1 }],
    json: [{ title: source, content }],
  };
}

// A page writes text; a PDF or a Word file becomes the HTML from which one is printed.
function written(args: Record<string, unknown>, params: Record<string, unknown>): Written {
  const [title, content] = [args["title"], args["content"]].map((value) => (typeof value === "string" ? value : ""));
  const format = String(params["output_format"] ?? "pdf");
  const name = String(args["filename"] || "document").replace(/[^\p{L}\p{N}._-]+/gu, "-");
  if (format === "txt") return file(`${name}.txt`, "text/plain", [title, content].filter(Boolean).join("\n\n"));
  if (format === "md" || format === "markdown") return file(`${name}.md`, "text/markdown", (title ? `# ${title}\n\n` : "") + content);
  const body = (content ?? "").split(/\n{2,}/).map((part) => `<p>${plain(part).replaceAll("\n", "<br>")}</p>`).join("\n");
  return file(`${name}.html`, "text/html", `<!doctype html>\n<meta charset="utf-8">\n<title>${plain(title ?? "")}</title>\n<h1>${plain(title ?? "")}</h1>\n${body}\n`);
}

function plain(text: string): string {
  return text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
}

function sheet(args: Record<string, unknown>, params: Record<string, unknown>): Record<string, unknown> {
  if (args["operation"] !== "output") return { summary: notice("ExcelProcessor", asked(args)), data: {}, markdown: "" };
  const rows = (Array.isArray(args["transform_data"]) ? args["transform_data"] : []).filter((row): row is Record<string, unknown> => typeof row === "object" && row !== null);
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = [names, ...rows.map((row) => names.map((name) => String(row[name] ?? "")))];
  const csv = lines.map((line) => line.map((cell) => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(",")).join("\n") + "\n";
  const made = file(`${String(params["output_filename"] ?? "output")}.csv`, "text/csv", csv);
  return {
    summary: `${made.filename}: ${rows.length} rows`, data: { [made.filename]: rows },
    markdown: [names, names.map(() => "---"), ...lines.slice(1)].map((line) => `| ${line.join(" | ")} |`).join("\n"), attachment: { ...made, format: "csv", file_name: made.filename },
  };
}

function file(filename: string, type: string, text: string): Written {
  const bytes = new TextEncoder().encode(text);
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return { doc_id: crypto.randomUUID().replaceAll("-", ""), filename, mime_type: type, size: bytes.length, base64: btoa(binary) };
}
