package v2_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

func TestVoice(t *testing.T) {
	s := apitest.New(t)
	server := apitest.Vendor(t)
	const speech, transcription = "/api/v2/models/speech", "/api/v2/models/transcription"
	sound, kind := apitest.Recording("audio/webm;codecs=opus", "sound")
	send := func(body, kind string) apitest.Answer {
		return s.Request("POST", transcription, "one", body, "Content-Type", kind)
	}
	for _, a := range []apitest.Answer{s.Request("POST", speech, "one", `{"text":"Hello."}`), send(sound, kind)} {
		require.Equal(t, 409, a.Status, a.Text)
		require.Contains(t, a.Text, "model_not_found")
	}
	s.As("one", "PUT", "/api/v2/providers/P", `{"api":"openai","base_url":"`+server.URL+`/v1","key":"sk-vendor",`+
		`"models":[{"name":"small"},{"name":"tts","kind":"speech"},{"name":"stt","kind":"transcription"}]}`, 200)

	a := s.Request("POST", speech, "one", `{"text":"Hello."}`)
	require.Equal(t, 200, a.Status, a.Text)
	require.Equal(t, "\x00sound", a.Text)
	require.Equal(t, "audio/mpeg", a.Header.Get("Content-Type"))
	require.Equal(t, 422, s.Request("POST", speech, "one", `{"text":" "}`).Status)
	require.Equal(t, 200, s.Request("POST", speech, "one", `{"text":"`+strings.Repeat("语", 4096)+`"}`).Status)
	require.Equal(t, 422, s.Request("POST", speech, "one", `{"text":"`+strings.Repeat("a", 4097)+`"}`).Status)

	a = send(sound, kind)
	require.Equal(t, 200, a.Status, a.Text)
	require.Equal(t, "recording.webm of 5 bytes by stt", a.Body.Get("text").Str())
	page, kind := apitest.Recording("text/html", "<script>")
	require.Equal(t, 422, send(page, kind).Status)
	empty, kind := apitest.Recording("audio/webm", "")
	require.Equal(t, 422, send(empty, kind).Status)
	large, kind := apitest.Recording("audio/webm", strings.Repeat("a", 10<<20+1))
	require.Equal(t, 422, send(large, kind).Status)
	require.Equal(t, 422, send(`{"file":"x"}`, "application/json").Status)
}

// A recording counts in the budget of the host for requests, with the copies that are sent.
func TestRecordingsAreReserved(t *testing.T) {
	s := apitest.New(t)
	const size = 4 << 20
	var held int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		if err != nil {
			t.Error(err)
		}
		held = s.Memory.Used()
		_, _ = io.WriteString(w, `{"text":"said"}`) // the client may be gone
	}))
	t.Cleanup(server.Close)
	s.As("one", "PUT", "/api/v2/providers/P", `{"api":"openai","base_url":"`+server.URL+`/v1","key":"sk-vendor",`+
		`"models":[{"name":"stt","kind":"transcription"}]}`, 200)
	sound, kind := apitest.Recording("audio/webm", strings.Repeat("a", size))
	a := s.Request("POST", "/api/v2/models/transcription", "one", sound, "Content-Type", kind)
	require.Equal(t, 200, a.Status, a.Text)
	require.Greater(t, held, int64(3*size))
	require.Zero(t, s.Memory.Used())
}
