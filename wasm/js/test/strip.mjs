// Lets node run TypeScript: each .ts file goes through esbuild as it is loaded.
import { register } from "node:module";

register("./strip-hook.mjs", import.meta.url);
