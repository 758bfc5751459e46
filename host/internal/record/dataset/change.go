package dataset

import "github.com/easel-canvas/easel/host/internal/access"

// Change is a document after its last change that followers of its dataset see.
type Change struct {
	Document
	Seq int64 // number of the change; the changes of a dataset have ascending numbers
}

// Head is the state of a dataset that its followers compare.
type Head struct {
	ID, Tenant, CreatedBy string
	Team                  bool   // see [Dataset]
	Project               string // see [Dataset]
	Policy                access.Policy
	Changes               int64 // number of the last change of its documents, deletions included
}

// Waiting is a document that waits to be parsed.
type Waiting struct{ Dataset, Document string }
