package app

import "github.com/easel-canvas/easel/engine"

// Template is a canvas that new ones can start from.
type Template struct {
	ID          string
	Title       engine.Value // language -> text
	Description engine.Value // language -> text
	Avatar      string
	Type        string
	DSL         []byte
}

// Templates are the templates of a host, read at its start.
type Templates struct {
	List []Template
	Read int64 // Unix milliseconds
}
