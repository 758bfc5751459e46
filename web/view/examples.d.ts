// The bundler gathers the files of examples/ under this name.
declare module "easel:examples" {
  import type { Example } from "./gallery.tsx";
  const examples: Example[];
  export default examples;
}

declare module "*.css";
