package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest"
)

// canvasFolder returns the folder with real canvases. They are test input and not part of the
// project.
func canvasFolder(t *testing.T) string {
	folder := os.Getenv("EASEL_CANVASES")
	if folder == "" {
		t.Skip("EASEL_CANVASES is not set: it names a folder with real canvas files, which are not part of the project")
	}
	return folder
}

// eachCanvas runs a test for every real canvas.
func eachCanvas(t *testing.T, test func(t *testing.T, name string, data []byte)) {
	paths, err := filepath.Glob(filepath.Join(canvasFolder(t), "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".json")
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			test(t, name, data)
		})
	}
}

// TestCanvases loads every real canvas and plays it to an answer with a model that always returns
// the same answer. Pipelines load.
func TestCanvases(t *testing.T) {
	reg := builtins(t)
	eachCanvas(t, func(t *testing.T, name string, data []byte) {
		canvas, err := engine.Load(reg, data)
		require.NoError(t, err)
		require.Equal(t, roundTrip(t, reg, canvas), string(canvas.Save(canvas.State())),
			"saved, loaded and saved again")
		if canvas.IsPipeline() {
			return // the tests of the components run them on files
		}
		observed := playCanvas(t, reg, canvas.Document(), never)
		require.Equal(t, observed.JSON(), playCanvas(t, reg, canvas.Document(), enginetest.AtCheckpoints).JSON(),
			"cut after each batch")
		runs := observed.Get("runs")
		last := runs.At(runs.Len() - 1)
		if want, ok := unanswerable[name]; ok {
			require.Contains(t, last.Get("error").Text(), want)
			return
		}
		require.True(t, last.Get("error").IsNull(), last.Get("error"))
		require.Equal(t, "workflow_finished", lastEvent(last))
	})
}

// unanswerable are canvases that cannot finish if their model always returns the same answer, with
// their final error.
var unanswerable = map[string]string{
	"iteration": "must be a list", // it iterates over a list the model has to write
}

func roundTrip(t *testing.T, reg *engine.Registry, canvas *engine.Canvas) string {
	again, err := engine.Load(reg, canvas.Save(canvas.State()))
	require.NoError(t, err)
	return string(again.Save(again.State()))
}

// playCanvas plays a canvas, answering its forms, until it has finished or after five turns.
func playCanvas(t *testing.T, reg *engine.Registry, dsl engine.Value, cut enginetest.Cut) engine.Value {
	t.Helper()
	c := &enginetest.Case{Name: "canvas", DSL: dsl}
	c.Runs = append(c.Runs, enginetest.Run{Kwargs: engine.Object("query", "hello", "user_id", "user_1", "inputs",
		beginInputs(dsl))})
	for {
		player := &enginetest.Player{Registry: reg, Ports: fixedPorts(), Cut: cut, MaxSteps: 300}
		observed, err := player.Play(t.Context(), c)
		require.NoError(t, err)
		last := observed.Get("runs").At(len(c.Runs) - 1)
		if lastEvent(last) != "user_inputs" || len(c.Runs) == 5 {
			return observed
		}
		c.Runs = append(c.Runs, enginetest.Run{Kwargs: engine.Object("query", "", "inputs", formInputs(last))})
	}
}

// fixedPorts give the same answer to every request of a real canvas. The uploaded file of every
// file input exists.
func fixedPorts() engine.Ports {
	text := engine.String("fixed text")
	return engine.Ports{
		Model: enginetest.FixedModel("Fixed answer."),
		Files: &enginetest.Files{Blobs: engine.Object("file_1", "fixed text")},
		Code:  &enginetest.Code{Result: engine.CodeResult{Value: text}},
		Tools: &enginetest.Tools{Outputs: engine.Object("formalized_content", text, "report", text, "result", text,
			"success", true)},
	}
}

// beginInputs fills the fields of the start form of a canvas.
func beginInputs(dsl engine.Value) engine.Value {
	fields := dsl.Get("components").Get("begin").Get("obj").Get("params").Get("inputs")
	return fill(fields, engine.String("some text"))
}

// formInputs fills the fields of the form a run paused with.
func formInputs(run engine.Value) engine.Value {
	events := run.Get("events")
	return fill(events.At(events.Len()-1).Get("data").Get("inputs"), engine.String("filled"))
}

func fill(fields, text engine.Value) engine.Value {
	b := engine.NewObject(fields.Len())
	for name, field := range fields.Fields() {
		value := text
		if field.Get("type").Str() == "file" {
			value = engine.Object("id", "file_1", "name", "some.txt", "mime_type", "text/plain", "created_by", "user_1")
		}
		b.Set(name, engine.Object("type", field.Get("type"), "value", value))
	}
	return b.Value()
}

func lastEvent(run engine.Value) string {
	events := run.Get("events")
	return events.At(events.Len() - 1).Get("event").Str()
}

// TestSequences plays real canvases and compares the order of their events with recordings.
func TestSequences(t *testing.T) {
	folder, reg := canvasFolder(t), builtins(t)
	paths, err := filepath.Glob("testdata/sequences/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".json"), func(t *testing.T) {
			want := readJSON(t, path)
			if want.Get("expect").Str() == "dropped" {
				t.Skipf("no sequence was recorded: %s", want.Get("why"))
			}
			file := filepath.Join(folder, filepath.Base(path))
			if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
				t.Skipf("the folder EASEL_CANVASES names has no %s", filepath.Base(path))
			}
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			canvas, err := engine.Load(reg, data)
			require.NoError(t, err)
			compareSequence(t, want, playCanvas(t, reg, canvas.Document(), nil))
		})
	}
}

func readJSON(t *testing.T, path string) engine.Value {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	v, err := engine.ParseJSON(data)
	require.NoError(t, err, path)
	return v
}

func compareSequence(t *testing.T, want, observed engine.Value) {
	t.Helper()
	for i, run := range want.Get("runs").Elements() {
		seen := observed.Get("runs").At(i)
		require.Equal(t, wantedSequence(run), sequence(seen), "run %d", i+1)
		after := enginetest.Reduce(seen.Get("dsl_after"))
		require.Equal(t, run.Get("path_after").Text(), after.Get("path").Text(), "run %d: path", i+1)
		require.Equal(t, run.Get("waiting").Len(), after.Get("waiting").Len(), "run %d: waiting", i+1)
		if w := run.Get("waiting"); w.Len() > 0 {
			require.Equal(t, w.Text(), after.Get("waiting").Text(), "run %d: waiting", i+1)
		}
		if e := run.Get("error"); !e.IsNull() {
			require.Equal(t, e.Truthy(), seen.Get("error").Truthy(), "run %d: error", i+1)
		}
	}
}

// wantedSequence returns the recorded order, one "event node" per line.
func wantedSequence(run engine.Value) string {
	var lines []string
	for _, e := range run.Get("events").Elements() {
		lines = append(lines, strings.TrimSpace(e.At(0).Text()+" "+e.At(1).Text()))
	}
	return strings.Join(lines, "\n")
}

// sequence returns the events seen, with the pieces of a message as one line.
func sequence(run engine.Value) string {
	var lines []string
	for _, e := range run.Get("events").Elements() {
		line := strings.TrimSpace(e.Get("event").Text() + " " + e.Get("data").Get("component_id").Text())
		if line == "message" && len(lines) > 0 && lines[len(lines)-1] == line {
			continue
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
