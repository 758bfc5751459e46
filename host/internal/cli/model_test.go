package cli

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// modelServer lists models and answers; it requires the key "key of tea".
func modelServer(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer key of tea":
			http.Error(w, `{"error":{"message":"Incorrect API key provided"}}`, http.StatusUnauthorized)
		case !strings.HasPrefix(r.URL.Path, "/v1/"):
			http.NotFound(w, r)
		case r.URL.Path == "/v1/models":
			_, _ = w.Write([]byte(`{"data":[{"id":"black-embed"},
				{"id":"green","context_length":8192,"capabilities":{"vision":true}}]}`))
		default:
			_, _ = w.Write([]byte(`{"choices":[{"message":{"content":"hello"},"finish_reason":"stop"}]}`))
		}
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// A server of the machine is added on a host that refuses private addresses, by its operator.
func TestLocalModels(t *testing.T) {
	o := operated(t)
	url := modelServer(t)
	o.env = append(o.env, "TEA_KEY=key of tea")
	require.NotEmpty(t, o.good("model", "find"))
	_, _, errs := o.easel(o.env, "model", "add", "Tea", "--base-url", url, "--key-env", "TEA_KEY")
	require.Contains(t, errs, "private or reserved")
	o.good("model", "add", "Tea", "--base-url", url, "--key-env", "TEA_KEY", "--local")
	require.Contains(t, o.good("model", "offered", "Tea"), "green")
	require.Contains(t, o.good("model", "test", "Tea", "green"), "hello")
	o.bad(ExitFailed, "not an address of this machine", "model", "add", "F", "--base-url", "http://10.0.0.1", "--local")
}

func TestModelCommands(t *testing.T) {
	o := operated(t, "EASEL_ALLOW_PRIVATE=true")
	url := modelServer(t)
	o.env = append(o.env, "TEA_KEY=key of tea")
	require.Regexp(t, `Anthropic +anthropic +https://api.anthropic.com +Claude`, o.good("model", "presets"))
	require.Equal(t, "added Tea, "+url+"\nit serves 2 models: easel model offered Tea\n",
		o.good("model", "add", "Tea", "--base-url", url, "--key-env", "TEA_KEY"))
	offered := o.good("model", "offered", "Tea")
	require.Regexp(t, `^NAME +KIND +CONTEXT +TOOLS +IMAGES +REASONING\n`, offered)
	require.Regexp(t, `\nblack-embed +embedding +- +- +- +-\ngreen +chat +8192 +- +yes +-\n$`, offered)
	require.NotContains(t, o.good("model", "offered", "Tea", "GRE", "en"), "black")
	require.Regexp(t, `^green answers in \d+ ms: hello\n$`, o.good("model", "test", "Tea", "green"))
	require.Regexp(t, `chat +green@Tea\nembedding +chosen by the host\n`, o.good("model", "default", "green@Tea"))
	require.Equal(t, "green@Tea", o.json("model", "default").Get("chat").Str())
	require.Regexp(t, `\*@Tea +chat +Tea +no`, o.good("model", "list"))

	require.Regexp(t, `gpt@OpenAI +green@Tea`, o.good("model", "alias", "gpt@OpenAI=green@Tea", "old=black@Tea"))
	require.NotContains(t, o.good("model", "alias", "old="), "old")
	require.Regexp(t, `gpt@OpenAI +chat +Tea +no +alias of green@Tea`, o.good("model", "list"))
	o.bad(ExitFailed, "green@Coffee", "model", "alias", "x=green@Coffee")
	o.bad(ExitUsage, "expected ID=MODEL@PROVIDER", "model", "alias", "x")

	o.bad(ExitFailed, "Incorrect API key provided", "model", "test", "Tea", "green", "--api-key-file", o.wrongTea(url))
	o.bad(ExitFailed, "provider not found", "model", "offered", "Coffee")
	o.bad(ExitFailed, "green@Coffee", "model", "default", "green@Coffee")
	o.bad(ExitUsage, "the variable NONE is empty", "model", "add", "Tea", "--key-env", "NONE")
	o.bad(ExitUsage, "exclude each other", "model", "add", "Tea", "--key-env", "TEA_KEY", "--key-file", "-")
	o.bad(ExitUsage, "expected one PROVIDER", "model", "add")
	o.bad(ExitUsage, "--kind word", "model", "default", "--kind", "word")
	o.good("model", "add", "Bare", "--base-url", strings.TrimSuffix(url, "/v1"), "--key-env", "TEA_KEY")
	o.good("model", "test", "Bare", "green")
	require.Regexp(t, `(?m)^Bare +green +no +\d{4}-\d\d-\d\d +base URL `+url+`$`, o.good("model", "learned"))
	o.good("model", "reset", "Bare", "black")
	require.Contains(t, o.good("model", "learned"), "Bare")
	o.good("model", "reset", "Bare")
	require.NotContains(t, o.good("model", "learned"), "Bare")
	o.bad(ExitFailed, "provider not found", "model", "reset", "Coffee")
	o.good("model", "remove", "Tea")
	o.bad(ExitFailed, "provider not found", "model", "remove", "Tea")
}

