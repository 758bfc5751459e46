package api

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/model"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/web"
)

// vendor is a server that speaks OpenAI's protocol and wants the key sk-vendor.
func vendor(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		body, err := engine.ParseJSON(text)
		if err != nil {
			t.Error(err)
		}
		question := body.Get("messages").At(-1)
		for _, m := range body.Get("messages").Elements() {
			question = m.Get("content")
		}
		switch {
		case r.Header.Get("Authorization") != "Bearer sk-vendor":
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = fmt.Fprintf(w, `{"error":{"message":"bad key %s"}}`, r.Header.Get("Authorization"))
		case question.Text() == "fail":
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":{"message":"no, said sk-vendor","type":"invalid_request_error","code":null}}`)
		case question.Text() == "page":
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, "<script>alert(1)</script>")
		case body.Get("stream").True():
			w.Header().Set("Content-Type", "text/event-stream")
			for i, word := range []string{"One", " two"} {
				_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", word)
				_ = http.NewResponseController(w).Flush()
				if question.Text() == "slow" && i == 0 {
					<-r.Context().Done()
					return
				}
				if question.Text() == "cut" && i == 0 {
					panic(http.ErrAbortHandler)
				}
			}
			_, _ = io.WriteString(w, "data: [DONE]\n\n")
		default:
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"model":%q,"seed":%s,"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"Hello from %s"}}]}`,
				body.Get("model").Str(), body.Get("seed").JSON(), body.Get("model").Str())
		}
	})
	mux.HandleFunc("POST /v1/audio/speech", func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "\x00sound") })
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server
}

func TestProviders(t *testing.T) {
	s := newSite(t)
	server := vendor(t)
	body := `{"base_url":"` + server.URL + `/v1","key":"sk-vendor","models":[{"name":"small"},{"name":"tts","kind":"speech"}]}`
	v := s.as("one", "PUT", "/api/v2/providers/work@Vendor", body, 200)
	require.Equal(t, "work@Vendor", v.Get("name").Str())
	require.True(t, v.Get("has_key").True())
	require.NotContains(t, s.as("one", "GET", "/api/v2/providers", "", 200).JSON(), "sk-vendor")
	models := s.as("one", "GET", "/api/v2/models", "", 200).Get("items")
	require.Equal(t, "small@work@Vendor", models.At(0).Get("id").Str())
	require.Equal(t, "speech", models.At(1).Get("kind").Str())
	require.Equal(t, "offline", s.as("two", "GET", "/api/v2/models", "", 200).Get("items").At(0).Get("id").Str())

	a := s.as("one", "POST", "/api/v2/providers/work@Vendor/test", `{}`, 200)
	require.True(t, a.Get("ok").True(), a.JSON())
	require.Equal(t, "Hello from small", a.Get("answer").Str())
	require.True(t, s.as("one", "POST", "/api/v2/providers/work@Vendor/test", `{"model":"tts"}`, 200).Get("ok").True())
	a = s.as("one", "POST", "/api/v2/providers/work@Vendor/test", `{"model":"none"}`, 200)
	require.False(t, a.Get("ok").True())
	require.Contains(t, a.Get("error").Str(), "unknown model")
	s.as("one", "PUT", "/api/v2/providers/work@Vendor", strings.Replace(body, "sk-vendor", "sk-old", 1), 200)
	a = s.as("one", "POST", "/api/v2/providers/work@Vendor/test", `{}`, 200)
	require.Contains(t, a.Get("error").Str(), "bad key Bearer ***")
	s.as("one", "PUT", "/api/v2/providers/work@Vendor", body, 200)
	s.as("one", "PUT", "/api/v2/providers/work@Vendor", strings.Replace(body, `"key":"sk-vendor",`, "", 1), 200)
	require.True(t, s.as("one", "POST", "/api/v2/providers/work@Vendor/test", `{}`, 200).Get("ok").True(), "the key stays")

	s.as("one", "PUT", "/api/v2/models/default", `{"chat":"small@work@Vendor","speech":"tts@work@Vendor","voice":"nova"}`, 200)
	require.Equal(t, "nova", s.as("one", "GET", "/api/v2/models/default", "", 200).Get("voice").Str())
	require.Equal(t, "small@work@Vendor", s.good(s.get("/v1/user/tenant_info")).data().Get("llm_id").Str())
	s.as("one", "PUT", "/api/v2/models/default", `{"chat":"x@Nobody"}`, 422)
	for path, body := range map[string]string{
		"Vendor": `{"base_url":"file:///etc/passwd"}`, "@": `{}`, "a@b@c": `{}`, "V": `{"models":[{"name":"x","kind":"magic"}]}`, "W": `{"models":[{"kind":"chat"}]}`,
		"X": `{"key_env":"PATH"}`, "work@Vendor": `{"base_url":"http://thief.example/v1"}`,
	} {
		s.as("one", "PUT", "/api/v2/providers/"+path, body, 422)
	}
	s.as("two", "POST", "/api/v2/providers/work@Vendor/test", `{}`, 404)
	s.as("two", "DELETE", "/api/v2/providers/work@Vendor", "", 404)
	reader, _, err := s.store.CreateKey(t.Context(), store.Key{Tenant: "one", Scopes: []string{"read", "run", "edit"}}, "reader")
	require.NoError(t, err)
	require.NotEmpty(t, reader.ID)
	s.as("reader", "PUT", "/api/v2/providers/P", `{}`, 403)
	s.as("one", "DELETE", "/api/v2/providers/work@Vendor", "", 204)
}

