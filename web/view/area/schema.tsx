// Fields of a form that a JSON Schema describes, such as the settings of a plugin. What a field
// cannot offer, lists and objects, is written as JSON.

/** SchemaField is one property of a schema. */
export interface SchemaField {
  name: string;
  hint: string;
  kind: "text" | "number" | "boolean" | "choice" | "json";
  choices: unknown[];
  required: boolean;
  fallback: unknown;
}

interface Property {
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  default?: unknown;
}

/** fieldsOf lists the properties of a schema of type object; none for null. */
export function fieldsOf(schema: unknown): SchemaField[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, Property>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    hint: property.description ?? "",
    kind: kindOf(property),
    choices: property.enum ?? [],
    required: required.includes(name),
    fallback: property.default,
  }));
}

function kindOf({ type, enum: choices }: Property): SchemaField["kind"] {
  if (choices) return "choice";
  if (type === "string" || type === undefined) return "text";
  if (type === "number" || type === "integer") return "number";
  return type === "boolean" ? "boolean" : "json";
}

/**
 * valuesOf reads the fields of a form; one that is empty is null. A number or JSON that cannot be
 * read is an error that names the field.
 */
export function valuesOf(fields: SchemaField[], form: FormData): Record<string, unknown> {
  return Object.fromEntries(fields.map((field) => [field.name, valueOf(field, form)]));
}

function valueOf({ name, kind, choices }: SchemaField, form: FormData): unknown {
  const given = form.get(`param-${name}`);
  const text = typeof given === "string" ? given : "";
  if (text.trim() === "") return null;
  switch (kind) {
    case "text":
      return text;
    case "choice":
      return choices[Number(text)];
    default:
      try {
        return JSON.parse(text) as unknown;
      } catch {
        throw new Error(`${name}: ${text}`);
      }
  }
}

/** SchemaFields renders the inputs of a form with the current values. */
export function SchemaFields({
  fields,
  values = {},
}: {
  fields: SchemaField[];
  values?: Record<string, unknown>;
}): React.ReactNode {
  return fields.map((field) => (
    <label className="field" key={field.name}>
      {field.name}
      <Input field={field} value={values[field.name]} />
      {field.hint && <small className="quiet">{field.hint}</small>}
    </label>
  ));
}

function shown(v: unknown): string {
  if (v === undefined || v === null) return "";
  return typeof v === "string" ? v : JSON.stringify(v);
}

function Input({ field, value }: { field: SchemaField; value: unknown }): React.ReactNode {
  const { kind, choices, required, fallback } = field;
  const name = `param-${field.name}`;
  const needed = required && fallback === undefined;
  if (kind === "choice" || kind === "boolean") {
    const options = kind === "boolean" ? [true, false] : choices;
    const key = (v: unknown, i: number): string => (kind === "boolean" ? String(v) : String(i));
    const at = options.findIndex((option) => option === value);
    return (
      <select name={name} required={needed} defaultValue={at < 0 ? "" : key(options[at], at)}>
        <option value="">{fallback === undefined ? "–" : `${shown(fallback)} *`}</option>
        {options.map((option, i) => (
          <option key={i} value={key(option, i)}>
            {shown(option)}
          </option>
        ))}
      </select>
    );
  }
  const type = kind === "number" ? { type: "number", step: "any" } : { type: "text" };
  return (
    <input
      {...type}
      name={name}
      required={needed}
      autoComplete="off"
      defaultValue={shown(value)}
      placeholder={shown(fallback)}
    />
  );
}
