// The form of a canvas's settings: its words in Chinese, and the document that it writes.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Schema } from "@easel/engine";
import { settingsSchema } from "../view/form/settings.generated.ts";
import { zh } from "../words/specs.zh.ts";

test("every text of the form of settings is there in Chinese", () => {
  const texts = (schema: Schema): string[] => [
    schema.title ?? "", schema.description ?? "", ...(schema["x-easel"]?.options ?? []).map(({ label }) => label),
    ...Object.values(schema.properties ?? {}).flatMap(texts),
  ];
  const lacking = texts(settingsSchema).filter((text) => text !== "" && zh[text] === undefined);
  assert.deepEqual(lacking, []);
});
