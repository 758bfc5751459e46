package model

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/limit"
)

// wire is a transport in memory, so that clocks of tests govern it. It counts requests.
type wire struct {
	respond func(n int) *http.Response // n counts from 1

	mu      sync.Mutex
	at      []time.Duration // when requests came, since the start
	started time.Time
}

func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	w.mu.Lock()
	w.at = append(w.at, time.Since(w.started))
	n := len(w.at)
	w.mu.Unlock()
	res := w.respond(n)
	res.Request = req
	return res, nil
}

func (w *wire) times() []time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at
}

func reply(status int, body string, header ...string) *http.Response {
	res := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
	for i := 0; i < len(header); i += 2 {
		res.Header.Set(header[i], header[i+1])
	}
	return res
}

const greeting = `{"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}],` +
	`"usage":{"prompt_tokens":60,"completion_tokens":40}}`

// limited are the models of a provider behind a wire, as seen by runs of one host.
type limited struct {
	wire    *wire
	limiter *limit.Limiter
	config  Provider
}

func newLimited(t *testing.T, cfg limit.Config, p Provider, respond func(n int) *http.Response) *limited {
	l, err := limit.New(cfg)
	require.NoError(t, err)
	p.Name, p.BaseURL = "Test", "http://model.test/v1"
	return &limited{&wire{respond: respond, started: time.Now()}, l, p}
}

func (l *limited) run(t *testing.T, id string) *Models {
	p, err := newProvider(l.config, l.wire)
	require.NoError(t, err)
	m := &Models{providers: []*provider{p}}
	m.Limit(l.limiter, "t", id)
	return m
}

// waits records what a call reports about its queue.
type waits struct {
	mu  sync.Mutex
	all []time.Duration
}

func (w *waits) request() *engine.ModelRequest {
	req := hello(false)
	req.LLM = "m"
	req.Queued = func(queue, name string, d time.Duration) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if queue == engine.QueueModel && name == "m@Test" {
			w.all = append(w.all, d)
		}
	}
	return req
}

func TestRetryAfterHoldsAllRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimited(t, limit.Config{}, Provider{}, func(n int) *http.Response {
			if n == 1 {
				return reply(http.StatusTooManyRequests, "{}", "Retry-After", "20")
			}
			return reply(http.StatusOK, greeting)
		})
		var first, second waits
		ended := make(chan error, 2)
		call := func(run string, w *waits) {
			_, _, err := collect(l.run(t, run).Generate(t.Context(), w.request()))
			ended <- err
		}
		go call("told", &first)
		synctest.Wait()
		time.Sleep(5 * time.Second)
		go call("other", &second)
		require.NoError(t, errors.Join(<-ended, <-ended))
		require.Equal(t, []time.Duration{0, 20 * time.Second, 20 * time.Second}, l.wire.times())
		require.Equal(t, []time.Duration{20 * time.Second}, first.all)
		require.Equal(t, []time.Duration{15 * time.Second}, second.all)
	})
}

func TestLongRetryAfterFailsOtherRunsWithoutARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimited(t, limit.Config{}, Provider{}, func(int) *http.Response {
			return reply(http.StatusTooManyRequests, `{"error":{"message":"slow down"}}`, "Retry-After", "300")
		})
		for _, run := range []string{"told", "other"} {
			_, _, err := collect(l.run(t, run).Generate(t.Context(), new(waits).request()))
			var failed *Error
			require.ErrorAs(t, err, &failed)
			require.Equal(t, http.StatusTooManyRequests, failed.Status)
			require.True(t, failed.Retryable())
		}
		require.Len(t, l.wire.times(), 1)
	})
}

func TestTokensThatAModelReportsCountForItsMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		entry := Entry{Name: "m", Limits: limit.Limits{Tokens: 150}}
		l := newLimited(t, limit.Config{}, Provider{Models: []Entry{entry}}, func(int) *http.Response {
			return reply(http.StatusOK, greeting)
		})
		var w waits
		for _, run := range []string{"a", "b", "c"} {
			_, _, err := collect(l.run(t, run).Generate(t.Context(), w.request()))
			require.NoError(t, err)
		}
		require.Equal(t, []time.Duration{0, 0, time.Minute}, l.wire.times(), "100 tokens each, of 150 in a minute")
		require.Equal(t, []time.Duration{time.Minute}, w.all)
	})
}

func TestSlotIsFreeAfterEachEndOfACall(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, m *Models){
		"answer": func(t *testing.T, m *Models) {
			_, _, err := collect(m.Generate(t.Context(), new(waits).request()))
			require.NoError(t, err)
		},
		"reader that stops": func(t *testing.T, m *Models) {
			for range m.Generate(t.Context(), new(waits).request()) {
				return
			}
		},
		"reader that panics": func(t *testing.T, m *Models) {
			defer func() { require.NotNil(t, recover()) }()
			for range m.Generate(t.Context(), new(waits).request()) {
				panic("reader")
			}
		},
		"forwarded response": func(t *testing.T, m *Models) {
			res, err := m.Forward(t.Context(), engine.Object("model", "m"))
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
		},
		"vectors that fail": func(t *testing.T, m *Models) {
			m.config.Embedding = "m"
			_, err := m.Embed(t.Context(), []string{"text"})
			require.Error(t, err)
		},
		"speech": func(t *testing.T, m *Models) {
			m.config.Speech = "m"
			_, err := m.Speak(t.Context(), "text")
			require.NoError(t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				one := limit.Config{Model: limit.Limits{Concurrency: 1}}
				l := newLimited(t, one, Provider{}, func(int) *http.Response { return reply(http.StatusOK, greeting) })
				end(t, l.run(t, "a"))
				var w waits
				_, _, err := collect(l.run(t, "b").Generate(t.Context(), w.request()))
				require.NoError(t, err)
				require.Empty(t, w.all)
			})
		})
	}
}

func TestTenantsShareModelsOfTheHostOnly(t *testing.T) {
	tenants := testTenants(t, Config{Providers: []Provider{{Name: "Host"}}})
	for _, tenant := range []string{"a", "b"} {
		require.NoError(t, tenants.Put(t.Context(), tenant, Provider{Name: "Own", Limits: limit.Limits{Requests: 5}}))
	}
	scopes := func(tenant string) (own, host string) {
		m, err := tenants.Of(tenant, "").InRun("r").Models(t.Context())
		require.NoError(t, err)
		require.Equal(t, limit.Limits{Requests: 5}, m.providers[0].config.limits("m"))
		require.Equal(t, [2]string{tenant, "r"}, [2]string{m.tenant, m.run})
		return m.providers[0].scope("m"), m.providers[1].scope("m")
	}
	ownA, hostA := scopes("a")
	ownB, hostB := scopes("b")
	require.NotEqual(t, ownA, ownB)
	require.Equal(t, hostA, hostB)
	require.EqualError(t, tenants.Put(t.Context(), "a", Provider{Name: "Own", Limits: limit.Limits{Tokens: -1}}),
		"Own: limits: tokens_per_minute is -1; expected a number above 0, or 0 for no limit")
}
