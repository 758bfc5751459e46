// A command line of curl as the settings of a request. Nothing is run: words are read as a shell
// reads them, without variables and substitutions.

/** Curled is a request that was read. */
export interface Curled {
  method: string;
  url: string;
  headers: { name: string; value: string }[];
  /** Fields of a form or of an object in JSON; absent for other bodies. */
  fields?: { key: string; value: unknown }[];
  /** How fields are sent. */
  as?: "json" | "formData";
  /** A body without fields, and its type. */
  body?: string;
  type?: string;
  proxy?: string;
  /** Seconds. */
  timeout?: number;
  /** Parts of the command that the request lacks. */
  notes: CurlNote[];
}

/** CurlNote names a part of a command that was left out. */
export type CurlNote = "files" | "multipart" | "variables" | "insecure";

/** CurlFault is the reason why a text cannot be read. */
export type CurlFault = "no_curl" | "open_quote" | "no_url";

// words splits the first command of a text; undefined when a quote is not closed.
function words(text: string): { list: string[]; variables: boolean } | undefined {
  const list: string[] = [];
  let now: string | undefined;
  let variables = false;
  const add = (more: string): void => { now = (now ?? "") + more; };
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    const next = text.charAt(at + 1);
    if ((char === "\\" || char === "^") && (next === "\n" || (next === "\r" && text.charAt(at + 2) === "\n"))) {
      at += next === "\n" ? 1 : 2;
    } else if (/\s/.test(char)) {
      if (now !== undefined) list.push(now);
      now = undefined;
      if (char === "\n" && list.length > 0) break;
    } else if (char === "'" || (char === "$" && next === "'")) {
      const quote = char === "'" ? single(text, at + 1) : escaped(text, at + 2);
      if (!quote) return undefined;
      add(quote.text);
      at = quote.end;
    } else if (char === "\"") {
      const quote = double(text, at + 1);
      if (!quote) return undefined;
      add(quote.text);
      variables ||= quote.variables;
      at = quote.end;
    } else if (char === "\\") {
      add(next);
      at++;
    } else if (char === "|" || char === ";" || char === "&" || char === ">" || char === "<") {
      // A separator ends the command, but an address without quotes has the character & in it.
      if (char !== "&" || now === undefined || next === "&") break;
      add(char);
    } else {
      variables ||= char === "$" && /[\w({]/.test(next);
      add(char);
    }
  }
  if (now !== undefined) list.push(now);
  return { list, variables };
}

function single(text: string, from: number): { text: string; end: number } | undefined {
  const end = text.indexOf("'", from);
  return end < 0 ? undefined : { text: text.slice(from, end), end };
}

function double(text: string, from: number): { text: string; end: number; variables: boolean } | undefined {
  let out = "";
  let variables = false;
  for (let at = from; at < text.length; at++) {
    const char = text.charAt(at);
    const next = text.charAt(at + 1);
    if (char === "\"") return { text: out, end: at, variables };
    if (char === "\\" && "\"\\$`\n".includes(next) && next !== "") {
      if (next !== "\n") out += next;
      at++;
      continue;
    }
    variables ||= char === "$" && /[\w({]/.test(next);
    out += char;
  }
  return undefined;
}

const controls: Record<string, string> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f", v: "\v", a: "\x07", e: "\x1b" };

// escaped reads $'...', which browsers write for bodies with line feeds or quotes.
function escaped(text: string, from: number): { text: string; end: number } | undefined {
  let out = "";
  for (let at = from; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === "'") return { text: out, end: at };
    if (char !== "\\") {
      out += char;
      continue;
    }
    const code = /^(?:x([0-9a-f]{1,2})|u([0-9a-f]{1,4})|U([0-9a-f]{1,8})|([0-7]{1,3}))/i.exec(text.slice(at + 1));
    if (code) {
      const [all, x, u, U, octal = "0"] = code;
      const point = Number.parseInt(x ?? u ?? U ?? octal, x ?? u ?? U ? 16 : 8);
      out += point <= 0x10ffff ? String.fromCodePoint(point) : "\ufffd";
      at += all.length;
      continue;
    }
    const next = text.charAt(at + 1);
    out += controls[next] ?? next;
    at++;
  }
  return undefined;
}

// Options with a value, by their short name; those that are not read are known by a dash.
const short: Record<string, string> = {
  X: "request", H: "header", d: "data", F: "form", u: "user", A: "user-agent", e: "referer", b: "cookie", x: "proxy",
  m: "max-time", T: "upload-file", r: "range",
  ...Object.fromEntries([..."ocKwDECyYzUtPQh"].map((letter) => [letter, "-"])),
};
const long = new Set((
  "request header data data-ascii data-raw data-binary data-urlencode json form form-string user user-agent referer " +
  "cookie proxy max-time url upload-file range output cookie-jar config write-out dump-header cert key cacert capath " +
  "connect-timeout retry retry-delay retry-max-time resolve connect-to interface limit-rate max-redirs proto ciphers " +
  "tls-max cert-type key-type pass proxy-user noproxy dns-servers unix-socket trace trace-ascii stderr speed-limit " +
  "speed-time url-query oauth2-bearer aws-sigv4 request-target max-filesize keepalive-time local-port preproxy"
).split(" "));

type Option = [name: string, value: string];

// options reads the arguments of curl; one without a name is an address.
function options(list: string[]): Option[] {
  const out: Option[] = [];
  let plain = false;
  for (let at = 0; at < list.length; at++) {
    const word = list[at] ?? "";
    if (plain || !word.startsWith("-") || word === "-") {
      out.push(["url", word]);
    } else if (word === "--") {
      plain = true;
    } else if (word.startsWith("--")) {
      const name = word.slice(2);
      out.push([name, long.has(name) ? (list[++at] ?? "") : ""]);
    } else {
      for (let i = 1; i < word.length; i++) {
        const letter = word.charAt(i);
        const name = short[letter];
        if (name === undefined) {
          out.push([letter, ""]);
          continue;
        }
        out.push([name, i + 1 < word.length ? word.slice(i + 1) : (list[++at] ?? "")]);
        break;
      }
    }
  }
  return out;
}

/** curled reads a command line. */
export function curled(text: string): Curled | CurlFault {
  const read = words(text.trim().replace(/^[$#>]\s+/, ""));
  if (!read) return "open_quote";
  const [program = "", ...rest] = read.list;
  if (!/^(?:.*[\\/])?curl(?:\.exe)?$/i.test(program)) return "no_curl";
  const request = new Reader();
  for (const option of options(rest)) request.take(option);
  if (request.url === "") return "no_url";
  if (read.variables) request.note("variables");
  return request.result();
}

// Reader collects the parts of a request from options.
class Reader {
  url = "";
  #method = "";
  #headers: Curled["headers"] = [];
  #data: string[] = [];
  #form: string[] = [];
  #json = false;
  #get = false;
  #more: Pick<Curled, "proxy" | "timeout"> = {};
  #notes = new Set<CurlNote>();

  note(note: CurlNote): void {
    this.#notes.add(note);
  }

  take([name, value]: Option): void {
    switch (name) {
      case "url": this.url ||= value; break;
      case "request": this.#method = value.toUpperCase(); break;
      case "I": case "head": this.#method ||= "HEAD"; break;
      case "G": case "get": this.#get = true; break;
      case "header": this.#header(value); break;
      case "user-agent": this.#set("User-Agent", value); break;
      case "referer": this.#set("Referer", value); break;
      case "range": this.#set("Range", `bytes=${value}`); break;
      case "cookie": if (value.includes("=")) this.#set("Cookie", value); else this.note("files"); break;
      case "oauth2-bearer": this.#set("Authorization", `Bearer ${value}`); break;
      case "user": this.#set("Authorization", `Basic ${base64(value.includes(":") ? value : `${value}:`)}`); break;
      case "json": this.#json = true; this.#file(value); break;
      case "data": case "data-ascii": case "data-binary": this.#file(value); break;
      case "data-raw": this.#data.push(value); break;
      case "data-urlencode": case "url-query": this.#encoded(value); break;
      case "form": case "form-string": this.#form.push(value); break;
      case "upload-file": this.note("files"); this.#method ||= "PUT"; break;
      case "proxy": this.#more.proxy = value; break;
      case "max-time": if (Number(value) >= 1) this.#more.timeout = Math.ceil(Number(value)); break;
      case "k": case "insecure": this.note("insecure"); break;
      default:
    }
  }

  #set(name: string, value: string): void {
    this.#headers = this.#headers.filter((each) => each.name.toLowerCase() !== name.toLowerCase());
    this.#headers.push({ name, value });
  }

  #header(line: string): void {
    const [, name = "", value = ""] = /^([^:;]+)[:;]\s*([^]*)$/.exec(line) ?? [];
    if (line.startsWith("@")) this.note("files");
    else if (name.trim() !== "" && (value.trim() !== "" || line.includes(";"))) this.#set(name.trim(), value.trim());
  }

  #file(value: string): void {
    if (value.startsWith("@")) this.note("files");
    else this.#data.push(value);
  }

  #encoded(value: string): void {
    const [, name = "", sign = "", content = ""] = /^([^=@]*)([=@]?)([^]*)$/.exec(value) ?? [];
    if (sign === "@") this.note("files");
    else if (sign === "") this.#data.push(encodeURIComponent(name));
    else this.#data.push(`${name ? `${name}=` : ""}${encodeURIComponent(content)}`);
  }

  result(): Curled {
    const data = this.#json ? this.#data.join("") : this.#data.join("&");
    const sends = this.#data.length + this.#form.length > 0 && !this.#get;
    const out: Curled = {
      method: this.#method || (sends ? "POST" : "GET"), url: this.url, headers: this.#headers, ...this.#more, notes: [],
    };
    if (this.#get && data !== "") out.url += (out.url.includes("?") ? "&" : "?") + data;
    else if (this.#form.length > 0) this.#parts(out);
    else if (this.#data.length > 0) this.#body(out, data);
    out.notes = [...this.#notes];
    return out;
  }

  // parts sends the fields of a form with parts as a form without; files are left out.
  #parts(out: Curled): void {
    this.note("multipart");
    out.as = "formData";
    out.fields = [];
    for (const part of this.#form) {
      const [, key = "", value = ""] = /^([^=]*)=([^]*)$/.exec(part) ?? [];
      if (value.startsWith("@") || value.startsWith("<")) this.note("files");
      else if (key !== "") out.fields.push({ key, value: value.replace(/;type=[^;]*$/, "") });
    }
    out.headers = out.headers.filter(({ name }) => !/^content-type$/i.test(name));
  }

  #body(out: Curled, data: string): void {
    const header = out.headers.find(({ name }) => /^content-type$/i.test(name))?.value;
    const type = header ?? (this.#json ? "application/json" : "application/x-www-form-urlencoded");
    const json = /^application\/json\b/i.test(type);
    const fields = json ? jsonFields(data) : /urlencoded/i.test(type) ? formFields(data) : undefined;
    if (fields && /^(POST|PUT|PATCH)$/.test(out.method)) {
      out.as = json ? "json" : "formData";
      out.fields = fields;
    } else {
      out.body = data;
      out.type = type;
    }
    // The request adds these itself.
    out.headers = out.headers.filter(({ name }) => !/^(content-type|content-length)$/i.test(name));
  }
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

// jsonFields returns the members of an object that arrive as they are: a text that is JSON itself
// would be sent as its value, and braces could be a reference.
function jsonFields(text: string): Curled["fields"] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const list = Object.entries(value).map(([key, each]: [string, unknown]) => ({ key, value: each }));
  return list.every(({ key, value: each }) => key !== "" && arrives(each)) ? list : undefined;
}

function arrives(value: unknown): boolean {
  if (typeof value === "number" || typeof value === "boolean") return true;
  if (typeof value !== "string" || value === "" || value.includes("{")) return false;
  try {
    JSON.parse(value);
    return false;
  } catch {
    return true;
  }
}

// formFields returns the fields of an encoded form; undefined for other texts and repeated names.
function formFields(text: string): Curled["fields"] {
  const out: NonNullable<Curled["fields"]> = [];
  for (const pair of text.split("&")) {
    const [, key = "", value = ""] = /^([^=]+)=([^]*)$/.exec(pair) ?? [];
    if (key === "") return undefined;
    try {
      const [name, content] = [key, value].map((each) => decodeURIComponent(each.replaceAll("+", " ")));
      if (name === undefined || content === undefined || content.includes("{") || content === "") return undefined;
      if (out.some((field) => field.key === name)) return undefined;
      out.push({ key: name, value: content });
    } catch {
      return undefined;
    }
  }
  return out;
}
