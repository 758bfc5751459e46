package main

import (
	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// checkCall checks the input of a plugin, or a message that it wrote, against a manifest, which is
// the body. Of a message it returns the outputs.
func (b *bridge) checkCall(header engine.Value, body string) ([]byte, error) {
	m, err := manifestIn(body)
	if err != nil {
		return nil, err
	}
	output, wrote := header.Lookup("output")
	if !wrote {
		return empty, m.CheckInput(header.Get("params"), header.Get("arguments"))
	}
	answer, err := m.ReadOutput([]byte(output.Str()))
	return answer.Outputs.AppendJSON(nil), err
}

// manifestIn reads the manifest of a plugin that the host has examined.
func manifestIn(text string) (*contract.Manifest, error) {
	doc, err := engine.ParseJSONText(text)
	if err != nil {
		return nil, &failure{code: codeRequest, text: "manifest: " + err.Error()}
	}
	return contract.ReadManifest(doc)
}
