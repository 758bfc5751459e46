// A canvas in which much happens at once, and a model server that answers the requests of each
// group when all of them are there: so they overlap on a machine of any speed.

import type { Page } from "playwright-core";
import { pack } from "../../canvas/link.ts";
import { press } from "./stage.ts";

const asks = (text: string): object => ({ sys_prompt: text, prompts: [{ role: "user", content: "Go" }] });
const helper = (name: string): object => ({
  component_name: "Agent", id: `Agent:${name}`, name,
  params: { ...asks("helper"), description: `Helps with ${name}`, max_rounds: 1, tools: [] },
});
const node = (name: string, params: object, upstream: string[], downstream: string[], parent?: string): object => ({
  obj: { component_name: name, params }, upstream, downstream, ...(parent ? { parent_id: parent } : {}),
});

/**
 * overlapHash is the address of the canvas: two branches, five elements at once, an agent with four
 * tools.
 */
export const overlapHash = "#" + (await pack(JSON.stringify({
  title: "Overlap",
  settings: { scheduling: "eager" },
  globals: { "env.items": ["a", "b", "c", "d", "e"] },
  variables: { items: { type: "array<string>", value: ["a", "b", "c", "d", "e"] } },
  components: {
    begin: node("Begin", {}, [], ["LLM:Left", "LLM:Right"]),
    "LLM:Left": node("LLM", asks("branch"), ["begin"], ["Iteration:Each"]),
    "LLM:Right": node("LLM", asks("branch"), ["begin"], ["Iteration:Each"]),
    "Iteration:Each": node(
      "Iteration", { items_ref: "env.items", concurrency: 5, outputs: { all: { ref: "LLM:Work@content" } } },
      ["LLM:Left", "LLM:Right"], ["Agent:Lead"]),
    "IterationItem:One": node("IterationItem", {}, [], ["LLM:Work"], "Iteration:Each"),
    "LLM:Work": node("LLM", asks("element"), ["IterationItem:One"], [], "Iteration:Each"),
    "Agent:Lead": node(
      "Agent",
      { ...asks("lead"), tool_mode: "native", max_rounds: 1, tools: ["Ann", "Ben", "Cid", "Dot"].map(helper) },
      ["Iteration:Each"], ["Message:Done"]),
    "Message:Done": node("Message", { content: ["{Agent:Lead@content}"] }, ["Agent:Lead"], []),
  },
})));

const together: Record<string, number> = { branch: 2, element: 5, helper: 4, lead: 1 };

/** Pause is the milliseconds between the last request of a group and one of its answers. */
type Pause = (group: string, index: number) => number;

/** overlapServer chooses the server and answers in its place. */
export async function overlapServer(page: Page, pause: Pause = () => 0): Promise<void> {
  const waiting = new Map<string, (() => void)[]>();
  const all = (group: string): Promise<void> => new Promise((resolve) => {
    const list = [...(waiting.get(group) ?? []), resolve];
    waiting.set(group, list);
    if (list.length === together[group]) list.forEach((go, i) => setTimeout(go, pause(group, i)));
  });
  let asked = 0;
  const cors = { "access-control-allow-origin": "*", "access-control-allow-headers": "*" };
  await page.route("http://localhost:11434/**", async (route) => {
    if (route.request().method() === "OPTIONS") return route.fulfill({ status: 204, headers: cors });
    const body = route.request().postData() ?? "";
    const group = Object.keys(together).find((name) => body.includes(`"${name}`)) ?? "lead";
    const leads = group === "lead" && asked++ === 0;
    if (group !== "lead") await all(group);
    const { tools = [] } = JSON.parse(body) as { tools?: { function: { name: string } }[] };
    const calls = tools.map(({ function: { name } }, i) => ({
      id: `c${i}`, type: "function",
      function: { name, arguments: JSON.stringify({ user_prompt: "Go", reasoning: "r", context: "c" }) },
    }));
    const message = leads ? { content: "", tool_calls: calls } : { content: `Answer of ${group}` };
    await route.fulfill({
      headers: { ...cors, "content-type": "application/json" }, body: JSON.stringify({ choices: [{ message }] }),
    });
  });
  await press(page, /^Model/);
  await page.locator("dialog").getByText("OpenAI-compatible server").click();
  await page.getByRole("button", { name: "Done" }).click();
}
