// The bundler gathers the files of examples/ and of templates/ under these names.
declare module "easel:examples" {
  import type { Example } from "./example.ts";
  const examples: Example[];
  export default examples;
}

declare module "easel:templates" {
  import type { Template } from "./example.ts";
  const templates: Template[];
  export default templates;
}

declare module "*.css";
