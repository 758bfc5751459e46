package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	httptool "github.com/easel-canvas/easel/plugins/http"
	"github.com/easel-canvas/easel/plugins/tools"
)

// toolIndex lists the locations of the parts of the built-in tools for the page. A tool is the
// interpreter followed by further sections, so the page loads the interpreter once.
type toolIndex struct {
	Interpreter string              `json:"interpreter"`
	Tools       map[string]toolFile `json:"tools"` // by component
}

type toolFile struct {
	Sections string `json:"sections"` // file with the sections after the interpreter
	Base     string `json:"base"`     // param with another address of the service
	Digest   string `json:"digest"`   // SHA-256 of the whole module
}

// tools writes the modules of the built-in tools and their index, and returns the index's name.
func (b bundler) tools() (string, error) {
	list, err := tools.All()
	if err != nil {
		return "", err
	}
	index := toolIndex{Tools: map[string]toolFile{}}
	if index.Interpreter, err = b.store("interpreter.wasm", httptool.Interpreter()); err != nil {
		return "", err
	}
	for _, t := range list {
		module, err := t.Module()
		if err != nil {
			return "", err
		}
		sections, ok := bytes.CutPrefix(module, httptool.Interpreter())
		if !ok {
			return "", fmt.Errorf("tool %s: its module does not begin with the interpreter", t.Name())
		}
		name, err := b.store(t.Name()+".sections", sections)
		if err != nil {
			return "", err
		}
		sum := sha256.Sum256(module)
		index.Tools[t.Component] = toolFile{Sections: name, Base: t.BaseParam(), Digest: hex.EncodeToString(sum[:])}
	}
	text, err := json.Marshal(index)
	if err != nil {
		return "", err
	}
	return b.store("tools.json", text)
}
