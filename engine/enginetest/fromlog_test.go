package enginetest_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// Each run of the conformance cases becomes a case by its log alone, and passes with the answers of
// the log.
func TestRunsBecomeCases(t *testing.T) {
	made := 0
	for _, text := range cases(t) {
		c, err := enginetest.ReadCase(text)
		require.NoError(t, err)
		logs := map[int][]*engine.Event{}
		player := &enginetest.Player{
			Registry: registry(t), Concurrency: 1,
			Log: func(run int, e *engine.Event) { logs[run] = append(logs[run], e) },
		}
		observed, err := player.Play(t.Context(), c)
		require.NoError(t, err)
		dsl := c.DSL
		for i, seen := range observed.Get("runs").Elements() {
			r := c.Runs[i]
			before := dsl
			if after := seen.Get("dsl_after"); !after.IsNull() {
				dsl = after
			}
			if r.Cancel != nil || r.Debug != nil || r.Reset != enginetest.ResetNothing || r.Fresh || len(logs[i]) == 0 {
				continue
			}
			one, err := (&enginetest.Player{Registry: registry(t)}).FromLog(t.Context(), c.Name, "",
				enginetest.Recorded{DSL: before, Log: logs[i]})
			if err != nil {
				t.Errorf("%s, run %d: %v", c.Name, i+1, err)
				continue
			}
			made++
			require.NotEmpty(t, one.Runs[0].Want.Get("events").Elements(), c.Name)
			cuts := map[string]enginetest.Cut{"each batch": enginetest.AtCheckpoints}
			for n := range 40 { // crash
				cuts[fmt.Sprintf("entry %d", n+1)] = enginetest.AfterEntry(n + 1)
			}
			for at, cut := range cuts {
				player := &enginetest.Player{Registry: registry(t), Concurrency: 1, Cut: cut}
				played, err := player.Play(t.Context(), one)
				require.NoError(t, err)
				if diffs := enginetest.Compare(one.Value(), played); len(diffs) > 0 {
					t.Errorf("%s, run %d, cut after %s: %v", c.Name, i+1, at, diffs[:1])
				}
			}
		}
	}
	require.Greater(t, made, 250)
}

// A case of a run is red for a canvas with another model or another search, whose answers it does
// not have.
func TestOtherQuestionsDiffer(t *testing.T) {
	canvas := func(model string, top int) engine.Value {
		v, err := engine.ParseJSONText(sketch.Canvas(
			"begin Begin -> Retrieval:R",
			fmt.Sprintf(`Retrieval:R Retrieval {"kb_ids": ["k"], "query": "sys.query", "top_n": %d} -> LLM:L`, top),
			fmt.Sprintf(`LLM:L LLM {"llm_id": %q, "sys_prompt": "x", "prompts": [{"role": "user", "content":
				"{Retrieval:R@formalized_content}"}]} -> m`, model),
			`m Message {"content": ["{LLM:L@content}"]}`,
		))
		require.NoError(t, err)
		return v
	}
	chunk := engine.Object("chunk_id", "c", "content_with_weight", "text", "doc_id", "d", "docnm_kwd", "d.txt")
	first := &enginetest.Case{Name: "first", DSL: canvas("m@P", 6), Runs: []enginetest.Run{{
		Kwargs: engine.Object("query", "q"), Script: []enginetest.Reply{enginetest.TextReply("answer")},
		Retrieval: engine.Object("*", engine.Object("chunks", engine.List(chunk), "doc_aggs", engine.List())),
	}}}
	var log []*engine.Event
	player := &enginetest.Player{Registry: registry(t), Log: func(_ int, e *engine.Event) { log = append(log, e) }}
	_, err := player.Play(t.Context(), first)
	require.NoError(t, err)
	made, err := player.FromLog(t.Context(), "made", "", enginetest.Recorded{DSL: first.DSL, Log: log})
	require.NoError(t, err)
	for _, tt := range []struct {
		dsl  engine.Value
		want string
	}{
		{canvas("m@P", 6), ""},
		{canvas("n@P", 6), "model call 0.model: expected m@P, saw n@P"},
		{canvas("m@P", 2), "tool call search: arguments.top_n: expected 6, saw 2"},
	} {
		edited := *made
		edited.DSL = tt.dsl
		seen, err := enginetest.Play(t.Context(), registry(t), &edited)
		require.NoError(t, err)
		diffs := enginetest.Compare(made.Value(), seen)
		if tt.want == "" {
			require.Empty(t, diffs)
		} else {
			require.Contains(t, strings.Join(diffs, "\n"), tt.want)
		}
	}
}

// listing is a retriever with metadata.
type listing struct{ enginetest.Retriever }

