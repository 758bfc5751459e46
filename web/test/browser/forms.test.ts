// Forms of steps in a real browser: filled by their visible labels, in both languages, and compared
// with the document.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Locator, Page } from "playwright-core";
import { pack } from "../../canvas/link.ts";
import { audit } from "./audit.ts";
import { allow, ask, counted, missing, raise, reached, type Stage } from "./stage.ts";

const desktop = { width: 1440, height: 1000 };

const node = (name: string, params: object, upstream: string[], downstream: string[]): object => ({
  obj: { component_name: name, params }, upstream, downstream,
});

const rules = [
  { cpn_id: "sys.query", operator: ">=", value: "42" },
  { cpn_id: "sys.query", operator: "zz", value: "" },
];
const script = "def main(): return 1";
const document = JSON.stringify({
  components: {
    begin: node("Begin", { mode: "Dialog" }, [], ["Switch:S"]),
    "Switch:S": node("Switch", { conditions: [{ logical_operator: "and", items: rules, to: ["ListOperations:L"] }] },
      ["begin"], ["ListOperations:L"]),
    "ListOperations:L": node("ListOperations", { query: "sys.files", operations: "sort" }, ["Switch:S"],
      ["VariableAssigner:V"]),
    "VariableAssigner:V": node("VariableAssigner", { variables: [{ variable: "sys.query", operator: "set" }] },
      ["ListOperations:L"], ["CodeExec:C"]),
    "CodeExec:C": node("CodeExec", { lang: "python", script, outputs: { total: { type: "Number" } } },
      ["VariableAssigner:V"], ["Message:M"]),
    "Message:M": node("Message", { content: ["{CodeExec:C@total}"] }, ["CodeExec:C"], []),
  },
});

