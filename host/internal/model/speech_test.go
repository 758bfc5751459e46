package model

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/model/embedding"

	"github.com/easel-canvas/easel/engine/enginetest"
)

// speechServer serves speech, and embeddings in arbitrary order.
func speechServer(t *testing.T) *httptest.Server {
	t.Helper()
	read := func(r *http.Request, into any) {
		if err := json.NewDecoder(r.Body).Decode(into); err != nil {
			t.Error(err)
		}
		if got := r.Header.Get("Authorization"); got != "Bearer secret-key" {
			t.Errorf("authorization %q", got)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/audio/speech", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Model, Input, Voice string
			Format              string `json:"response_format"`
		}
		read(r, &in)
		w.Header().Set("Content-Type", "audio/mpeg")
		_, _ = fmt.Fprintf(w, "%s %s %s: %s", in.Model, in.Voice, in.Format, in.Input)
	})
	mux.HandleFunc("POST /v1/embeddings", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Model string
			Input []string
		}
		read(r, &in)
		if len(in.Input) > maxTexts {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		type vector struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		}
		var out struct {
			Data []vector `json:"data"`
		}
		for i := len(in.Input) - 1; i >= 0; i-- {
			out.Data = append(out.Data, vector{i, []float32{float32(len(in.Input[i])), 1}})
		}
		_ = json.NewEncoder(w).Encode(out)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

func TestSpeech(t *testing.T) {
	server := speechServer(t)
	provider := Provider{
		Name: "P", BaseURL: server.URL + "/v1", Key: "secret-key",
		Models: []Entry{{Name: "chat"}, {Name: "tts", Kind: KindSpeech}},
	}
	for _, c := range []struct {
		name   string
		config Config
		want   string
	}{
		{"first speech model", Config{Providers: []Provider{provider}}, "tts alloy mp3: Hello."},
		{"configured model and voice", Config{Speech: "other@P", Voice: "nova", Providers: []Provider{{
			Name:    "P",
			BaseURL: server.URL + "/v1", Key: "secret-key",
		}}}, "other nova mp3: Hello."},
		{"no speech model", Config{Providers: []Provider{{Name: "P", Models: []Entry{{Name: "chat"}}}}}, ""},
		{"no providers", Config{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := New(c.config)
			require.NoError(t, err)
			sound, err := m.Speak(t.Context(), "Hello.")
			require.NoError(t, err)
			require.Equal(t, c.want, string(sound))
			if c.want != "" {
				require.Empty(t, enginetest.ExerciseVoice(t.Context(), m))
			}
		})
	}
	m, err := New(Config{Speech: "gone@Q", Providers: []Provider{provider}})
	require.NoError(t, err)
	_, err = m.Speak(t.Context(), "Hello.")
	require.ErrorContains(t, err, `"gone@Q" (the configured speech)`)
}

func TestSpeechFailures(t *testing.T) {
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		want    string
	}{
		{"error response", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":{"message":"no voice for secret-key"}}`)
		}, "400 Bad Request: no voice for ***"},
		{"empty response", func(http.ResponseWriter, *http.Request) {}, "empty"},
		{"truncated response", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "abc")
		}, "broke off"},
		{"silent server", func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}, "silent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, _ := serve(t, c.handler)
			if c.want == "silent" {
				p.timeout = 200 * time.Millisecond
			}
			_, err := p.speak(t.Context(), "m", "v", "Hello")
			require.ErrorContains(t, err, c.want)
		})
	}
}

func TestEmbeddings(t *testing.T) {
	server := speechServer(t)
	m, err := New(Config{Providers: []Provider{{
		Name: "P", BaseURL: server.URL + "/v1", Key: "secret-key",
		Models: []Entry{{Name: "e", Kind: KindEmbedding}},
	}}})
	require.NoError(t, err)
	texts := make([]string, 3*maxTexts/2)
	for i := range texts {
		texts[i] = fmt.Sprintf("%0*d", i+1, 0)
	}
	vectors, err := m.Embed(t.Context(), texts)
	require.NoError(t, err)
	require.Len(t, vectors, len(texts))
	for i, v := range vectors {
		require.Equal(t, []float32{float32(i + 1), 1}, v, "vectors are in the order of their texts")
	}
	_, err = (&Models{}).Embed(t.Context(), texts)
	require.ErrorIs(t, err, ErrUnknownModel)
	for _, text := range []string{
		`{"data":[]}`, `{"data":[{"index":5,"embedding":[1]}]}`,
		`{"data":[{"index":0,"embedding":[]}]}`, `{"data":[{"index":-1,"embedding":[1]}]}`,
	} {
		p, _ := serve(t, answerWith(text))
		_, _, err := p.embed(t.Context(), "m", []string{"a"})
		require.ErrorIs(t, err, embedding.ErrVectors, text)
	}
}
