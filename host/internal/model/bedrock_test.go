package model

import (
	"cmp"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/testing/modeltest"
)

func TestAddressesOfBedrock(t *testing.T) {
	const server = "https://bedrock-runtime.eu-west-1.amazonaws.com"
	for base, want := range map[string]string{
		server:                       server + "/model/a.b-v1%3A0/converse-stream",
		server + "/":                 server + "/model/a.b-v1%3A0/converse-stream",
		server + "/model/x/converse": server + "/model/a.b-v1%3A0/converse-stream",
	} {
		require.Equal(t, want, bedrockDialect{}.address(base, chatPath, "a.b-v1:0", true), base)
	}
	arn := bedrockDialect{}.address(server, chatPath, "arn:aws:bedrock:eu-west-1:1:inference-profile/eu.x", false)
	require.Equal(t, server+"/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A1%3Ainference-profile%2Feu.x/converse", arn)
	require.Equal(t, []string{
		"https://bedrock.eu-west-1.amazonaws.com/foundation-models?byInferenceType=ON_DEMAND",
		"https://bedrock.eu-west-1.amazonaws.com/inference-profiles?maxResults=1000",
	}, bedrockLists(server))
}

// A model may fail after the start of its answer: what was sent stays, and the reason is known.
func TestExceptionsOfBedrock(t *testing.T) {
	for kind, status := range map[string]int{
		"throttlingException": http.StatusTooManyRequests, "validationException": http.StatusBadRequest,
		"modelStreamErrorException": http.StatusFailedDependency,
	} {
		body := modeltest.Frame("messageStart", `{"role":"assistant"}`) +
			modeltest.Frame("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"Half"}}`) +
			modeltest.Exception(kind, "the reason")
		_, m := vendor(t, modeltest.FormOf("bedrock"), modeltest.Answer{
			Body: body, Header: map[string]string{"Content-Type": framesType},
		})
		text, _, err := collect(m.Generate(t.Context(), hello(true)))
		require.Equal(t, "Half", text)
		var e *Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, status, e.Status)
		require.ErrorContains(t, err, "the reason")
	}
}

// A failure of any type, with any payload, ends an answer as an error and not as a complete one.
func TestOtherFailuresOfBedrock(t *testing.T) {
	const whole = `{"output":{"message":{"content":[{"text":"all"}]}}}`
	for name, c := range map[string]struct {
		frame, want string
		status      int
	}{
		"unknown type":        {modeltest.Failure("modelTimeoutException", `{}`, ""), "modelTimeoutException", 0},
		"named as the end":    {modeltest.Failure("metadata", `{}`, ""), "metadata", 0},
		"with a whole answer": {modeltest.Failure("validationException", whole, ""), "validationException", 400},
		"without a payload":   {modeltest.Failure("throttlingException", "", ""), "throttlingException", 429},
		"a payload of words":  {modeltest.Failure("validationException", "too {long", ""), "too {long", 400},
		"not closed":          {modeltest.Failure("validationException", `{"a":[`, ""), `{"a":[`, 400},
		"without a type":      {modeltest.Failure("", "", "a\x01b\x07"), "E a\x01b", 500},
	} {
		t.Run(name, func(t *testing.T) {
			body := modeltest.Frame("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"Half"}}`) +
				modeltest.Frame("messageStop", `{"stopReason":"end_turn"}`) + c.frame
			_, m := vendor(t, modeltest.FormOf("bedrock"), modeltest.Answer{
				Body: body, Header: map[string]string{"Content-Type": framesType},
			})
			_, _, err := collect(m.Generate(t.Context(), hello(true)))
			var e *Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, c.status, e.Status)
			require.ErrorContains(t, err, c.want)
		})
	}
}

