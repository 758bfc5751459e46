package openai_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/egress/web"
	"github.com/easel-canvas/easel/host/internal/model"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

func TestProviders(t *testing.T) {
	s := apitest.New(t)
	server := apitest.Vendor(t)
	body := `{"base_url":"` + server.URL + `/v1","key":"sk-vendor","models":[{"name":"small"},{"name":"tts","kind":"speech"}]}`
	v := s.As("one", "PUT", "/api/v2/providers/work@Vendor", body, 200)
	require.Equal(t, "work@Vendor", v.Get("name").Str())
	require.True(t, v.Get("has_key").True())
	require.NotContains(t, s.As("one", "GET", "/api/v2/providers", "", 200).JSON(), "sk-vendor")
	models := s.As("one", "GET", "/api/v2/models", "", 200).Get("items")
	require.Equal(t, "small@work@Vendor", models.At(0).Get("id").Str())
	require.Equal(t, "speech", models.At(1).Get("kind").Str())
	require.Equal(t, "offline", s.As("two", "GET", "/api/v2/models", "", 200).Get("items").At(0).Get("id").Str())

	a := s.As("one", "POST", "/api/v2/providers/work@Vendor/test", `{}`, 200)
	require.True(t, a.Get("ok").True(), a.JSON())
	require.Equal(t, "Hello from small", a.Get("answer").Str())
	require.True(t, s.As("one", "POST", "/api/v2/providers/work@Vendor/test", `{"model":"tts"}`, 200).Get("ok").True())
	a = s.As("one", "POST", "/api/v2/providers/work@Vendor/test", `{"model":"none"}`, 200)
	require.False(t, a.Get("ok").True())
	require.Contains(t, a.Get("error").Str(), "unknown model")
	s.As("one", "PUT", "/api/v2/providers/work@Vendor", strings.Replace(body, "sk-vendor", "sk-old", 1), 200)
	a = s.As("one", "POST", "/api/v2/providers/work@Vendor/test", `{}`, 200)
	require.Contains(t, a.Get("error").Str(), "bad key Bearer ***")
	s.As("one", "PUT", "/api/v2/providers/work@Vendor", body, 200)
	s.As("one", "PUT", "/api/v2/providers/work@Vendor", strings.Replace(body, `"key":"sk-vendor",`, "", 1), 200)
	require.True(t, s.As("one", "POST", "/api/v2/providers/work@Vendor/test", `{}`, 200).Get("ok").True(), "the key stays")

	s.As("one", "PUT", "/api/v2/models/default", `{"chat":"small@work@Vendor","speech":"tts@work@Vendor","voice":"nova"}`, 200)
	require.Equal(t, "nova", s.As("one", "GET", "/api/v2/models/default", "", 200).Get("voice").Str())
	require.Equal(t, "small@work@Vendor", s.Good(s.Get("/v1/user/tenant_info")).Data().Get("llm_id").Str())
	s.As("one", "PUT", "/api/v2/models/default", `{"chat":"x@Unknown"}`, 422)
	for path, body := range map[string]string{
		"Vendor": `{"base_url":"file:///etc/passwd"}`, "@": `{}`, "a@b@c": `{}`, "V": `{"models":[{"name":"x","kind":"magic"}]}`, "W": `{"models":[{"kind":"chat"}]}`,
		"X": `{"key_env":"PATH"}`, "work@Vendor": `{"base_url":"http://thief.example/v1"}`,
	} {
		s.As("one", "PUT", "/api/v2/providers/"+path, body, 422)
	}
	s.As("two", "POST", "/api/v2/providers/work@Vendor/test", `{}`, 404)
	s.As("two", "DELETE", "/api/v2/providers/work@Vendor", "", 404)
	reader, _, err := s.Store.Keys.Create(
		t.Context(), store.Key{Tenant: "one", Scopes: []string{"read", "run", "edit"}}, "reader",
	)
	require.NoError(t, err)
	require.NotEmpty(t, reader.ID)
	s.As("reader", "PUT", "/api/v2/providers/P", `{}`, 403)
	_, _, err = s.Store.Keys.Create(t.Context(), store.Key{Tenant: "one", Scopes: []string{"admin"}}, "admin")
	require.NoError(t, err)
	s.As("admin", "POST", "/api/v2/local-providers", `{}`, 403)
	s.As("admin", "PUT", "/api/v2/providers/L", `{"base_url":"http://127.0.0.1:1","local":true}`, 403)
	s.As("one", "PUT", "/api/v2/providers/L", `{"base_url":"http://127.0.0.1:1","local":true}`, 200)
	s.As("admin", "PUT", "/api/v2/providers/L", `{"base_url":"http://127.0.0.1:1","local":true,"key":"k"}`, 200)
	s.As("admin", "PUT", "/api/v2/providers/L", `{"base_url":"http://127.0.0.1:2","local":true,"key":"k"}`, 403)
	s.As("one", "DELETE", "/api/v2/providers/L", "", 204)
	s.As("one", "DELETE", "/api/v2/providers/work@Vendor", "", 204)
}

