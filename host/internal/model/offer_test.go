package model

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// lister serves lists of models by path and query.
func lister(t *testing.T, pages map[string]string) (*httptest.Server, *[]http.Header) {
	var seen []http.Header
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header)
		page, known := pages[r.URL.RequestURI()]
		if r.Method != http.MethodGet || !known {
			http.NotFound(w, r)
			return
		}
		if status, text, ok := strings.Cut(page, "|"); ok {
			var code int
			_, _ = fmt.Sscan(status, &code)
			w.WriteHeader(code)
			page = text
		}
		_, _ = w.Write([]byte(page))
	}))
	t.Cleanup(s.Close)
	return s, &seen
}

func offersFrom(t *testing.T, p Provider) ([]Offer, error) {
	p.Retries = new(int)
	made, err := newProvider(p, nil)
	require.NoError(t, err)
	return made.offers(t.Context())
}

func (o Offer) short() string {
	said := ""
	for _, f := range []struct {
		name string
		is   *bool
	}{{"tools", o.Tools}, {"images", o.Images}, {"reasons", o.Reasons}} {
		if f.is != nil {
			said += fmt.Sprintf(" %s:%v", f.name, *f.is)
		}
	}
	if o.Context > 0 {
		said += fmt.Sprintf(" %d", o.Context)
	}
	return o.Name + " " + string(o.Kind) + said
}

func TestOffers(t *testing.T) {
	for _, c := range []struct {
		name, base string
		api        API
		pages      map[string]string
		want       string
	}{
		{
			"OpenAI's form", "/v1", "",
			map[string]string{"/v1/models": `{"object":"list","data":[
			{"id":"gpt-b","object":"model"},{"id":"gpt-a"},{"id":"gpt-a"},{"id":"text-embedding-3"},
			{"id":"whisper-1"},{"id":"tts-1"},{},{"id":7}]}`},
			"gpt-a chat, gpt-b chat, text-embedding-3 embedding, tts-1 speech, whisper-1 transcription",
		},
		{
			"a base URL without a version", "", "", map[string]string{"/v1/models": `{"data":[{"id":"a"}]}`}, "a chat",
		},
		{
			"a server without a version", "", "",
			map[string]string{"/models": `[{"id":"a","type":"chat","context_length":"8192"}]`},
			"a chat 8192",
		},
		{
			"the address of an endpoint", "/v1/chat/completions", "",
			map[string]string{"/v1/models": `{"models":["a"]}`},
			"a chat",
		},
		{
			"OpenRouter", "/api/v1", "",
			map[string]string{"/api/v1/models": `{"data":[{"id":"o/m","context_length":1000000,
			"architecture":{"input_modalities":["text","image"]},"supported_parameters":["tools","reasoning"]},
			{"id":"o/n","architecture":{"input_modalities":["text"]},"supported_parameters":[]}]}`},
			"o/m chat tools:true images:true reasons:true 1000000, o/n chat tools:false images:false reasons:false",
		},
		{
			"Mistral", "/v1", "", map[string]string{"/v1/models": `{"data":[{"id":"m","max_context_length":32768,
			"capabilities":{"function_calling":true,"vision":false}}]}`}, "m chat tools:true images:false 32768",
		},
		{
			"Anthropic, in pages", "", Anthropic, map[string]string{
				"/v1/models?limit=1000":            `{"data":[{"id":"b"}],"has_more":true,"last_id":"b"}`,
				"/v1/models?limit=1000&after_id=b": `{"data":[{"id":"a"}],"has_more":false,"last_id":"a"}`,
			}, "a chat, b chat",
		},
		{
			"Gemini, in pages", "", Gemini, map[string]string{
				"/v1beta/models?pageSize=1000": `{"models":[{"name":"models/g","inputTokenLimit":1048576,
				"thinking":true,"supportedGenerationMethods":["generateContent"]}],"nextPageToken":"x y"}`,
				"/v1beta/models?pageSize=1000&pageToken=x+y": `{"models":[
				{"name":"models/e","supportedGenerationMethods":["embedContent"]},
				{"name":"models/i","supportedGenerationMethods":["predict"]}]}`,
			}, "e embedding, g chat reasons:true 1048576",
		},
		{
			"Ollama", "/v1", Ollama,
			map[string]string{"/api/tags": `{"models":[{"name":"llama:8b","model":"llama:8b"}]}`},
			"llama:8b chat",
		},
		{
			"Bedrock, models and profiles", "", Bedrock, map[string]string{
				"/foundation-models?byInferenceType=ON_DEMAND": `{"modelSummaries":[
				{"modelId":"amazon.nova-pro-v1:0","inputModalities":["TEXT","IMAGE"],"outputModalities":["TEXT"]},
				{"modelId":"amazon.titan-embed-text-v2:0","outputModalities":["EMBEDDING"]},
				{"modelId":"stability.sd3","outputModalities":["IMAGE"]}]}`,
				"/inference-profiles?maxResults=1000": `{"inferenceProfileSummaries":[{"inferenceProfileId":"eu.b",
				"type":"SYSTEM_DEFINED"}],"nextToken":"n="}`,
				"/inference-profiles?maxResults=1000&nextToken=n%3D": `{"inferenceProfileSummaries":[
				{"inferenceProfileId":"eu.a"}]}`,
			}, "amazon.nova-pro-v1:0 chat images:true, eu.a chat, eu.b chat",
		},
		{"an empty list", "/v1", "", map[string]string{"/v1/models": `{"data":[]}`}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, _ := lister(t, c.pages)
			offers, err := offersFrom(t, Provider{Name: "P", API: c.api, BaseURL: s.URL + c.base, Key: "secret-key"})
			require.NoError(t, err)
			var got []string
			for _, o := range offers {
				got = append(got, o.short())
			}
			require.Equal(t, c.want, strings.Join(got, ", "))
		})
	}
}

