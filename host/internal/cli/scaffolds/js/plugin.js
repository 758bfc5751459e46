// A plugin for easel.
export const manifest = {
  abi: 1, name: "NAME", version: "0.1.0", description: "Greets a city.", license: "Apache-2.0",
  arguments: {
    type: "object", required: ["city"],
    properties: { city: { type: "string", description: "City name" } },
  },
  outputs: { type: "object", required: ["text"], properties: { text: { type: "string" } } },
};

export default function (call) {
  const { city } = call.arguments;
  if (!city) throw new PluginError("invalid_argument", "city is empty");
  return { text: `Hello, ${city}` };
}
