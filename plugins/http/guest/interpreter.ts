// interpreter runs the spec in the section easel.http of its file as a tool: it fills the templates
// of requests, reads the responses and maps them to outputs. One module serves every tool that is
// only data.
import { Call, Value, bytesOf, run } from "../../sdk-as/assembly/index";
import { Env, build, elements, fill, numberOf, readJSON, textOf, truthy } from "./expr";
import { read } from "./markup";
import { charsetOf, decode, escapeURL } from "./text";

export function easel_invoke(): i32 {
  heap.reset(); // calls of one tenant share an instance, and nothing of the previous call is used
  return run(invoke);
}

const mostUnits = 4 << 20; // UTF-16 units of one response, unless the spec has a smaller limit
const mostPages = 10;

function invoke(call: Call): Value {
  const answer = call.ask("self.section", Value.object().set("name", Value.text("easel.http")));
  if (answer.isNull()) return new Value();
  const spec = readJSON(answer.get("ok").get("text").str());
  if (spec.isNull()) return call.fail("internal", "section easel.http is missing or not JSON; pack the tool again");
  return new Tool(call, spec).run();
}

/** One call of a tool. */
class Tool {
  private env: Env;
  constructor(private call: Call, private spec: Value) { this.env = new Env(call); }

  run(): Value {
    const unavailable = this.spec.get("unavailable").str();
    if (unavailable != "") return this.call.fail("upstream", unavailable);
    const roots = this.env.roots;
    roots.set("params", merged(this.spec.get("defaults").get("params"), this.call.params()));
    const args = merged(this.spec.get("defaults").get("arguments"), new Value());
    roots.set("args", merged(args, this.call.arguments())).set("status", Value.object());
    if (!this.checks(this.spec.get("checks"))) return new Value();
    const steps = this.spec.get("steps");
    for (let i = 0; i < steps.items.length; i++) {
      const step = steps.items[i];
      if (!this.holds(step.get("when"))) continue;
      if (!this.step(step)) return this.wrong();
    }
    const out = build(this.env, this.spec.get("outputs"), false);
    this.wrong();
    return out;
  }

  /** Reports whether a condition, or each of a list, holds; without one it is true. */
  private holds(when: Value): bool {
    const all = elements(when);
    for (let i = 0; i < all.length; i++) if (!truthy(build(this.env, all[i], false))) return false;
    return true;
  }

  /** Fails with the error of the spec itself, if any. */
  private wrong(): Value {
    if (this.env.error != "" && this.call.code == "") this.call.fail("internal", "spec: " + this.env.error);
    return new Value();
  }

  /** Fails where a condition of the spec holds. */
  private checks(list: Value): bool {
    for (let i = 0; i < list.items.length; i++) {
      const rule = list.items[i];
      if (!this.holds(rule.get("when"))) continue;
      if (this.env.error != "") break;
      this.fail(rule.get("code").str(), short(textOf(build(this.env, rule.get("message"), false))));
      return false;
    }
    this.wrong();
    return this.call.code == "";
  }

  private fail(code: string, message: string): bool {
    this.call.fail(code, message);
    return false;
  }

  /** Makes the request of a step, or one for each page, until there is enough. */
  private step(step: Value): bool {
    const name = step.get("name").str(), pages = step.get("pages");
    if (pages.isNull()) return this.request(step, name);
    const all = Value.list();
    const most = min(<i32>numberOf(build(this.env, pages.get("most"), false)), mostPages);
    const wanted = <i32>numberOf(build(this.env, pages.get("until"), false));
    for (let page = 0; page < most && all.items.length < wanted; page++) {
      this.env.roots.set("page", Value.number(page)).set("count", Value.number(all.items.length));
      if (!this.request(step, name)) return false;
      const items = elements(build(this.env, pages.get("items"), false));
      for (let i = 0; i < items.length; i++) all.push(items[i]);
      if (items.length == 0) break;
    }
    this.env.roots.set(name + "_items", all);
    return this.env.error == "";
  }

