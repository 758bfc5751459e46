package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// page explains the vocabulary.
func page() []byte {
	var b bytes.Buffer
	b.WriteString("# Vocabulary\n\n" +
		"The words that Go, the HTTP API, the npm package, the output of programs and the page share.\n" +
		"Messages may change, these words do not. RAGFlow's dialects have words of their own.\n" +
		"This page is made by `go run ./build/gen`.\n")
	table(&b, "Status of a run", "status", "", engine.Statuses())
	table(&b, "Severity of a diagnostic", "severity", "", severities())
	for _, g := range engine.Codes() {
		table(&b, "Codes: "+strings.ToLower(g.Title), "code", g.Doc, g.Codes)
	}
	b.WriteString("\n## Events\n\n| event | receivers | |\n| --- | --- | --- |\n")
	audiences := map[engine.Audience]string{
		engine.AudienceWire: "every client",
		engine.AudienceOwn:  "our own API, the page",
		engine.AudienceLog:  "the run log",
	}
	for _, e := range engine.EventTypes() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", e.Type, audiences[e.Audience], e.Doc)
	}
	return b.Bytes()
}

func table(b *bytes.Buffer, title, column, doc string, terms []engine.Term) {
	fmt.Fprintf(b, "\n## %s\n\n", title)
	if doc != "" {
		fmt.Fprintf(b, "%s\n\n", doc)
	}
	fmt.Fprintf(b, "| %s | |\n| --- | --- |\n", column)
	for _, t := range terms {
		fmt.Fprintf(b, "| `%s` | %s |\n", t.Word, t.Doc)
	}
}
