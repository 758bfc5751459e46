// Begins a run for each new entry of a feed, which lists the newest first.
export default function (call) {
  const last = call.load("last");
  const { status, body } = call.fetch(call.params.url);
  if (status !== 200) throw new PluginError("upstream", `the feed answered ${status}`);
  const entries = JSON.parse(body);
  const end = entries.findIndex(({ id }) => id === last);
  const fresh = entries.slice(0, end < 0 ? 100 : Math.min(end, 100));
  if (fresh.length > 0) call.store("last", fresh[0].id);
  return { items: fresh.reverse().map(({ id, title }) => ({ id, query: title })) };
}