func TestProvidersAtPrivateAddressesAreRefused(t *testing.T) {
	s := newSite(t, func(c *Config) { c.Models.Transport = (&web.Client{}).Transport() })
	server := vendor(t)
	s.as("one", "PUT", "/api/v2/providers/V", `{"base_url":"`+server.URL+`/v1","key":"sk-vendor"}`, 200)
	a := s.as("one", "POST", "/api/v2/providers/V/test", `{"model":"m"}`, 200)
	require.False(t, a.Get("ok").True())
	require.Contains(t, a.Get("error").Str(), "private or reserved")
	require.Contains(t, a.Get("error").Str(), "--allow-private")
	got := s.request("POST", "/api/llm/chat/completions", "one", `{"model":"m@V","messages":[{"role":"user","content":"x"}]}`)
	require.Equal(t, 502, got.status)
}

const completions = "/api/llm/chat/completions"

func ask(model, text string, stream bool) string {
	return fmt.Sprintf(`{"model":%q,"seed":7.0,"stream":%v,"messages":[{"role":"system","content":"s"},{"role":"user","content":%q}]}`, model, stream, text)
}

func TestModelsForPages(t *testing.T) {
	server := vendor(t)
	vendor := model.Provider{Name: "Vendor", BaseURL: server.URL + "/v1", Key: "sk-vendor", Retries: new(int)}
	hasty := vendor
	hasty.Name, hasty.Timeout = "Hasty", 1
	host, err := model.New(model.Config{Providers: []model.Provider{vendor, hasty}})
	require.NoError(t, err)
	s := newSite(t, func(c *Config) { c.Models.Host = host })
	a := s.request("POST", completions, "one", ask("small@Vendor", "hi", false))
	require.Equal(t, 200, a.status, a.text)
	require.Equal(t, "Hello from small", a.body.Get("choices").At(0).Get("message").Get("content").Str())
	require.Equal(t, "7.0", a.body.Get("seed").Text(), "what the host does not know is passed on")
	a = s.request("POST", completions, "one", ask("small", "hi", true))
	require.Equal(t, "text/event-stream; charset=utf-8", a.header.Get("Content-Type"))
	require.Equal(t, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"One\"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\" two\"}}]}\n\ndata: [DONE]\n\n", a.text)

	t.Run("failures are OpenAI's", func(t *testing.T) {
		s.t = t
		for _, c := range []struct {
			name, key, body string
			status          int
			kind, code      string
		}{
			{"nobody", "", ask("small", "hi", false), 401, "authentication_error", "unauthorized"},
			{"no JSON", "one", `{`, 400, "invalid_request_error", "bad_request"},
			{"no messages", "one", `{"model":"small"}`, 422, "invalid_request_error", "bad_argument"},
			{"messages of a wrong type", "one", `{"messages":"x"}`, 422, "invalid_request_error", "bad_argument"},
			{"unknown model", "one", ask("small@Nobody", "hi", false), 404, "invalid_request_error", "model_not_found"},
			{"a refusal of the provider", "one", ask("small", "fail", true), 400, "invalid_request_error", ""},
		} {
			a := s.request("POST", completions, c.key, c.body)
			require.Equal(t, c.status, a.status, c.name+a.text)
			require.Equal(t, c.kind, a.body.Get("error").Get("type").Str(), c.name)
			require.Equal(t, c.code, a.body.Get("error").Get("code").Str(), c.name)
			require.NotEmpty(t, a.body.Get("error").Get("message").Str(), c.name)
			require.NotContains(t, a.text, "sk-vendor", c.name)
		}
		a := s.request("POST", completions, "one", ask("small", "page", false))
		require.Equal(t, "text/plain; charset=utf-8", a.header.Get("Content-Type"), "a page of somebody else is not shown as one of ours")
	})
	t.Run("a stream that breaks off says so", func(t *testing.T) {
		s.t = t
		a := s.request("POST", completions, "one", ask("small", "cut", true))
		require.Equal(t, 200, a.status)
		require.Contains(t, a.text, "One")
		require.Contains(t, a.text, `"code": "provider_error"`)
	})
	t.Run("a silent provider is given up", func(t *testing.T) {
		s.t = t
		a := s.request("POST", completions, "one", ask("small@Hasty", "slow", true))
		require.Contains(t, a.text, "silent")
	})
	t.Run("a reader that leaves ends the call", func(t *testing.T) {
		ctx, leave := context.WithTimeout(t.Context(), time.Minute)
		req, err := http.NewRequestWithContext(ctx, "POST", s.url+completions, strings.NewReader(ask("small", "slow", true)))
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer one")
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		line, err := bufio.NewReader(res.Body).ReadString('\n')
		require.NoError(t, err)
		require.Contains(t, line, "One", "each piece comes at once")
		leave()
		require.NoError(t, res.Body.Close())
	})
	t.Run("a key that may only read", func(t *testing.T) {
		s.t = t
		_, _, err := s.store.CreateKey(t.Context(), store.Key{Tenant: "one", Scopes: []string{"read"}}, "reader")
		require.NoError(t, err)
		a := s.request("POST", completions, "reader", ask("small", "hi", false))
		require.Equal(t, 403, a.status)
		require.Equal(t, "permission_error", a.body.Get("error").Get("type").Str())
		require.Equal(t, 200, s.request("GET", "/api/llm/models", "reader", "").status)
	})
	t.Run("a login needs its CSRF text", func(t *testing.T) {
		s.t = t
		_, err := s.store.CreateMember(t.Context(), store.Member{Tenant: "one", Role: roleNormal}, store.User{Email: "bob@x.org"}, "correct horse")
		require.NoError(t, err)
		a := s.good(s.request("POST", "/v1/user/login", "", `{"email":"bob@x.org","password":"correct horse"}`))
		cookie := strings.SplitN(a.header.Get("Set-Cookie"), ";", 2)[0]
		require.Equal(t, 403, s.request("POST", completions, "", ask("small", "hi", false), "Cookie", cookie, pageHeader, pageRun).status)
		require.Equal(t, 200, s.request("POST", completions, "", ask("small", "hi", false), "Cookie", cookie, pageHeader, pageRun, csrfHeader, a.header.Get(csrfHeader)).status)
	})
}

