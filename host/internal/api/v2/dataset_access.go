package v2

import (
	"context"
	"encoding/json"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

// datasetAccess decides who reads the documents of datasets.
type datasetAccess struct{ in datasets }

func (a datasetAccess) operations() []operation {
	return []operation{
		handle(operation{
			method: "PUT", path: oneDataset + "/access", body: api.BodySmall, scope: app.ScopeEdit,
			name: "setDatasetAccess",
			about: "Set who reads the documents of a dataset, from the next search on. With enforce these are those " +
				"whom the list of a document lets in, or else the default, by entries all, user:ID and " +
				"group:NAME; without a default no one. Without enforce all who can see the dataset read them. " +
				"Only the creator of the dataset, or with the scope admin, who does not become a reader by that.",
		}, a.setPolicy),
		handle(operation{
			method: "PUT", path: oneDataset + "/access/documents", body: api.BodySmall, scope: app.ScopeEdit,
			name: "setDocumentAccess",
			about: "Set who reads documents of a dataset, from the next search on, if the dataset enforces that. " +
				"Entries are all, user:ID and group:NAME; an empty list is no one. Only the creator of the " +
				"dataset, or with the scope admin.",
		}, a.setAccess),
	}
}

// policyView is who reads the documents of a dataset.
type policyView struct {
	Enforce bool      `json:"enforce" jsonschema:"whether the lists count"`
	Default *[]string `json:"default,omitempty" jsonschema:"for documents without a list"`
}

func policyViewOf(p access.Policy) policyView { return policyView{p.Enforce, entriesOf(p.Default)} }

// entriesOf are the entries of a list; nil for none.
func entriesOf(list access.List) *[]string {
	if list == "" {
		return nil
	}
	entries := list.Entries()
	return &entries
}

// listOf reads the entries of a list; nil for none.
func listOf(entries *[]string) (access.List, error) {
	if entries == nil {
		return "", nil
	}
	if *entries == nil {
		return access.NoReaders, nil
	}
	return app.AccessList(*entries)
}

type setPolicy struct {
	Who  app.Principal
	ID   string `path:"dataset"`
	Body policyView
}

func (a datasetAccess) setPolicy(ctx context.Context, in setPolicy) (datasetView, error) {
	list, err := listOf(in.Body.Default)
	if err != nil {
		return datasetView{}, err
	}
	policy := access.Policy{Enforce: in.Body.Enforce, Default: list}
	v, err := app.SetPolicy(ctx, a.in.Datasets, in.Who, in.ID, policy)
	return datasetViewOf(v), err
}

type documentAccess struct {
	Documents namedDocuments `json:"documents,omitempty" jsonschema:"document ids; if absent, all"`
	Access    *[]string      `json:"access,omitempty" jsonschema:"absent for the default"`
}

// namedDocuments are documents by id. Clients send null for a list that they have not filled, which
// must not mean all.
type namedDocuments []string

func (d *namedDocuments) UnmarshalJSON(text []byte) error {
	if err := json.Unmarshal(text, (*[]string)(d)); err != nil || len(*d) > 0 {
		return err
	}
	*d = namedDocuments{}
	return nil
}

type setAccess struct {
	Who  app.Principal
	ID   string `path:"dataset"`
	Body documentAccess
}

type documentsChanged struct {
	Updated int `json:"updated" jsonschema:"number of documents"`
}

func (a datasetAccess) setAccess(ctx context.Context, in setAccess) (documentsChanged, error) {
	documents := in.Body.Documents
	if documents != nil && len(documents) == 0 {
		return documentsChanged{}, badMember("documents", "documents must name one at least, or be absent for all")
	}
	list, err := listOf(in.Body.Access)
	if err != nil {
		return documentsChanged{}, err
	}
	n, err := app.SetAccess(ctx, a.in.Datasets, in.Who, in.ID, list, documents)
	if err == nil && n == 0 && documents != nil {
		err = app.Missing("document")
	}
	return documentsChanged{n}, err
}
