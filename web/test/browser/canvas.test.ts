// A canvas that runs another one in the page: a file of the page, a draft, or a canvas of the host;
// a form inside pauses the run.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Page } from "playwright-core";
import { serveHost, type Served } from "./host.ts";
import { allow, ask, missing, raise, type Stage } from "./stage.ts";

const outer = (canvas: string, version = ""): object => ({
  title: "Outer",
  dsl: {
    components: {
      begin: { obj: { component_name: "Begin", params: {} }, downstream: ["Canvas:C"], upstream: [] },
      "Canvas:C": {
        obj: { component_name: "Canvas", params: { canvas, version } },
        downstream: ["Message:M"], upstream: ["begin"],
      },
      "Message:M": {
        obj: { component_name: "Message", params: { content: ["inner said: {Canvas:C@content}"] } },
        downstream: [], upstream: ["Canvas:C"],
      },
    },
  },
});

const inner = {
  components: {
    begin: { obj: { component_name: "Begin", params: {} }, downstream: ["UserFillUp:F"], upstream: [] },
    "UserFillUp:F": {
      obj: {
        component_name: "UserFillUp",
        params: {
          tips: "Where?", inputs: { city: { name: "City", type: "line" } },
          outputs: { city: { type: "string" } },
        },
      },
      downstream: ["Message:I"], upstream: ["begin"],
    },
    "Message:I": {
      obj: { component_name: "Message", params: { content: ["{sys.query} in {UserFillUp:F@city}"] } },
      downstream: [], upstream: ["UserFillUp:F"],
    },
  },
};

describe("canvases inside others", { skip: missing(), timeout: 1_200_000 }, () => {
  let host: Served;
  let stage: Stage;
  let stored = ""; // id of a canvas of the host
  let ofHost = ""; // title of a canvas that runs it

  async function create(title: string, dsl: object): Promise<string> {
    const answer = await fetch(host.address + "/api/v2/canvases", {
      method: "POST", headers: { authorization: `Bearer ${host.key}`, "content-type": "application/json" },
      body: JSON.stringify({ title, dsl }),
    });
    assert.equal(answer.status, 201);
    return ((await answer.json()) as { id: string }).id;
  }

  before(async () => {
    host = await serveHost();
    stored = await create("Inner", inner);
    ofHost = "Runs another";
    await create(ofHost, (outer(stored, "draft") as { dsl: object }).dsl);
    stage = await raise({ at: host.address + "/" });
  });
  after(async () => {
    await stage?.close();
    await host?.close();
  });

  async function file(page: Page, name: string, canvas: object): Promise<void> {
    await page.setInputFiles('input[type="file"][accept*="json"]', {
      name, mimeType: "application/json", buffer: Buffer.from(JSON.stringify(canvas)),
    });
  }

  // answered runs the canvas, fills in the form inside and waits for its answer.
  async function answered(page: Page): Promise<void> {
    await ask(page, "coats");
    await page.locator('.box[data-status="paused"]').waitFor();
    await page.getByLabel("City").fill("Oslo");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.locator(".transcript", { hasText: "inner said: coats in Oslo" }).waitFor();
  }

  test("a file of the page", async () => {
    const { page, done } = await stage.visit();
    await file(page, "trip.json", inner);
    await page.locator(".react-flow__node").first().waitFor();
    await file(page, "outer.json", outer("trip.json"));
    await page.locator('.react-flow__node:has(small:has-text("Canvas"))').waitFor();
    await allow(page);
    await answered(page);
    await done();
  });

  test("a missing canvas fails with instructions", async () => {
    const { page, done } = await stage.visit();
    await file(page, "outer.json", outer("elsewhere"));
    await allow(page);
    await ask(page, "coats");
    await page.getByText(/canvas "elsewhere"/).first().waitFor();
    await done();
  });

  test("a canvas of the host", async () => {
    const { page, done } = await stage.visit();
    await page.getByRole("button", { name: "Show the canvases of this host" }).click();
    await page.getByLabel("API key").fill(host.key);
    await page.getByRole("button", { name: "Use this key" }).click();
    await page.getByRole("button", { name: new RegExp(`^${ofHost}`) }).click();
    await answered(page);
    await done(/status of 401/);
  });
});
