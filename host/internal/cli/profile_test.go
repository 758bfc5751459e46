package cli

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/limit"
	"github.com/easel-canvas/easel/host/internal/model"
)

// twoCalls calls a model in two branches that do not depend on each other.
var twoCalls = sketch.Canvas(
	"begin Begin -> LLM:A LLM:B",
	`LLM:A LLM {"llm_id": "m", "sys_prompt": "a", "prompts": [{"role": "user", "content": "a"}]}
		-> StringTransform:Both`,
	`LLM:B LLM {"llm_id": "m", "sys_prompt": "b", "prompts": [{"role": "user", "content": "b"}]}
		-> StringTransform:Both`,
	`StringTransform:Both StringTransform {"method": "merge", "script": "{LLM:A@content} {LLM:B@content}",
		"delimiters": [","]}
		-> Message:M`,
	`Message:M Message {"content": ["{StringTransform:Both@result}"]}`,
)

// slowModel answers each request after a second.
type slowModel struct{}

func (slowModel) RoundTrip(req *http.Request) (*http.Response, error) {
	time.Sleep(time.Second)
	const answer = `{"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}]}`
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(answer)), Request: req}, nil
}

func TestProfileShowsTheQueueOfAModel(t *testing.T) {
	standard := http.DefaultTransport
	t.Cleanup(func() { http.DefaultTransport = standard })
	http.DefaultTransport = slowModel{}
	synctest.Test(t, func(t *testing.T) {
		models, err := model.New(model.Config{Providers: []model.Provider{{Name: "P", BaseURL: "http://model.test"}}})
		require.NoError(t, err)
		limiter, err := limit.New(limit.Config{Run: limit.Limits{Concurrency: 1}})
		require.NoError(t, err)
		models.Limit(limiter, "local", "run")
		registry, err := engine.NewRegistry(component.Builtin()...)
		require.NoError(t, err)
		canvas, err := engine.Load(registry, []byte(twoCalls))
		require.NoError(t, err)
		var timed timedEvents
		options := engine.Options{Ports: engine.Ports{Model: models}, Internal: true}
		for e, err := range canvas.Run(t.Context(), canvas.State(), engine.Input{Query: engine.String("hi")}, options) {
			require.NoError(t, err)
			timed.add(e)
		}
		p := timed.profile(canvas)
		require.Equal(t, [5]float64{2, 1, 2, 1, 1}, [5]float64{p.Wall, p.Critical, p.Work, p.Queued, p.Saved})
		var text bytes.Buffer
		require.NoError(t, p.Write(&text))
		require.Regexp(t, `(?s)^profile: 2.000 s, of which the critical path needs 1.000 s; 2.000 s of work, `+
			`at most 1 nodes at once; 1.000 s in queues\n`+
			` +start +work +queued +held +waited for\n`+
			` +0.000 +1.000 +1.000 +0.000 +LLM:[AB]\n`+
			`one more slot, 2 instead of 1: 1.000 s less\n`, text.String())
		require.Regexp(t, `\nLLM:[AB] +\|={30} {30}\| 1\.000\n  model m +\|={30} {30}\| 1\.000\n`, text.String())
		require.Regexp(t, `\nLLM:[AB] +\|~{30}#{30}\| 2\.000\n  model m +\|={60}\| 2\.000\n`, text.String())
	})
}

func TestRunPrintsItsProfile(t *testing.T) {
	args := []string{"run", examples + "shop.json", "--knowledge", examples + "knowledge", "-q", "Thank you"}
	args = append(args, "--profile")
	code, out, errs := easel(t, args...)
	require.Equal(t, ExitOK, code, errs)
	require.Contains(t, out, "You are welcome.")
	require.Contains(t, errs, "profile: ")
	require.Contains(t, errs, "one more slot, ")

	code, out, errs = easel(t, append(args, "--json")...)
	require.Equal(t, ExitOK, code, errs)
	p := parse1(t, out).Get("profile")
	require.Equal(t, 3, p.Get("steps").Len())
	require.Equal(t, "Message:Thanks", p.Get("path").At(p.Get("path").Len()-1).Get("node").Str())
}

func TestModelLimitsAreChecked(t *testing.T) {
	for _, text := range []string{"run.concurrency", "run.concurrency=-1", "run.words=3", "tenant.tokens=1e9"} {
		code, _, errs := easel(t, "run", examples+"shop.json", "--model-limit", text)
		require.Equal(t, ExitUsage, code, text)
		require.Contains(t, errs, "run.concurrency", text)
	}
	code, _, errs := easel(t, "run", examples+"shop.json", "-q", "Thank you",
		"--model-limit", "run.concurrency=2,model.tokens=1000")
	require.Equal(t, ExitOK, code, errs)
}
