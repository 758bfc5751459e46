package main

import (
	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// checkCall compares params and arguments with a manifest, which is the body.
func (b *bridge) checkCall(header engine.Value, body string) ([]byte, error) {
	m, err := manifestIn(body)
	if err == nil {
		err = m.CheckInput(header.Get("params"), header.Get("arguments"))
	}
	return empty, err
}

// manifestIn reads the manifest of a plugin that the host has examined.
func manifestIn(text string) (*contract.Manifest, error) {
	doc, err := engine.ParseJSONText(text)
	if err != nil {
		return nil, &failure{code: codeRequest, text: "manifest: " + err.Error()}
	}
	return contract.ReadManifest(doc)
}
