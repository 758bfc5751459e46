// Files of other products that people try to open, recognised by their shape.

/** Foreign is a file of another product. */
export interface Foreign {
  product: "Dify" | "n8n";
  /** The name of the file's format. */
  name: string;
}

/** foreignJSON recognises the object in a file; undefined for unknown formats. */
export function foreignJSON({ nodes, connections, app, kind, name }: Record<string, unknown>): Foreign | undefined {
  const typed = (node: unknown): boolean => typeof (node as { type?: unknown } | null)?.type === "string";
  if (Array.isArray(nodes) && nodes.every(typed) && typeof connections === "object" && connections !== null) {
    return { product: "n8n", name: typeof name === "string" ? name : "" };
  }
  if (kind !== "app" || typeof app !== "object") return undefined;
  const title = (app as { name?: unknown } | null)?.name;
  return { product: "Dify", name: typeof title === "string" ? title : "" };
}

/** foreignText recognises a file that is not JSON: an app of Dify is YAML. */
export function foreignText(text: string): Foreign | undefined {
  const head = text.slice(0, 100_000);
  if (!/^kind:\s*["']?app\b/m.test(head) || !/^app:\s*$/m.test(head)) return undefined;
  const [, name = ""] = /^app:\s*\n(?:[ \t]+.*\n)*?[ \t]+name:[ \t]*["']?(.*?)["']?[ \t]*$/m.exec(head) ?? [];
  return { product: "Dify", name };
}