  private request(step: Value, name: string): bool {
    const request = this.prepared(step);
    if (this.env.error != "") return false;
    const answer = this.call.ask("http.fetch", request);
    if (answer.isNull()) return false; // cancelled
    if (!answer.get("error").isNull()) return this.refused(answer.get("error"));
    const ok = answer.get("ok");
    const status = ok.get("status"), limit = min(<i32>this.spec.get("max_bytes").num(mostUnits), mostUnits);
    this.env.roots.get("status").set(name, status);
    this.env.roots.set("code", status).set("headers", ok.get("headers"));
    if (ok.get("body").raw.length > limit || ok.get("body_base64").raw.length > limit * 4 / 3) {
      return this.fail("upstream", "the answer has more than " + limit.toString() + " characters");
    }
    return this.answered(step, name, new Answer(ok));
  }

  /** The request of a step, with all templates filled. */
  private prepared(step: Value): Value {
    const request = Value.object(), env = this.env;
    const method = step.get("method").str();
    request.set("method", Value.text(method == "" ? "GET" : method));
    let url = textOf(fill(env, step.get("url").str(), true));
    url = this.based(url);
    const query = pairs(build(env, step.get("query"), true));
    if (query != "") url += (url.includes("?") ? "&" : "?") + query;
    request.set("url", Value.text(url));
    const headers = merged(build(env, this.spec.get("headers"), true), build(env, step.get("headers"), true));
    if (!step.get("json").isNull()) {
      headers.set("Content-Type", Value.text("application/json"));
      request.set("body", Value.text(build(env, step.get("json"), true).json()));
    } else if (!step.get("form").isNull()) {
      headers.set("Content-Type", Value.text("application/x-www-form-urlencoded"));
      request.set("body", Value.text(pairs(build(env, step.get("form"), true))));
    } else if (!step.get("body").isNull()) {
      request.set("body", Value.text(textOf(build(env, step.get("body"), true))));
    }
    for (let i = 0; i < headers.items.length; i++) headers.items[i] = Value.text(textOf(headers.items[i]));
    return request.set("headers", headers);
  }

  /** A URL at the base address of the node, which replaces any host, or else of the spec. */
  private based(url: string): string {
    const named = this.spec.get("base_param").str(), param = named == "" ? "base_url" : named;
    const roots = this.env.roots;
    let base = textOf(roots.get("params").get(param));
    if (base == "") base = textOf(roots.get("args").get(param));
    const relative = url.startsWith("/");
    if (base == "" && !relative) return url;
    if (base == "") base = textOf(fill(this.env, this.spec.get("base_url").str(), true));
    while (base.endsWith("/")) base = base.substring(0, base.length - 1);
    if (relative) return base + url;
    const path = url.indexOf("/", url.indexOf("://") + 3);
    return path < 0 ? base : base + url.substring(path);
  }

  /** Reports why a request has no response. Some codes of the host are not codes of a plugin. */
  private refused(error: Value): bool {
    const code = error.get("code").str();
    const own = ["upstream", "rate_limited", "unauthorized", "invalid_argument", "not_found"].includes(code);
    // advice for plugin authors does not help the user
    this.call.fail(own ? code : "unauthorized", error.get("message").str().split("; read it in pieces")[0]);
    if (!error.get("data").isNull()) this.call.data = error.get("data");
    return false;
  }

  /** Reads the answer to a step; a refusal of the service becomes an error with a code. */
  private answered(step: Value, name: string, answer: Answer): bool {
    const type = answer.header("content-type"), text = answer.text();
    const good = answer.status < 400 || allowed(step.get("allow"), answer.status);
    if (text == null) {
      if (!good) return this.status(answer, "");
      const kind = type == "" ? "no content type" : type;
      return this.fail("upstream", "the answer is text in a charset that is not read here: " + kind);
    }
    const error = this.read(step, text, type);
    if (!good) {
      this.env.roots.set("body", error == "" ? this.env.roots.get("body") : new Value());
      if (!this.checks(step.get("refusals"))) return false;
      if (error != "") return this.status(answer, "");
      return this.status(answer, short(textOf(build(this.env, this.spec.get("error_message"), false))));
    }
    if (error != "") return this.fail("upstream", error);
    this.env.roots.set(name, this.env.roots.get("body"));
    return this.checks(step.get("errors")) && this.env.error == "";
  }

