package datasets

import (
	"context"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/schema"
)

// refusals are failures that each version words in its own way.
type refusals struct {
	// body refuses JSON that is not an object.
	body func(v engine.Value) error
	// noDataset refuses to download from an unknown dataset, noFile an unknown document of a known
	// one and noDocument an unknown document whose dataset the path does not name.
	noDataset, noFile, noDocument func(id string) error
	// unauthorized refuses documents that the principal may not use.
	unauthorized error
	// noChunksOf refuses an unknown document whose chunks are deleted, noSwitch one whose chunks
	// are switched.
	noChunksOf func(document string) error
	noSwitch   error
	// noReranker refuses an unknown reranking model.
	noReranker func(name string) error
	// noUploadDataset refuses the dataset of an upload.
	noUploadDataset func(id string) error
	// fixedMethod refuses another chunk method for a document whose kind decides it.
	fixedMethod error
	// notStoppable refuses to stop a document that is not being parsed.
	notStoppable error
	// badTopK refuses a number of candidates.
	badTopK error
	// largestPage bounds the pages of lists; 0 means unbounded.
	largestPage int
	// emptyDataset and emptyDocument refuse a GET whose path has an empty id of a dataset, or of a
	// document before /chunks.
	emptyDataset  func(tenant string) error
	emptyDocument error
}

var olderRefusals = &refusals{
	body: func(v engine.Value) error {
		kind := schema.TypeName(v)
		return api.Failed(api.KindBadRequest, `AttributeError("'%s' object has no attribute 'get'")`, kind)
	},
	noDataset:    func(id string) error { return failed("You do not own the dataset %s.", id) },
	noFile:       noFile,
	noDocument:   noFile,
	unauthorized: api.Refused(api.KindBadCredentials, "No authorization."),
	noChunksOf: func(document string) error {
		return api.Failed(api.KindBadRequest, `LookupError("Can't find the document with ID %s!")`, document)
	},
	noSwitch: failed("Document not found!"),
	noReranker: func(name string) error {
		return api.Failed(api.KindBadRequest, "LookupError('Model(%.80s) not authorized')", name)
	},
	noUploadDataset: func(id string) error {
		return api.Failed(api.KindBadRequest, `LookupError("Can't find the dataset with ID %s!")`, id)
	},
	fixedMethod:   failed("Not supported yet!"),
	notStoppable:  failed("Can't stop parsing document with progress at 0 or 1"),
	badTopK:       api.Failed(api.KindBadRequest, "%s", topKBelowOne),
	emptyDataset:  func(string) error { return notAllowed },
	emptyDocument: noFile("chunks"),
}

var newerRefusals = &refusals{
	body: func(v engine.Value) error {
		if v.Kind() == engine.KindString {
			return olderRefusals.body(v)
		}
		return api.Failed(api.KindBadRequest, "TypeError('JSON payload must be an object.')")
	},
	noDataset:       func(string) error { return errNoFile },
	noFile:          func(string) error { return errNoFile },
	noDocument:      func(string) error { return errNoFile },
	unauthorized:    api.Refused(api.KindBadCredentials, "no authorization"),
	noChunksOf:      func(document string) error { return newer{}.noDocument(document) },
	noSwitch:        errNoFile,
	noReranker:      newer{}.badModel,
	noUploadDataset: func(id string) error { return failed("Can't find the dataset with ID %s!", id) },
	fixedMethod:     failed("the automatically detected parser type cannot be changed"),
	notStoppable: &api.Failure{
		Kind: api.KindInvalid, Message: "Can't stop parsing document that has not started or already completed",
		Data: engine.Object("error_code", "DOC_STOP_PARSING_INVALID_STATE"), HasData: true,
	},
	badTopK:       failed("%s", topKBelowOne),
	largestPage:   largestPage,
	emptyDataset:  func(tenant string) error { return newer{}.lacks(tenant, "dataset 'documents'") },
	emptyDocument: errNoFile,
}

const topKBelowOne = "`top_k` must be greater than 0"

// checkPageSize refuses pages that are too large.
func (w *refusals) checkPageSize(size int) error {
	if w.largestPage > 0 && size > w.largestPage {
		return api.Failed(api.KindBadRequest, "ValueError('page_size must be less than or equal to %d')", w.largestPage)
	}
	return nil
}

// errNoFile refuses a document that does not exist, or that the principal may not use.
var errNoFile = failed("document not found")

func noFile(id string) error { return failed("The dataset not own the document %s.", id) }

// notAllowed refuses a method that a path does not have.
var notAllowed = api.Failed(api.KindBadRequest, "<MethodNotAllowed '405: Method Not Allowed'>")

// refuse answers a route with a failure.
func refuse(err error) api.Handler {
	return func(context.Context, *api.Request) (api.Response, error) { return nil, err }
}

// emptyIDRoutes answer clients that put an empty id into a path as the original does, which reads
// two slashes as one.
func emptyIDRoutes(w *refusals) []api.Route {
	return []api.Route{
		get(all+"//documents", func(_ context.Context, r *api.Request) (api.Response, error) {
			return nil, w.emptyDataset(r.Who.Tenant)
		}),
		bodiless("POST DELETE", all+"//documents", refuse(notAllowed)),
		bodiless("POST DELETE", all+"//chunks", refuse(notAllowed)),
		bodiless("POST DELETE", documents+"//chunks", refuse(notAllowed)),
		get(documents+"//chunks", refuse(w.emptyDocument)),
	}
}