func TestOffersAreAuthorized(t *testing.T) {
	for api, header := range map[API]string{"": "Authorization", Anthropic: "X-Api-Key", Gemini: "X-Goog-Api-Key"} {
		s, seen := lister(t, map[string]string{})
		_, err := offersFrom(t, Provider{
			Name: "P", API: api, BaseURL: s.URL, Key: "secret-key", Headers: map[string]string{"X-Team": "tea"},
		})
		require.ErrorIs(t, err, ErrNoList)
		require.Contains(t, (*seen)[0].Get(header), "secret-key")
		require.Equal(t, "tea", (*seen)[0].Get("X-Team"))
	}
}

// A server that is wrong, hostile or out of order gets an error that helps, without the key.
func TestOffersOfBadServers(t *testing.T) {
	endless := strings.Repeat(`{"id":"model"},`, 1000)
	for name, c := range map[string]struct{ page, want string }{
		"a wrong key":       {`401|{"error":{"message":"bad key secret-key"}}`, "401 Unauthorized: bad key"},
		"a web page":        {`<html><title>Sign in</title></html>`, "has no list of models; check base_url"},
		"an error with 200": {`{"error":"no access"}`, "no access"},
		"many models":       {`{"data":[` + strings.Repeat(endless, 6) + `{"id":"m"}]}`, "more than 5000 models"},
		"a large list":      {`{"data":["` + strings.Repeat("x", maxListBytes) + `"]}`, "more than 16 MiB"},
		"pages in a ring":   {`{"data":[{"id":"m"}],"nextPageToken":"m"}`, "more than 20 pages"},
		"nothing":           {"404|", "enter the names of models"},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				page := c.page
				if status, text, ok := strings.Cut(page, "|"); ok {
					var code int
					_, _ = fmt.Sscan(status, &code)
					w.WriteHeader(code)
					page = text
				}
				_, _ = w.Write([]byte(page))
			}))
			defer s.Close()
			_, err := offersFrom(t, Provider{Name: "P", BaseURL: s.URL + "/v1", Key: "secret-key"})
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "secret-key")
		})
	}
	_, err := offersFrom(t, Provider{Name: "Azure", API: Azure, BaseURL: "http://127.0.0.1:1", Key: "k"})
	require.ErrorIs(t, err, ErrNoList)
}
