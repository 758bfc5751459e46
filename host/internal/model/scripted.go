package model

import (
	"fmt"
	"os"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest"
)

// ReadScript reads a file of recorded replies, {"llm_script": [...], "fallback": ...}, in the
// format of conformance cases. The model serves every llm_id: each call takes the first unused
// reply that matches, then the fallback.
func ReadScript(path string) (engine.Model, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("scripted model: %w", err)
	}
	doc, err := engine.ParseJSON(data)
	if err != nil {
		return nil, fmt.Errorf("scripted model %s: %w", path, err)
	}
	if doc.Get("llm_script").Kind() != engine.KindList && doc.Get("fallback").IsNull() {
		return nil, fmt.Errorf("scripted model %s: expected an object with llm_script, a list, or fallback", path)
	}
	// The replies are read as those of a case with one run and no canvas.
	run := engine.Object("llm_script", doc.Get("llm_script"), "fallback", doc.Get("fallback"))
	c, err := enginetest.ReadCase(engine.Object("name", path, "dsl", engine.Object(), "runs", engine.List(run)))
	if err != nil {
		return nil, fmt.Errorf("scripted model: %w", err)
	}
	return &enginetest.Model{Script: c.Runs[0].Script, Fallback: c.Runs[0].Fallback}, nil
}