describe("forms", { skip: missing() }, () => {
  let stage: Stage;
  before(async () => { stage = await raise(); });
  after(() => stage.close());

  async function visit(language: "en" | "zh"): Promise<{ page: Page; done(): Promise<void> }> {
    const { page, done } = await stage.visit(`#${await pack(document)}`, desktop);
    await page.locator(".react-flow__node").first().waitFor();
    if (language === "zh") await page.getByRole("button", { name: "中文" }).click();
    return { page, done: () => done() };
  }

  async function form(page: Page, id: string): Promise<Locator> {
    await page.locator(`.react-flow__node[data-id="${id}"]`).click({ force: true, position: { x: 20, y: 20 } });
    await page.locator(`.inspector[data-node="${id}"] .settings`).waitFor();
    return page.locator(".inspector .settings");
  }

  // stored waits until the document of the draft has a value in a param.
  async function stored(page: Page, text: string): Promise<void> {
    await reached(
      page,
      (wanted) =>
        new Promise<boolean>((resolve) => {
          const opening = indexedDB.open("easel");
          opening.onsuccess = () => {
            const all = opening.result.transaction("drafts").objectStore("drafts").getAll();
            all.onsuccess = () => {
              opening.result.close();
              resolve(JSON.stringify(all.result).includes(wanted));
            };
          };
        }),
      text,
    );
  }

  test("operators are menus in words; synonyms are known, unknown words stay and are marked", async () => {
    const { page, done } = await visit("en");
    const settings = await form(page, "Switch:S");
    const menus = settings.getByLabel("Comparison", { exact: true });
    assert.equal(await menus.nth(0).inputValue(), "≥");
    assert.equal(await menus.nth(0).locator("option:checked").innerText(), "at least");
    assert.equal(await menus.nth(1).locator("option:checked").innerText(), "zz (unknown)");
    await menus.nth(1).selectOption({ label: "is empty" });
    await stored(page, '"operator":"empty"');
    assert.equal(await settings.getByRole("combobox", { name: "Kind of Value" }).count(), 1, "no value for is empty");
    await audit(page, "switch");
    await done();
  });

  test("options have labels in Chinese, and the document keeps its words", async () => {
    const { page, done } = await visit("zh");
    const settings = await form(page, "ListOperations:L");
    await settings.getByRole("radiogroup", { name: "顺序" }).or(settings.getByRole("radiogroup", { name: "排序" }))
      .getByText("降序").click();
    await stored(page, '"desc"');
    await settings.getByLabel("操作", { exact: true }).selectOption({ label: "筛选" });
    await stored(page, '"filter"');
    assert.equal(await settings.getByText("降序").count(), 0, "hidden, and kept");
    await audit(page, "list");
    await done();
  });

  test("what is typed as a text stays a text; a number is chosen by the menu of types", async () => {
    const { page, done } = await visit("en");
    const settings = await form(page, "VariableAssigner:V");
    await settings.getByLabel("Value", { exact: true }).click();
    await page.keyboard.type("1.0");
    await stored(page, '"parameter":"1.0"');
    await settings.getByLabel("Kind of Value").selectOption({ label: "123" });
    await stored(page, '"parameter":1');
    await settings.getByLabel("Operation", { exact: true }).selectOption({ label: "empty it" });
    await settings.getByLabel("Kind of Value").waitFor({ state: "detached" });
    await done();
  });

  test("a renamed result takes the references to it along", async () => {
    const { page, done } = await visit("en");
    const settings = await form(page, "CodeExec:C");
    await settings.getByLabel("Name of result 1").fill("sum");
    await page.keyboard.press("Tab");
    await stored(page, "{CodeExec:C@sum}");
    await settings.getByLabel("Type of result 1").selectOption({ label: "list of texts" });
    await stored(page, '"Array<String>"');
    await audit(page, "code");
    await done();
  });

  test("closed parts say what differs from the defaults", async () => {
    const { page, done } = await visit("en");
    const settings = await form(page, "CodeExec:C");
    await settings.locator("summary", { hasText: "When it fails" }).click();
    await settings.getByLabel("If it still fails", { exact: true }).selectOption({ label: "Use a fallback" });
    await settings.getByLabel("Fallback", { exact: true }).waitFor();
    await settings.locator("summary", { hasText: "If it still fails: Use a fallback" }).waitFor();
    await stored(page, '"comment"');
    await done();
  });

  test("the line of a script that failed is marked until it is edited, and a new script has a start", async () => {
    const failing = "function main({ text }) {\n  const parts = {};\n  return parts.of.text;\n}";
    const code = (params: object): object =>
      node("CodeExec", { lang: "javascript", arguments: { text: "sys.query" }, ...params }, ["begin"], ["Message:M"]);
    const canvas = (params: object): Promise<string> => pack(JSON.stringify({
      components: {
        begin: node("Begin", { mode: "conversational" }, [], ["CodeExec:C"]),
        "CodeExec:C": code(params),
        "Message:M": node("Message", { content: ["{CodeExec:C@result}"] }, ["CodeExec:C"], []),
      },
    }));
    const { page, done } = await stage.visit(`#${await canvas({ script: failing })}`, desktop);
    await allow(page);
    await ask(page, "hello");
    await page.locator('.box[data-status="failed"]').waitFor();
    const settings = await form(page, "CodeExec:C");
    const marked = settings.locator(".cm-line.failed");
    await marked.waitFor();
    assert.equal(await marked.innerText(), "  return parts.of.text;");
    assert.equal(await settings.locator(".cm-lineNumbers").getByText("3", { exact: true }).count(), 1);
    await audit(page, "a failed script");
    await marked.click();
    await page.keyboard.press("End");
    await page.keyboard.type("(");
    await counted(marked, 0, "an edited line may be right");
    await settings.getByText("return parts.of.text;()").waitFor();
    await done();

    const fresh = await stage.visit(`#${await canvas({ script: "" })}`, desktop);
    const empty = await form(fresh.page, "CodeExec:C");
    await empty.getByRole("button", { name: "Begin with a function" }).click();
    await stored(fresh.page, JSON.stringify("function main({ text }) {\n  return text;\n}\n").slice(1, -1));
    await fresh.done();
  });

  test("the settings of a canvas have a panel, and are stored in the document", async () => {
    const { page, done } = await visit("en");
    await page.getByRole("button", { name: "Settings of the canvas" }).click();
    const panel = page.getByRole("dialog", { name: "Settings of the canvas" });
    await panel.getByLabel("Models that stand in", { exact: true }).fill("spare@Local");
    await page.keyboard.press("Enter");
    await stored(page, '"fallback_models":["spare@Local"]');
    await panel.getByLabel("Show uploads to models", { exact: true }).uncheck();
    await panel.locator("summary", { hasText: "When it fails" }).click();
    await panel.getByLabel("Model calls", { exact: true }).fill("2");
    await panel.locator("summary", { hasText: "Advanced" }).click();
    await panel.getByLabel("Order of steps", { exact: true }).selectOption({ label: "In batches" });
    for (const change of [
      '"path":["settings","files_to_model"],"after":false', '"path":["settings","limits"],"after":{"model_calls":2}',
      '"path":["settings","scheduling"],"after":"batch"',
    ]) await stored(page, change);
    await audit(page, "settings of a canvas");
    if (process.env["LOOK"]) await page.screenshot({ path: `${process.env["LOOK"]}/canvas-settings.png` });
    await panel.getByRole("button", { name: "Done" }).click();
    await page.locator(".board").focus();
    await page.keyboard.press("Control+z");
    await page.getByRole("button", { name: "Settings of the canvas" }).click();
    await panel.locator("summary", { hasText: "Advanced" }).click();
    const order = panel.getByLabel("Order of steps", { exact: true });
    assert.equal(await order.inputValue(), "", "the last change was undone");
    await done();
  });

  test("settings that cannot be read are named in their panel, and no edit drops them", async () => {
    const settings = { limits: ["9"], approval: ["Email", 5], colour: 1 };
    const hash = `#${await pack(JSON.stringify({ ...(JSON.parse(document) as object), settings }))}`;
    const { page, done } = await stage.visit(hash, desktop);
    await page.getByRole("button", { name: "Settings of the canvas" }).click();
    const panel = page.getByRole("dialog", { name: "Settings of the canvas" });
    await panel.getByText("expected a list of names").waitFor();
    await panel.getByText("expected an object of numbers by name").waitFor();
    await panel.getByRole("alert").getByText("unknown setting of the canvas").waitFor();
    await panel.getByText('["Email",5]', { exact: true }).waitFor();
    await panel.getByLabel("Models that stand in", { exact: true }).fill("spare@Local");
    await page.keyboard.press("Enter");
    await stored(page, '"path":["settings","fallback_models"],"after":["spare@Local"]');
    await panel.getByText('["Email",5]', { exact: true }).waitFor();
    await audit(page, "settings that cannot be read");
    await done();

    const list = `#${await pack(JSON.stringify({ ...(JSON.parse(document) as object), settings: ["theme"] }))}`;
    const other = await stage.visit(list, desktop);
    await other.page.getByRole("button", { name: "Settings of the canvas" }).click();
    await other.page.getByRole("alert").getByText("expected an object with limits and prices").waitFor();
    await other.page.locator("dialog .cm-content", { hasText: "theme" }).waitFor();
    await other.done();
  });

  test("a category that is a text stays when another one is edited", async () => {
    const category = { Refund: { description: "money back", to: ["Message:M"] }, Odd: "text" };
    const hash = `#${await pack(JSON.stringify({ components: {
      begin: node("Begin", {}, [], ["Categorize:C"]),
      "Categorize:C": node("Categorize", { category_description: category }, ["begin"], ["Message:M"]),
      "Message:M": node("Message", { content: ["x"] }, ["Categorize:C"], []),
    } }))}`;
    const { page, done } = await stage.visit(hash, desktop);
    const fields = await form(page, "Categorize:C");
    await fields.getByText("nothing of it is lost").waitFor();
    await fields.getByText('{"Refund"').waitFor();
    await done();
  });
});
