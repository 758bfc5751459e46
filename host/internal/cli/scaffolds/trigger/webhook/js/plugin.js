// Begins a run for each request of a sender that knows the token.
export default function (call) {
  const { headers, body } = call.arguments.request;
  if (!call.params.token || headers["x-token"] !== call.params.token)
    throw new PluginError("unauthorized", "X-Token is not the token of this schedule");
  return { items: [{ query: body ?? "" }], response: { status: 202, content_type: "text/plain", body: "accepted" } };
}