func TestModelsForPagesOffline(t *testing.T) {
	s := newSite(t)
	a := s.request("POST", completions, "one", ask("gpt@OpenAI", "What is tea?", false))
	require.Equal(t, 200, a.status, a.text)
	require.Contains(t, a.body.Get("choices").At(0).Get("message").Get("content").Str(), "Offline answer")
	a = s.request("POST", completions, "one", ask("gpt@OpenAI", "What is tea?", true))
	list, done := a.events()
	require.True(t, done)
	text := ""
	for _, e := range list {
		require.Equal(t, "chat.completion.chunk", e.Get("object").Str())
		text += e.Get("choices").At(0).Get("delta").Get("content").Str()
	}
	require.Contains(t, text, "Offline answer")
	require.Equal(t, "stop", list[len(list)-1].Get("choices").At(0).Get("finish_reason").Str())
	require.Equal(t, "offline", s.request("GET", "/api/llm/models", "one", "").body.Get("data").At(0).Get("id").Str())
}

// TestVoice hears a Message that reads itself aloud: cleaned text goes to the
// speech model, sound comes hex-coded in audio_binary.
func TestVoice(t *testing.T) {
	var spoken []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		body, err := engine.ParseJSON(text)
		if err != nil {
			t.Error(err)
		}
		spoken = append(spoken, body.Get("input").Str())
		_, _ = io.WriteString(w, "\x00\xffsound")
	}))
	t.Cleanup(server.Close)
	host, err := model.New(model.Config{Speech: "tts@V", Providers: []model.Provider{{Name: "V", BaseURL: server.URL}}})
	require.NoError(t, err)
	s := newSite(t, func(c *Config) { c.Models.Host = host })
	id := s.canvas("a", parts([4]string{"begin", "Begin", `{}`, "Message:A"},
		[4]string{"Message:A", "Message", `{"content":["Hello,   dear \u0007{sys.query}! 🎉 This is long enough."],"auto_play":true}`, ""}))
	a := s.post("/v1/canvas/completion", `{"id":"`+id+`","query":"friend"}`)
	sounds := 0
	list, _ := a.events()
	for _, e := range list {
		if audio, ok := e.Get("data").Lookup("audio_binary"); ok {
			sounds++
			require.Equal(t, "00ff736f756e64", audio.Str())
		}
	}
	require.Positive(t, sounds, a.text)
	require.Equal(t, []string{"Hello, dear friend", "! This is long enough."}, spoken)
}
