package model

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTranscription(t *testing.T) {
	var paths []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		paths = append(paths, r.URL.Path)
		if r.URL.Path != "/v1/audio/transcriptions" {
			http.NotFound(w, r)
			return
		}
		file, head, err := r.FormFile("file")
		if err != nil {
			t.Error(err)
			return
		}
		sound, _ := io.ReadAll(file)
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"text":" %s %s %s %s %s "}`, r.Header.Get("Authorization"), head.Filename, sound[:4],
			r.FormValue("model"), r.FormValue("response_format"))
	}))
	t.Cleanup(server.Close)
	p := Provider{
		Name: "P", BaseURL: server.URL, Key: "secret-key",
		Models: []Entry{{Name: "chat"}, {Name: "stt", Kind: KindTranscription}},
	}
	m, err := New(Config{Providers: []Provider{p}})
	require.NoError(t, err)
	for _, kind := range []string{"audio/webm", "AUDIO/WEBM"} {
		text, err := m.transcribe(t.Context(), Recording{Type: kind, Bytes: []byte("sound")})
		require.NoError(t, err)
		require.Equal(t, "Bearer secret-key recording.webm soun stt json", text)
	}
	require.Equal(t, []string{"/audio/transcriptions", "/v1/audio/transcriptions", "/v1/audio/transcriptions"}, paths,
		"the base URL that works is remembered")

	for _, r := range []Recording{
		{"audio/webm", nil}, {"text/html", []byte("x")}, {"", []byte("x")}, {"audio/wav", make([]byte, MaxRecording+1)},
	} {
		_, err := m.transcribe(t.Context(), r)
		require.ErrorIs(t, err, ErrRecording, r.Type)
	}
	other := Provider{Name: "Q", BaseURL: p.BaseURL + "/v1"}
	chosen, err := New(Config{Transcription: "other@Q", Providers: []Provider{p, other}})
	require.NoError(t, err)
	text, err := chosen.transcribe(t.Context(), Recording{"audio/wav", silence()})
	require.NoError(t, err)
	require.Contains(t, text, "other json")
	none, err := New(Config{Providers: []Provider{{Name: "P", Models: []Entry{{Name: "chat"}}}}})
	require.NoError(t, err)
	_, err = none.transcribe(t.Context(), Recording{"audio/wav", silence()})
	require.ErrorIs(t, err, ErrUnknownModel)
}

func TestTranscriptionFailures(t *testing.T) {
	for answer, want := range map[string]string{
		`{"error":{"message":"no secret-key"}}`: "no ***",
		`{"segments":[]}`:                       "without a transcript",
		`{"text":7}`:                            "without a transcript",
		`<html>`:                                "",
		`just words`:                            "without a transcript",
	} {
		p, _ := serve(t, answerWith(answer))
		_, err := p.transcribe(t.Context(), "m", "recording.wav", silence())
		require.ErrorContains(t, err, want, answer)
	}
	p, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(bytes.Repeat([]byte("a"), maxListBytes+1))
	})
	_, err := p.transcribe(t.Context(), "m", "recording.wav", silence())
	require.ErrorIs(t, err, ErrTooLarge)
}