func TestProvidersAtPrivateAddressesAreRefused(t *testing.T) {
	s := apitest.New(t, func(c *apitest.Config) { c.Models.Transport = (&web.Client{}).Transport() })
	server := apitest.Vendor(t)
	s.As("one", "PUT", "/api/v2/providers/V", `{"base_url":"`+server.URL+`/v1","key":"sk-vendor"}`, 200)
	a := s.As("one", "POST", "/api/v2/providers/V/test", `{"model":"m"}`, 200)
	require.False(t, a.Get("ok").True())
	require.Contains(t, a.Get("error").Str(), "private or reserved")
	require.Contains(t, a.Get("error").Str(), "--allow-private")
	got := s.Request("POST", "/api/llm/chat/completions", "one", `{"model":"m@V","messages":[{"role":"user","content":"x"}]}`)
	require.Equal(t, 502, got.Status)
}

func TestModelsForPages(t *testing.T) {
	server := apitest.Vendor(t)
	vendor := model.Provider{Name: "Vendor", BaseURL: server.URL + "/v1", Key: "sk-vendor", Retries: new(int)}
	hasty := vendor
	hasty.Name, hasty.Timeout = "Hasty", 1
	host, err := model.New(model.Config{Providers: []model.Provider{vendor, hasty}})
	require.NoError(t, err)
	s := apitest.New(t, func(c *apitest.Config) { c.Models.Host = host })
	a := s.Request("POST", apitest.Completions, "one", apitest.Ask("small@Vendor", "hi", false))
	require.Equal(t, 200, a.Status, a.Text)
	require.Equal(t, "Hello from small", a.Body.Get("choices").At(0).Get("message").Get("content").Str())
	require.Equal(t, "7.0", a.Body.Get("seed").Text(), "what the host does not know is passed on")
	a = s.Request("POST", apitest.Completions, "one", apitest.Ask("small", "hi", true))
	require.Equal(t, "text/event-stream; charset=utf-8", a.Header.Get("Content-Type"))
	require.Equal(t, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"One\"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\" two\"}}]}\n\ndata: [DONE]\n\n", a.Text)

	t.Run("failures are OpenAI's", func(t *testing.T) {
		s.T = t
		for _, c := range []struct {
			name, key, body string
			status          int
			kind, code      string
		}{
			{"anonymous", "", apitest.Ask("small", "hi", false), 401, "authentication_error", "unauthorized"},
			{"invalid JSON", "one", `{`, 400, "invalid_request_error", "bad_request"},
			{"missing messages", "one", `{"model":"small"}`, 422, "invalid_request_error", "bad_argument"},
			{"messages of a wrong type", "one", `{"messages":"x"}`, 422, "invalid_request_error", "bad_argument"},
			{"unknown model", "one", apitest.Ask("small@NoReaders", "hi", false), 404, "invalid_request_error", "model_not_found"},
			{"the provider refuses", "one", apitest.Ask("small", "fail", true), 400, "invalid_request_error", ""},
		} {
			a := s.Request("POST", apitest.Completions, c.key, c.body)
			require.Equal(t, c.status, a.Status, c.name+a.Text)
			require.Equal(t, c.kind, a.Body.Get("error").Get("type").Str(), c.name)
			require.Equal(t, c.code, a.Body.Get("error").Get("code").Str(), c.name)
			require.NotEmpty(t, a.Body.Get("error").Get("message").Str(), c.name)
			require.NotContains(t, a.Text, "sk-vendor", c.name)
		}
		a := s.Request("POST", apitest.Completions, "one", apitest.Ask("small", "page", false))
		require.Equal(t, "text/plain; charset=utf-8", a.Header.Get("Content-Type"), "a page of somebody else is not shown as one of ours")
	})
	t.Run("a stream that breaks off says so", func(t *testing.T) {
		s.T = t
		a := s.Request("POST", apitest.Completions, "one", apitest.Ask("small", "cut", true))
		require.Equal(t, 200, a.Status)
		require.Contains(t, a.Text, "One")
		require.Contains(t, a.Text, `"code": "provider_error"`)
	})
	t.Run("a provider that does not respond times out", func(t *testing.T) {
		s.T = t
		a := s.Request("POST", apitest.Completions, "one", apitest.Ask("small@Hasty", "slow", true))
		require.Contains(t, a.Text, "silent")
	})
	t.Run("a reader that leaves ends the call", func(t *testing.T) {
		ctx, leave := context.WithTimeout(t.Context(), time.Minute)
		req, err := http.NewRequestWithContext(ctx, "POST", s.URL+apitest.Completions, strings.NewReader(apitest.Ask("small", "slow", true)))
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
		s.T = t
		_, _, err := s.Store.Keys.Create(t.Context(), store.Key{Tenant: "one", Scopes: []string{"read"}}, "reader")
		require.NoError(t, err)
		a := s.Request("POST", apitest.Completions, "reader", apitest.Ask("small", "hi", false))
		require.Equal(t, 403, a.Status)
		require.Equal(t, "permission_error", a.Body.Get("error").Get("type").Str())
		require.Equal(t, 200, s.Request("GET", "/api/llm/models", "reader", "").Status)
	})
	t.Run("a login needs its CSRF text", func(t *testing.T) {
		s.T = t
		_, err := s.Store.Users.CreateMember(
			t.Context(), store.Member{Tenant: "one", Role: app.RoleNormal}, store.User{Email: "bob@x.org"},
			"correct horse",
		)
		require.NoError(t, err)
		a := s.Good(s.Request("POST", "/v1/user/login", "", `{"email":"bob@x.org","password":"correct horse"}`))
		cookie := strings.SplitN(a.Header.Get("Set-Cookie"), ";", 2)[0]
		require.Equal(t, 403, s.Request("POST", apitest.Completions, "", apitest.Ask("small", "hi", false), "Cookie", cookie, api.PageHeader, api.PageRun).Status)
		require.Equal(t, 200, s.Request("POST", apitest.Completions, "", apitest.Ask("small", "hi", false), "Cookie", cookie, api.PageHeader, api.PageRun, api.CSRFHeader, a.Header.Get(api.CSRFHeader)).Status)
	})
}

