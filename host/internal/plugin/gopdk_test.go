package plugin

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/plugins/contract"
)

// TestGuestOfTheGoPDK runs a plugin of the official Extism PDK for Go, v1.1.3, on our kernel:
// input, output, errors, JSON, settings, variables of the run, logs, memory and HTTP, as the PDK's
// users call them.
func TestGuestOfTheGoPDK(t *testing.T) {
	web := trips(func(r *http.Request) (*http.Response, error) {
		body := ""
		if r.Body != nil {
			b, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			body = string(b)
		}
		said := fmt.Sprintf("%s %s %s %s", r.Method, r.URL.Path, r.Header.Get("X-Asked"), body)
		return answerOf(r, 201, said, "X-Answer", "aye"), nil
	})
	h := newHost(t, Config{HTTP: web})
	asks := map[string]any{
		"entry": map[string]any{"export": "greet"},
		"permissions": map[string]any{"http": map[string]any{
			"hosts": []string{"good.example"}, "methods": []string{"GET", "POST"}, "reason": "r",
		}},
	}
	m, err := h.Load(context.Background(), pack(t, sdkGuest(t, "extism"), asks),
		LoadOptions{Granted: contract.Everything(), Settings: map[string]string{"vowels": "aeiou"}})
	require.NoError(t, err)
	run := &Scratch{}
	call := func(export, input string) (Result, error) {
		return m.Call(context.Background(), CallRequest{Export: export, Input: []byte(input), Scratch: run})
	}
	for _, c := range []struct{ name, export, input, want string }{
		{"text in, JSON out, with a setting", "count_vowels", "The official host counts vowels.", `{"count":10,"vowels":"aeiou"}`},
		{"JSON in, text out", "greet", `{"name":"Åsa"}`, "Hello, Åsa!"},
		{"a variable of the run", "tally", "", "x"},
		{"the variable in the next call", "tally", "", "xx"},
		{"the variable is removed", "tally", "", "xxx"},
		{"the variable after removal", "tally", "", "x"},
		{"memory handled by hand", "reverse", "stressed", "desserts"},
		{"an HTTP request", "fetch", `{"Method":"POST","URL":"https://good.example/a","Body":"hi"}`, `{"status":201,"headers":{"x-answer":"aye"},"body":"POST /a yes hi"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, err := call(c.export, c.input)
			require.NoError(t, err)
			if c.want[0] == '{' {
				require.JSONEq(t, c.want, string(res.Output))
			} else {
				require.Equal(t, c.want, string(res.Output))
			}
		})
	}
	t.Run("an error keeps its text, and the instance", func(t *testing.T) {
		_, err := call("greet", `{}`)
		require.ErrorIs(t, err, contract.Internal)
		require.ErrorContains(t, err, "a name is needed")
		require.Equal(t, 1, m.pool.idleCount())
	})
	t.Run("a log line arrives", func(t *testing.T) {
		res, err := call("greet", `{"name":"Bo"}`)
		require.NoError(t, err)
		require.Equal(t, []LogLine{{Level: "info", Text: "greeting Bo"}}, res.Logs)
	})
	t.Run("a refusal ends the call", func(t *testing.T) {
		_, err := call("fetch", `{"URL":"https://evil.example/"}`)
		require.ErrorIs(t, err, contract.Denied)
	})
	t.Run("another run has variables of its own", func(t *testing.T) {
		res, err := m.Call(context.Background(), CallRequest{Export: "tally"})
		require.NoError(t, err)
		require.Equal(t, "x", string(res.Output))
	})
}

// trips is a transport made of a function.
type trips func(*http.Request) (*http.Response, error)

func (f trips) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