// wrongTea stores a provider with a wrong key, and returns the file with the key of the host.
func (o *operator) wrongTea(url string) string {
	dir := o.t.TempDir()
	wrong, own := filepath.Join(dir, "wrong"), filepath.Join(dir, "own")
	require.NoError(o.t, os.WriteFile(wrong, []byte("wrong key\n"), 0o600))
	require.NoError(o.t, os.WriteFile(own, []byte(operatorKey), 0o600))
	code, out, errs := o.easel(o.env, "model", "add", "Tea", "--base-url", url, "--key-file", wrong)
	require.Equal(o.t, ExitOK, code, errs)
	require.Contains(o.t, out, "added Tea")
	require.Contains(o.t, errs, "its models could not be listed: provider Tea: 401 Unauthorized: Incorrect API key")
	return own
}

func TestModelPrices(t *testing.T) {
	code, out, errs := easel(t, "model", "prices", "openai", "gpt-4o-mini")
	require.Equal(t, ExitOK, code, errs)
	require.Regexp(t, `(?m)^OpenAI +gpt-4o-mini +0\.15 +0\.075 +- +0\.6 +USD +- +128000 +2026-08-06$`, out)
	require.NotContains(t, out, "Anthropic")
	code, out, _ = easel(t, "model", "prices", "--json", "claude-opus-4-5")
	require.Equal(t, ExitOK, code)
	one := parse1(t, out).At(0)
	require.Equal(t, "6.25", one.Get("cache_write").Text())
	require.Equal(t, "https://claude.com/pricing", one.Get("source").Str())
	code, _, errs = easel(t, "model", "prices", "gpt-unknown")
	require.NotEqual(t, ExitOK, code)
	require.Contains(t, errs, `no price of "gpt-unknown"`)
}

// A file of prices may name what other currencies are worth.
func TestRatesOfPrices(t *testing.T) {
	var p prices
	require.Equal(t, "USD", p.accounting())
	require.NoError(t, p.Set(file(t, "p.json", `{"currency":"EUR","rates":{"USD":0.92},"m":{"input":1,"output":2}}`)))
	require.Equal(t, "EUR", p.accounting())
	require.Equal(t, map[string]float64{"USD": 0.92}, p.rates)
	require.Equal(t, engine.Prices{"m": {Input: 1, Output: 2}}, p.Prices)
	p = prices{}
	require.NoError(t, p.Set(file(t, "q.json", `{"rates":{"input":1,"output":2}}`)))
	require.Equal(t, engine.Prices{"rates": {Input: 1, Output: 2}}, p.Prices)
	require.Empty(t, p.accounting(), "prices in an unnamed currency are not mixed with others")
	for _, bad := range []string{`{"USD":0}`, `{"USD":"1"}`, `{"usd":1}`, `{"USD":-1}`} {
		require.ErrorContains(t, p.Set(file(t, "r.json", `{"currency":"EUR","rates":`+bad+`}`)), "rates: ")
	}
}