func TestModelsForPagesOffline(t *testing.T) {
	s := apitest.New(t)
	a := s.Request("POST", apitest.Completions, "one", apitest.Ask("gpt@OpenAI", "What is tea?", false))
	require.Equal(t, 200, a.Status, a.Text)
	require.Contains(t, a.Body.Get("choices").At(0).Get("message").Get("content").Str(), "Offline answer")
	a = s.Request("POST", apitest.Completions, "one", apitest.Ask("gpt@OpenAI", "What is tea?", true))
	list, done := a.Events()
	require.True(t, done)
	text := ""
	for _, e := range list {
		require.Equal(t, "chat.completion.chunk", e.Get("object").Str())
		text += e.Get("choices").At(0).Get("delta").Get("content").Str()
	}
	require.Contains(t, text, "Offline answer")
	require.Equal(t, "stop", list[len(list)-1].Get("choices").At(0).Get("finish_reason").Str())
	require.Equal(t, "offline", s.Request("GET", "/api/llm/models", "one", "").Body.Get("data").At(0).Get("id").Str())
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
	s := apitest.New(t, func(c *apitest.Config) { c.Models.Host = host })
	id := s.Canvas("a", sketch.Canvas("begin Begin -> Message:A",
		`Message:A Message {"content":["Hello,   dear \u0007{sys.query}! 🎉 This is long enough."],"auto_play":true}`))
	a := s.Post("/v1/canvas/completion", `{"id":"`+id+`","query":"friend"}`)
	sounds := 0
	list, _ := a.Events()
	for _, e := range list {
		if audio, ok := e.Get("data").Lookup("audio_binary"); ok {
			sounds++
			require.Equal(t, "00ff736f756e64", audio.Str())
		}
	}
	require.Positive(t, sounds, a.Text)
	require.Equal(t, []string{"Hello, dear friend", "! This is long enough."}, spoken)
}
