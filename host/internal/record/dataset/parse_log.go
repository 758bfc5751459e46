package dataset

import "encoding/json"

// ParseLog records how one parse of a document ended.
type ParseLog struct {
	ID       string `json:"id"`
	Dataset  string `json:"dataset"`
	Document string `json:"document"`
	// Name, Kind, Source, Method and Pipeline of the document at that time.
	Name     string  `json:"document_name"`
	Kind     string  `json:"kind"`
	Source   string  `json:"source"`
	Method   string  `json:"method"`
	Pipeline string  `json:"pipeline,omitempty"`
	Title    string  `json:"pipeline_title,omitempty"` // of the pipeline
	Node     string  `json:"node,omitempty"`           // that the pipeline started at; "" is File
	State    State   `json:"state"`                    // Done, Failed or Canceled
	Progress float64 `json:"progress"`
	Messages string  `json:"messages,omitempty"` // lines, "15:04:05 text" each
	Chunks   int     `json:"chunks"`             // of the document afterwards
	Began    int64   `json:"began,omitempty"`    // Unix milliseconds; 0 if it was canceled in the queue
	Duration int64   `json:"duration,omitempty"` // milliseconds
	Created  int64   `json:"created"`            // Unix milliseconds
	// Canvas is the pipeline with the outputs of its nodes. It is there for the newest parse of a
	// document, unless it is too large.
	Canvas json.RawMessage `json:"-"`
}

// Rerun starts a pipeline at a node.
type Rerun struct {
	Node string
	// Canvas is the pipeline with the outputs of the nodes before.
	Canvas json.RawMessage
	By     string // the member who asked for it
}

// Ran is a pipeline that ran on a document.
type Ran struct {
	Title string
	// Canvas is the pipeline with the outputs of its nodes.
	Canvas json.RawMessage
}
