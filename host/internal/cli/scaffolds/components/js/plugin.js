// A plugin with several components for easel.
export const manifest = {
  abi: 1, name: "NAME", version: "0.1.0", description: "Several components.", license: "Apache-2.0",
  arguments: {
    type: "object", required: ["city"],
    properties: { city: { type: "string", description: "City name" } },
  },
  outputs: { type: "object", required: ["text"], properties: { text: { type: "string" } } },
  components: [
{{- range .}}
    { name: "{{.Name}}", description: "Runs {{.Name}} for a city." },
{{- end}}
  ],
};

const components = {
{{- range .}}
  "{{.Name}}": answer,
{{- end}}
};

export default function (call) {
  return components[call.info.component](call);
}

// answer handles calls of all components.
function answer(call) {
  const { city } = call.arguments;
  if (!city) throw new PluginError("invalid_argument", "city is empty");
  return { text: `${call.info.component}: ${city}` };
}