// A stored key goes to hosts of Amazon or to the configured one.
func TestListsOfBedrockStayAtTheirServer(t *testing.T) {
	for host, want := range map[string]string{
		"bedrock-runtime-fips.us-gov-west-1.amazonaws.com":        "bedrock-fips.us-gov-west-1.amazonaws.com",
		"bedrock-runtime.cn-north-1.amazonaws.com.cn":             "bedrock.cn-north-1.amazonaws.com.cn",
		"bedrock-runtime.us-east-1.api.aws":                       "bedrock.us-east-1.api.aws",
		"vpce-1.bedrock-runtime.us-east-1.vpce.amazonaws.com:443": "vpce-1.bedrock.us-east-1.vpce.amazonaws.com:443",
		"bedrock-runtime.example.org/v1":                          "",
		"bedrock-runtime.us-east-1.amazonaws.com.example.org":     "",
		"bedrock-runtime.x-1.amazonaws.com@bedrock-runtime.x":     "",
		"example.org/bedrock-runtime":                             "",
	} {
		want = "https://" + cmp.Or(want, host)
		require.Equal(t, want+"/inference-profiles?maxResults=1000", bedrockLists("https://" + host + "/")[1])
	}
}

// A stream that ends early, or has bytes that are no message, is a broken answer.
func TestBrokenStreamsOfBedrock(t *testing.T) {
	start := modeltest.Frame("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"Half"}}`)
	for name, body := range map[string]string{
		"end": start, "cut": start + start[:30], "bytes": start + "no message at all",
	} {
		_, m := vendor(t, modeltest.FormOf("bedrock"), modeltest.Answer{
			Body: body, Header: map[string]string{"Content-Type": framesType},
		})
		text, _, err := collect(m.Generate(t.Context(), hello(true)))
		require.Equal(t, "Half", text, name)
		require.ErrorContains(t, err, "broke off", name)
	}
}

// How much a model thinks is set in the way of its vendor.
func TestEffortOfBedrock(t *testing.T) {
	for _, c := range []struct{ model, effort, want string }{
		{"eu.anthropic.claude-3-7-sonnet-20250219-v1:0", "low", `"thinking":{"type":"enabled","budget_tokens":2048}`},
		{"anthropic.claude-opus-4-6-v1", "high", `"outputConfig":{"effort":"high"}`},
		{"anthropic.claude-opus-4-6-v1", "off", `"thinking":{"type":"disabled"}`},
		{"amazon.nova-2-lite-v1:0", "high", `"reasoningConfig":{"type":"enabled","maxReasoningEffort":"high"}`},
		{"amazon.nova-2-lite-v1:0", "off", `"reasoningConfig":{"type":"disabled"}`},
		{"openai.gpt-oss-120b-1:0", "xhigh", `"reasoning_effort":"high"`},
	} {
		server, m := vendor(t, modeltest.FormOf("bedrock"), modeltest.Reply{Text: helloText})
		req := hello(false)
		req.Config.Thinking = c.effort
		_, _, err := collect(m.providers[0].generate(t.Context(), c.model, req))
		require.NoError(t, err)
		require.Empty(t, server.Faults())
		require.Contains(t, server.Requests()[0].Raw, c.want, c.model)
		limited := strings.Contains(server.Requests()[0].Raw, `"maxTokens"`)
		require.Equal(t, c.effort != "off" && strings.Contains(c.model, "claude"), limited)
	}
}

// Tools and system prompt are marked as cached for models that have a cache.
func TestCacheOfBedrock(t *testing.T) {
	for model, marks := range map[string]int{
		"anthropic.claude-sonnet-4-5-20250929-v1:0": 2, "eu.amazon.nova-pro-v1:0": 2,
		"meta.llama3-1-70b-instruct-v1:0":        0,
		"anthropic.claude-3-haiku-20240307-v1:0": 0,
	} {
		server, m := vendor(t, modeltest.FormOf("bedrock"), modeltest.Reply{Text: helloText})
		req := asking(engine.PurposeAnswer)
		req.System, req.Tools = "Be short.", offered
		_, _, err := collect(m.providers[0].generate(t.Context(), model, req))
		require.NoError(t, err)
		require.Equal(t, marks, strings.Count(server.Requests()[0].Raw, "cachePoint"), model)
	}
}

// Files that the server does not take are left out with a warning; a document comes with a text.
func TestFilesToBedrock(t *testing.T) {
	server, m := vendor(t, modeltest.FormOf("bedrock"), modeltest.Reply{Text: helloText})
	req := asking(engine.PurposeAnswer)
	var warnings []string
	req.Warned = func(text string) { warnings = append(warnings, text) }
	req.Messages = []engine.ModelMessage{{Role: "user", Images: []string{
		"data:application/pdf;base64,JVBERi0=", "data:application/pdf;base64,JVBERi0=",
		"data:image/tiff;base64,SUkqAA==",
		"https://example.org/a.png",
	}}}
	_, _, err := collect(m.Generate(t.Context(), req))
	require.NoError(t, err)
	require.Empty(t, server.Faults())
	require.Contains(t, server.Requests()[0].Raw, `"name":"document 2"`)
	require.Len(t, warnings, 2)
	require.Contains(t, warnings[0], "does not take image/tiff")
	require.Contains(t, warnings[1], "https://example.org/a.png")
}

// The largest limit of an answer, and a model without a cache, are learned from refusals.
func TestRefusalsOfBedrock(t *testing.T) {
	refuse := func(text string) modeltest.Answer {
		return modeltest.Answer{Status: http.StatusBadRequest, Body: `{"message":"` + text + `"}`}
	}
	server, m := vendor(t, modeltest.FormOf("bedrock"),
		refuse("The maximum tokens you requested exceeds the model limit of 8192. Try again with a lower value."),
		refuse("You invoked an unsupported model or your request did not allow prompt caching."),
		modeltest.Reply{Text: helloText})
	p := m.providers[0]
	for range 2 {
		req := asking(engine.PurposeAnswer)
		most := 20_000
		req.Tools, req.Config.MaxTokens = offered, &most
		_, _, err := collect(p.generate(t.Context(), "amazon.nova-pro-v1:0", req))
		require.NoError(t, err)
	}
	requests := server.Requests()
	require.Len(t, requests, 4)
	require.Contains(t, requests[0].Raw, `"maxTokens":20000`)
	require.Contains(t, requests[1].Raw, "cachePoint")
	for _, r := range requests[2:] {
		require.Contains(t, r.Raw, `"maxTokens":8192`)
		require.NotContains(t, r.Raw, "cachePoint")
	}
}

// The secret parts of a key are masked in what a server quotes.
func TestSecretsOfBedrock(t *testing.T) {
	const key = "ASIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI/K7MDENG:FwoGZXIvYXdzEBYaD"
	server, m := vendor(t, modeltest.FormOf("bedrock"), modeltest.Answer{
		Status: http.StatusForbidden,
		Body:   `{"message":"The signature differs: x-amz-security-token:FwoGZXIvYXdzEBYaD host:x"}`,
	})
	m.providers[0].config.Key = key
	_, _, err := collect(m.Generate(t.Context(), hello(true)))
	require.ErrorContains(t, err, "x-amz-security-token:*** host:x")
	sent := server.Requests()[0].Header.Get("Authorization")
	require.Contains(t, sent, "AWS4-HMAC-SHA256 Credential=ASIAIOSFODNN7EXAMPLE/")
}

// A key that is almost in the form of an account's is masked in parts, too.
func TestSecretsOfOddKeysOfBedrock(t *testing.T) {
	for _, key := range []string{
		"akiaiosfodnn7example:wJalrXUtnFEMI", "AKIAIOSFODNN7EXAMPLE: wJalrXUtnFEMI", "AKIA:wJalrXUtnFEMI:a b",
	} {
		_, m := vendor(t, modeltest.FormOf("bedrock"), modeltest.Answer{
			Status: http.StatusForbidden, Body: `{"message":"The secret wJalrXUtnFEMI is not known."}`,
		})
		m.providers[0].config.Key = key
		_, _, err := collect(m.Generate(t.Context(), hello(true)))
		require.ErrorContains(t, err, "The secret *** is not known.", key)
	}
}

// The input of a call whose start is lost is a call without a name, not an answer without it.
func TestCallsOfBedrockWithoutStart(t *testing.T) {
	body := modeltest.Frame("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"I look."}}`) +
		modeltest.Frame("contentBlockDelta", `{"contentBlockIndex":1,"delta":{"toolUse":{"input":"{}"}}}`) +
		modeltest.Frame("messageStop", `{"stopReason":"tool_use"}`) + modeltest.Frame("metadata", `{}`)
	_, m := vendor(t, modeltest.FormOf("bedrock"), modeltest.Answer{
		Body: body, Header: map[string]string{"Content-Type": framesType},
	})
	req := hello(true)
	req.Tools = offered
	_, _, err := collect(m.Generate(t.Context(), req))
	require.ErrorContains(t, err, "a tool call without a name")
}
