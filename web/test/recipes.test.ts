// The pipelines to start from: each loads, is a pipeline, has no problems, and cuts a document.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { open } from "../canvas/dsl.ts";
import { build } from "../canvas/model.ts";
import { isPipeline } from "../run/pipeline.ts";
import { pipelineText, recipes, type Recipe, type StepOf } from "../run/recipes.ts";
import { apart } from "./apart.ts";
import { engine } from "./offline.ts";
import { specs } from "./specs.ts";

const file = readFileSync(new URL("../run/recipes.json", import.meta.url), "utf8");
const steps = JSON.parse(file) as Record<Recipe, StepOf[]>;

for (const recipe of recipes) {
  test(`the recipe ${recipe} is a pipeline without problems`, async () => {
    const { dsl, text } = open(pipelineText(steps[recipe]));
    const model = build(dsl, specs);
    assert.equal(isPipeline(model, specs), true);
    assert.equal(model.unplaced, false);
    apart(model);
    const problems = (await engine.validate(text)).filter(({ severity }) => severity === "error");
    assert.deepEqual(problems, []);
  });
}
