import { answer, ask, press, raise, rewrite } from "./stage.ts";
const stage = await raise();
const shot = (page: any, name: string) => page.screenshot({ path: `/tmp/t13/${name}.png` });
{
  const { page } = await stage.open("#example=letter");
  page.setDefaultTimeout(15000);
  try {
  await answer(page, ["Dear Ada, happy birthday.", "Dear Ada, many happy returns."]);
  await page.getByLabel("To whom?").fill("Ada");
  await page.getByLabel("What is the occasion?").fill("a birthday");
  await page.getByRole("button", { name: "Run" }).click();
  await page.getByLabel("Verdict").selectOption("change it");
  await page.getByLabel("What should change?").fill("shorter");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("button", { name: "Save as a test" }).waitFor();
  await shot(page, "chat");
  await page.getByRole("button", { name: "Save as a test" }).click();
  await page.locator(".cases .badge", { hasText: "Passed" }).waitFor();
  await shot(page, "passed");
  await page.locator('.react-flow__node:has(.box-name b:has-text("Revised letter"))').click();
  await page.locator("#tab-node").click();
  await rewrite(page.getByLabel("Content", { exact: true }).first(), "The new letter");
  await page.locator("#tab-tests").click();
  await shot(page, "stale");
  await page.getByRole("button", { name: "Run again" }).click();
  await page.locator(".cases .badge", { hasText: "Failed" }).waitFor();
  await page.locator(".cases summary").click();
  await shot(page, "failed");
  console.log(await page.locator(".findings").innerText());
  await press(page, "中文");
  await shot(page, "failed-zh");
  } catch (err) { console.log(String(err)); await shot(page, "err1"); }
}
{
  const { page } = await stage.open("#example=tea-house", { width: 390, height: 844, dark: true });
  page.setDefaultTimeout(15000);
  try {
  await page.locator("#tab-tests").click();
  await page.getByText("No tests yet").waitFor();
  await shot(page, "phone-empty");
  await page.locator("#tab-chat").click();
  await ask(page, "How hot should the water be for green tea?");
  await page.getByRole("button", { name: "Save as a test" }).click();
  await page.locator(".cases .badge", { hasText: "Passed" }).waitFor();
  await shot(page, "phone-passed");
  } catch (err) { console.log(String(err)); await shot(page, "err2"); }
}
await stage.close();
