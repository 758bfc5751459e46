package enginetest_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest"
)

// TestStandInsPassTheirKits checks that the kits accept correct ports.
func TestStandInsPassTheirKits(t *testing.T) {
	ctx, cancel := t.Context(), &enginetest.Cancel{}
	files := &enginetest.Files{Blobs: engine.Object("d", "text", "i", "PNG")}
	for name, errs := range map[string][]error{
		"model": enginetest.ExerciseModel(ctx, enginetest.FixedModel("Hello there."), "any"),
		"retriever": enginetest.ExerciseRetriever(ctx, library{},
			enginetest.RetrieverExercise{Query: engine.RetrievalQuery{Text: "fox"}, MissingDataset: "gone"}),
		"files": enginetest.ExerciseFiles(ctx, files,
			engine.Object("id", "d", "name", "d.txt", "mime_type", "text/plain"),
			engine.Object("id", "i", "name", "i.png", "mime_type", "image/png")),
		"http": enginetest.ExerciseHTTP(ctx, enginetest.HTTP{}, enginetest.HTTPExercise{
			URL: "http://127.0.0.1:18099/", Broken: "http://127.0.0.1:18099/status", Refused: "http://127.0.0.1:18098/",
		}),
		"voice":        enginetest.ExerciseVoice(ctx, enginetest.Voice{}),
		"cancel":       enginetest.ExerciseCancel(cancel, cancel.Stop),
		"clock":        enginetest.ExerciseClock(ctx, &enginetest.Clock{}),
		"ids":          enginetest.ExerciseIDs(&enginetest.IDs{}),
		"memory":       enginetest.ExerciseMemory(ctx, &enginetest.Memory{}, "mem_1"),
		"system clock": enginetest.ExerciseClock(ctx, engine.SystemClock{}),
		"random ids":   enginetest.ExerciseIDs(engine.RandomIDs{}),
	} {
		require.Empty(t, errs, name)
	}
}

// TestKitsDetectFaults checks that each kit reports errors.
func TestKitsDetectFaults(t *testing.T) {
	ctx := t.Context()
	tests := []struct {
		name string
		errs []error
		want string
	}{
		{"a model without output", enginetest.ExerciseModel(ctx, model(nil), "any"), "expected a text"},
		{"a model that fails", enginetest.ExerciseModel(ctx, model{"", "!down"}, "any"), "down"},
		{
			"a model that continues after an error", enginetest.ExerciseModel(ctx, model{"a", "!down", "b"}, "any"),
			"after the error",
		},
		{"a model that ignores its context", enginetest.ExerciseModel(ctx, model{"a"}, "any"), "ended context"},
		{"a model that panics", enginetest.ExerciseModel(ctx, nil, "any"), "panic"},
		{"a retriever that finds nothing", enginetest.ExerciseRetriever(ctx, &enginetest.Retriever{},
			enginetest.RetrieverExercise{}), "at least two passages"},
		{"a retriever with every dataset", enginetest.ExerciseRetriever(ctx, &enginetest.Retriever{},
			enginetest.RetrieverExercise{MissingDataset: "gone"}), `"gone" does not exist`},
		{
			"a file reader that invents content", enginetest.ExerciseFiles(ctx, inventor{}, engine.Null, engine.Null),
			"does not exist",
		},
		{"a refused address that answers", enginetest.ExerciseHTTP(ctx, enginetest.HTTP{}, enginetest.HTTPExercise{
			URL: "http://127.0.0.1:18099/", Refused: "http://127.0.0.1:18099/",
		}), "expected an error"},
		{
			"scripts without a result", enginetest.ExerciseCode(ctx, &enginetest.Code{}, "python"),
			"gives its argument back",
		},
		{"an unknown language", enginetest.ExerciseCode(ctx, &enginetest.Code{}, "cobol"), "cobol"},
		{
			"cancel that is never called", enginetest.ExerciseCancel(&enginetest.Cancel{}, func(string) {}),
			"expected its channel to close",
		},
		{"duplicate ids", enginetest.ExerciseIDs(sameID{}), "twice"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.ErrorContains(t, errors.Join(tt.errs...), tt.want)
		})
	}
}

// library finds two foxes and has every dataset but one.
type library struct{}

func (library) Retrieve(ctx context.Context, q *engine.RetrievalQuery) (engine.Found, error) {
	if slices.Contains(q.Datasets, "gone") {
		return engine.Found{}, fmt.Errorf("dataset %q does not exist", "gone")
	}
	chunk := engine.Object("chunk_id", "c", "content", "a fox")
	found := engine.Found{
		Chunks:  []engine.Value{chunk, chunk},
		DocAggs: []engine.Value{engine.Object("doc_name", "d", "doc_id", "1")},
	}
	if q.TopN > 0 {
		found.Chunks = found.Chunks[:min(q.TopN, 2)]
	}
	return found, ctx.Err()
}

// model yields its pieces regardless of the context; one that begins with ! is an error.
type model []string

func (m model) Generate(context.Context, *engine.ModelRequest) iter.Seq2[engine.ModelPiece, error] {
	return func(yield func(engine.ModelPiece, error) bool) {
		for _, p := range m {
			var err error
			if p != "" && p[0] == '!' {
				p, err = "", errors.New(p[1:])
			}
			if !yield(engine.ModelPiece{Text: p}, err) {
				return
			}
		}
	}
}

// inventor has every file.
type inventor struct{}

func (inventor) Read(context.Context, engine.Value) (string, error) { return "made up", nil }

// sameID always returns the same id.
type sameID struct{}

func (sameID) NewID() string { return "00000000000000000000000000000000" }

// elsewhere is a server unknown to the stand-in.
type elsewhere struct{}

func (elsewhere) Do(context.Context, *engine.HTTPRequest) (*engine.HTTPResponse, error) {
	return &engine.HTTPResponse{Status: 200, Body: "other"}, nil
}
