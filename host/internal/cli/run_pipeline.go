package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/knowledge/pipeline"
)

// runPipeline runs an ingestion pipeline on each file and prints its chunks, or writes them as
// JSON.
func (r *runner) runPipeline(ctx context.Context, a *app, s *session) error {
	switch {
	case len(r.files) == 0:
		return misuse("run", "a pipeline requires a document: pass it with --file")
	case r.query != "" || r.inputs != "" || r.state != "":
		return misuse("run", "-q, --inputs and --state do not apply to pipelines")
	}
	options, err := r.world.options(a)
	if err != nil {
		return err
	}
	shows, err := a.progress(r.progress)
	if err != nil {
		return err
	}
	uploads, err := r.world.attach(r.files)
	if err != nil {
		return &usageError{"run", err}
	}
	list := engine.List()
	for _, file := range uploads.Elements() {
		p := &printer{out: io.Discard, err: a.err, progress: shows}
		began := time.Now()
		result, err := pipeline.Run(ctx, s.canvas, file, pipeline.Options{
			Options: options,
			Watch: func(e *engine.Event) {
				if r.events && e.Type.Wire() {
					fmt.Fprintf(a.out, "%s\n", e.JSON)
				}
				p.event(e)
				p.pipelineStep(e)
			},
		})
		if err != nil {
			return fmt.Errorf("%s: %w", file.Get("name").Text(), err)
		}
		if shows {
			p.note("%s: %d chunks in %.2f s", file.Get("name").Text(), len(result.Chunks), time.Since(began).Seconds())
		}
		if len(result.Chunks) == 0 {
			p.note("%s: no chunks: the document is empty", file.Get("name").Text())
		}
		if !r.json && !r.events && r.output == "" {
			printChunks(a.out, result)
		}
		list = list.Append(engine.Object("file", file.Get("name"), "output_format", result.Outputs.Get("output_format"),
			"chunks", chunksOf(result)))
	}
	return r.writeChunks(a, list)
}

// pipelineStep shows the progress of a step of a pipeline.
func (p *printer) pipelineStep(e *engine.Event) {
	if p.progress && e.Type == engine.EventProgress {
		p.note("  %s", e.Data().Get("message").Text())
	}
}

// chunksOf returns the output of the last node as a list.
func chunksOf(r *pipeline.Result) engine.Value {
	format := r.Outputs.Get("output_format").Str()
	if v := r.Outputs.Get(format); v.Kind() == engine.KindList {
		return v
	}
	return engine.List(engine.Object("text", r.Outputs.Get(format)))
}

// printChunks prints the text of chunks, each under a line that describes it.
func printChunks(out io.Writer, r *pipeline.Result) {
	for i, c := range r.Chunks {
		about := []string{fmt.Sprintf("chunk %d of %d", i+1, len(r.Chunks))}
		if c.Kind != "" && c.Kind != "text" {
			about = append(about, c.Kind)
		}
		if len(c.Positions) > 0 && c.Positions[0][0] > 0 {
			about = append(about, fmt.Sprintf("page %.0f", c.Positions[0][0]))
		}
		if len(c.Keywords) > 0 {
			about = append(about, "keywords: "+strings.Join(c.Keywords, ", "))
		}
		if len(c.Questions) > 0 {
			about = append(about, "questions: "+strings.Join(c.Questions, " "))
		}
		fmt.Fprintf(out, "--- %s\n%s\n", strings.Join(about, "; "), strings.TrimRight(c.Text, "\n"))
	}
}

// writeChunks writes the chunks of all files as JSON to the destination of the flags.
func (r *runner) writeChunks(a *app, list engine.Value) error {
	text := append(list.AppendJSON(nil), '\n')
	if r.json {
		if _, err := a.out.Write(text); err != nil {
			return err
		}
	}
	if r.output == "" {
		return nil
	}
	f, err := os.Create(r.output)
	if err != nil {
		return &usageError{"", err}
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
