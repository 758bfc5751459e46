package contract

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReadTriggered(t *testing.T) {
	poll, hook := &Manifest{Trigger: TriggerPoll}, &Manifest{Trigger: TriggerWebhook}
	got, err := poll.ReadTriggered(parse(t, `{"items":[{"id":"a","query":"new","inputs":{"n":1}},{"id":"b"}]}`))
	require.NoError(t, err)
	require.Len(t, got.Items, 2)
	require.Equal(t, "new", got.Items[0].Query)
	require.Equal(t, `{"n": 1}`, got.Items[0].Inputs.Text())
	require.Equal(t, TriggerResponse{Status: 200, ContentType: "text/plain"}, got.Response)

	got, err = poll.ReadTriggered(parse(t, `{}`))
	require.NoError(t, err, "no items")
	require.Empty(t, got.Items)

	got, err = hook.ReadTriggered(parse(t,
		`{"items":[{}],"response":{"status":201,"content_type":"application/json","body":"{}"}}`))
	require.NoError(t, err, "a webhook needs no ids")
	require.Equal(t, TriggerResponse{201, "application/json", "{}"}, got.Response)

	many := strings.Repeat(`{"id":"a"},`, MaxTriggerItems) + `{"id":"b"}`
	for outputs, want := range map[string]string{
		`{"items":[{"query":"x"}]}`:                             "outputs.items[0].id: missing",
		`{"items":[{"id":7}]}`:                                  "outputs.items[0].id: want string, got number",
		`{"items":["a"]}`:                                       "outputs.items[0]: want object, got string",
		`{"items":{"id":"a"}}`:                                  "outputs.items: want array, got object",
		`{"items":[{"id":"a","inputs":[1]}]}`:                   "outputs.items[0].inputs: want object, got array",
		`{"items":[` + many + `]}`:                              "outputs.items: 101 items, allowed are 100",
		`{"items":[{"id":"` + strings.Repeat("x", 257) + `"}]}`: "outputs.items[0].id: 257 bytes, allowed are 256",
		`{"response":{"status":101}}`:                           "outputs.response.status: 101, allowed are 200 to 599",
		`{"response":{"status":0}}`:                             "outputs.response.status: 0, allowed",
		`{"response":{"content_type":"text/html"}}`:             `content_type: "text/html" (one of application/json,`,
		`{"response":"ok"}`:                                     "outputs.response: want object, got string",
		`{"response":{"body":"` + strings.Repeat("x", maxTriggerResponse+1) + `"}}`: "response.body: 65537 bytes",
	} {
		_, err := poll.ReadTriggered(parse(t, outputs))
		require.ErrorIs(t, err, BadOutput)
		require.ErrorContains(t, err, want)
	}
}

func TestTriggerRequest(t *testing.T) {
	r := TriggerRequest{
		Method: "POST", URL: "/h?a=1", Query: map[string]string{"a": "1"},
		Headers: map[string]string{"x-b": "2", "x-a": "1"}, Body: []byte(`{"n": 1.0}`),
	}
	require.Equal(t, `{"request": {"method": "POST", "url": "/h?a=1", "query": {"a": "1"}, `+
		`"headers": {"x-a": "1", "x-b": "2"}, "body": "{\"n\": 1.0}"}}`, r.Arguments().Text())
	r.Body = []byte{0xff, 0}
	require.Equal(t, "/wA=", r.Arguments().Get("request").Get("body_base64").Str())
	require.True(t, r.Arguments().Get("request").Get("body").IsNull())
}
