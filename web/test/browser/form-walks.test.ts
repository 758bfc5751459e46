// Walks from an empty host to a run, by names that a person sees, each within a bound of acts.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Hand } from "./acts.ts";
import { audit } from "./audit.ts";
import { serveHost, type Served } from "./host.ts";
import { missing, raise, type Stage } from "./stage.ts";

const refused = /status of 40[01]/;

describe("walks", { skip: missing(), timeout: 1_200_000 }, () => {
  let host: Served;
  let stage: Stage;
  before(async () => {
    host = await serveHost();
    stage = await raise({ at: host.address + "/" });
  });
  after(async () => {
    await stage?.close();
    await host?.close();
  });

  test("a webhook with GitHub's signature, in 25 acts", async () => {
    const { page, done } = await stage.visit("#host", { width: 1440, height: 900 });
    const hand = new Hand(page);
    await hand.fill(page.getByLabel("API key"), host.key);
    await hand.press(hand.button("Use this key"));
    await hand.press(hand.button(/New canvas/).first());
    await hand.press(hand.box("begin"));
    await hand.check(hand.setting("Webhook"));
    await hand.choose(hand.setting("Who may send"), "GitHub");
    await hand.press(hand.button("Generate"));
    await hand.press(hand.button("Fill from an example"));
    await hand.fill(page.getByLabel("Paste the body of a request, as JSON"), `{"order": 7}`);
    await hand.press(hand.button("Add its values"));
    await hand.add("begin", "Reply");
    await hand.press(hand.setting("Text"));
    await hand.write("Order {body}");
    await audit(page, "a webhook from nothing");
    await hand.press(hand.button("Publish"));
    await hand.press(page.locator("dialog.publish").getByRole("button", { name: "Save to host" }));
    await hand.fill(page.getByRole("textbox", { name: "Title" }), "Orders");
    await hand.press(hand.button("Save"));
    await page.getByText("All changes are saved").waitFor();
    const dialog = page.locator("dialog.publish");
    await hand.press(dialog.getByRole("tab", { name: "Webhook" }));
    await hand.fill(dialog.getByLabel("Body (JSON)"), `{"order": 8}`);
    await hand.press(dialog.getByRole("button", { name: "Send a test call" }));
    await dialog.getByText("Response 200").waitFor();
    await dialog.getByText("X-Hub-Signature-256: (from the stored secret)").waitFor();
    await dialog.getByText("The run succeeded.").waitFor();
    assert.ok(hand.acts <= 25, `${hand.acts} acts`);
    await done(refused);
  });
});