  /** Parses a response into body and returns its error, or "". */
  private read(step: Value, text: string, type: string): string {
    const as = step.get("answer").str(), roots = this.env.roots;
    if (as == "text") {
      roots.set("body", Value.text(text));
      return "";
    }
    const start = text.trimStart();
    if (as == "xml" || as == "html") {
      const page = type.startsWith("text/html");
      if (as == "xml" && (page || !start.startsWith("<"))) return "the answer is not XML, but " + said(type, start);
      const doc = read(text, as == "html");
      roots.set("body", doc.root);
      return doc.error == "" ? "" : "the answer cannot be read: " + doc.error;
    }
    let json = start;
    if (as == "jsonp") {
      const open = start.indexOf("("), close = start.lastIndexOf(")");
      if (open >= 0 && close > open) json = start.substring(open + 1, close);
    }
    const v = readJSON(json);
    roots.set("body", v);
    if (!v.isNull() || json.trim() == "null") return "";
    return "the answer is not JSON that can be read, but " + said(type, start);
  }

  /** Fails with the code of a status. */
  private status(answer: Answer, message: string): bool {
    const s = answer.status;
    let code = "upstream", text = "the service answered " + s.toString();
    if (s == 401 || s == 403) {
      code = "unauthorized";
      text += ": it refuses the key or the request";
    } else if (s == 404) {
      code = "not_found";
    } else if (s == 429) {
      code = "rate_limited";
      text += ": too many requests";
    } else if (s < 500) {
      code = "invalid_argument";
    }
    this.call.fail(code, message == "" ? text : text + ": " + message);
    const after = answer.header("retry-after");
    const seconds = parseFloat(after);
    if (code == "rate_limited" && !isNaN(seconds) && seconds >= 0) {
      this.call.data = Value.object().set("retry_after_ms", Value.number(Math.min(seconds, 86400) * 1000));
      this.call.message += "; try again after " + after + " s";
    }
    return false;
  }
}

/** An answer of a service. */
class Answer {
  status: i32;
  constructor(private ok: Value) { this.status = <i32>ok.get("status").num(); }

  /** A header by its name in lower case; hosts differ in the case of names. */
  header(name: string): string {
    const headers = this.ok.get("headers");
    for (let i = 0; i < headers.names.length; i++) {
      if (headers.names[i].toLowerCase() == name) return headers.items[i].str();
    }
    return "";
  }

  /** The body as text; null in a charset that cannot be read. */
  text(): string | null {
    if (this.ok.get("body_base64").isNull()) {
      const text = this.ok.get("body").str();
      return text.length > 0 && text.charCodeAt(0) == 0xfeff ? text.substring(1) : text;
    }
    return decode(Uint8Array.wrap(bytesOf(this.ok)), charsetOf(this.header("content-type")));
  }
}

function allowed(list: Value, status: i32): bool {
  for (let i = 0; i < list.items.length; i++) if (<i32>list.items[i].num() == status) return true;
  return false;
}

/** Describes a response of an unexpected type, for the error. */
function said(type: string, text: string): string {
  if (text == "") return "empty";
  const page = text.startsWith("<") ? ", a page of the service or of something before it" : "";
  return (type == "" ? "text" : type) + page;
}

function short(s: string): string { return s.length > 300 ? s.substring(0, 300) + "..." : s; }

/** Returns the members of under, overridden by those of over that are not null. */
function merged(under: Value, over: Value): Value {
  const out = Value.object();
  for (let i = 0; i < under.items.length; i++) out.set(under.names[i], under.items[i]);
  for (let i = 0; i < over.items.length; i++) if (!over.items[i].isNull()) out.set(over.names[i], over.items[i]);
  return out;
}

/** name=value pairs of a query or a form; a list is repeated. */
function pairs(v: Value): string {
  const parts: string[] = [];
  for (let i = 0; i < v.items.length; i++) {
    const values = elements(v.items[i]);
    for (let k = 0; k < values.length; k++) parts.push(escapeURL(v.names[i]) + "=" + escapeURL(textOf(values[k])));
  }
  return parts.join("&");
}