func (*listing) Metadata(context.Context, []string) (engine.Value, error) {
	return engine.Object("year", engine.Strings("2025", "2026")), nil
}

// A run whose model chose a filter by metadata has no case, and the reason is named: a stand-in has
// no metadata to offer.
func TestMetadataIsInNoCase(t *testing.T) {
	dsl, err := engine.ParseJSONText(sketch.Canvas(
		"begin Begin -> Retrieval:R",
		`Retrieval:R Retrieval {"kb_ids": ["k"], "query": "sys.query", "meta_data_filter": {"method": "auto"}} -> m`,
		`m Message {"content": ["{Retrieval:R@formalized_content}"]}`,
	))
	require.NoError(t, err)
	canvas, err := engine.LoadValue(registry(t), dsl)
	require.NoError(t, err)
	opt := engine.Options{
		Ports:    engine.Ports{Retriever: &listing{}, Model: enginetest.FixedModel("[]")},
		Internal: true, Checkpoints: true, Exchanges: true,
	}
	var log []*engine.Event
	for e, err := range canvas.Run(t.Context(), canvas.State(), engine.Input{Query: engine.String("q")}, opt) {
		require.NoError(t, err)
		log = append(log, e.Clone())
	}
	given := enginetest.Recorded{DSL: dsl, Log: log}
	_, err = (&enginetest.Player{Registry: registry(t)}).FromLog(t.Context(), "x", "", given)
	require.ErrorContains(t, err, "the metadata of datasets, which a case cannot hold")
}

// broken answers with a text and fails behind it; further calls are other questions.
type broken struct {
	err   error
	calls int
}

func (b *broken) Generate(context.Context, *engine.ModelRequest) iter.Seq2[engine.ModelPiece, error] {
	b.calls++
	return func(yield func(engine.ModelPiece, error) bool) {
		if yield(engine.ModelPiece{Text: "half of"}, nil) {
			yield(engine.ModelPiece{}, b.err)
		}
	}
}

// An answer that broke off stays broken in the case of its run, also under retries: as often as the
// model was called, and not once more where the failure was final.
func TestBrokenAnswersStayBroken(t *testing.T) {
	for name, tt := range map[string]struct {
		err    error
		params string
		whole  bool
		calls  int
	}{
		"streamed":     {io.ErrUnexpectedEOF, "", false, 1},
		"with retries": {io.ErrUnexpectedEOF, `, "max_retries": 2, "delay_after_error": 0`, true, 3},
		"final":        {fmt.Errorf("no quota: %w", engine.ErrNoRetry), `, "max_retries": 2`, true, 1},
		"with a stand-in": {
			io.ErrUnexpectedEOF, `, "exception_method": "comment", "exception_default_value": "sorry"`, false, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			const merge = `S StringTransform {"method": "merge", "script": "{LLM:L@content}"} -> m`
			model := `LLM:L LLM {"llm_id": "m@P", "sys_prompt": "x"` + tt.params + `} -> `
			lines, shown := []string{"begin Begin -> LLM:L", model + "m"}, "LLM:L@content"
			if tt.whole {
				lines, shown = []string{lines[0], model + "S", merge}, "S@result"
			}
			dsl, err := engine.ParseJSONText(sketch.Canvas(append(lines, `m Message {"content": ["{`+shown+`}"]}`)...))
			require.NoError(t, err)
			canvas, err := engine.LoadValue(registry(t), dsl)
			require.NoError(t, err)
			m := &broken{err: tt.err}
			var log []*engine.Event
			opt := engine.Options{
				Ports: engine.Ports{Model: m}, Internal: true, Checkpoints: true, Exchanges: true,
			}
			for e, err := range canvas.Run(t.Context(), canvas.State(), engine.Input{Query: engine.String("q")}, opt) {
				if err == nil {
					log = append(log, e.Clone())
				}
			}
			require.Equal(t, tt.calls, m.calls)
			one, err := (&enginetest.Player{Registry: registry(t)}).FromLog(t.Context(), name, "",
				enginetest.Recorded{DSL: dsl, Log: log})
			require.NoError(t, err)
			require.Contains(t, one.Value().JSON(), `{"chunks":["half of",{"raise":"`)
			require.Equal(t, tt.calls, one.Value().Get("runs").At(0).Get("llm_calls").Len())
			read, err := enginetest.ReadCase(one.Value())
			require.NoError(t, err)
			for _, cut := range []enginetest.Cut{nil, enginetest.AtCheckpoints} {
				played, err := (&enginetest.Player{Registry: registry(t), Cut: cut}).Play(t.Context(), read)
				require.NoError(t, err)
				require.Empty(t, enginetest.Compare(one.Value(), played))
			}
		})
	}
}
