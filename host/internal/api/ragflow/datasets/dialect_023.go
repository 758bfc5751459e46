package datasets

import (
	"context"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/schema"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// older is the dialect of version 0.23.
type older struct{}

// Older is the dialect of version 0.23.
func Older() Dialect { return older{} }

var olderRequests = func() *requests {
	w := &wording{methods: methods}
	threshold := share("threshold", 0.1)
	config := parserConfig(graphrag("light", "general"), raptor(1, threshold))
	fields := w.fields(config)
	ids := w.removal()
	ids.Required = true
	return &requests{
		create: w.creation(fields...), update: w.change(fields...),
		remove: &schema.Object{Name: "DeleteDatasetReq", Fields: []schema.Field{ids}},
		list:   w.listing(),
	}
}()

func (older) requests() *requests { return olderRequests }

func (older) lacks(tenant, what string) error {
	return api.Failed(api.KindForbidden, "User '%s' lacks permission for %s", tenant, what)
}

func (older) badModel(model string) error {
	return api.Failed(api.KindBadArgument, "Unsupported model: <%s>", model)
}

func (older) changesModel(v dataset.Dataset) error {
	return failed("When chunk_num (%d) > 0, embedding_model must remain %s", v.Chunks, v.EmbeddingModel)
}

func (older) nothingModified() error {
	return api.Failed(api.KindBadArgument, "No properties were modified")
}

func (older) deletesAll(in *schema.Input) bool { return in.Get("ids").IsNull() }

func (older) deletedDatasets(int) api.Response { return envelope.Result(engine.Null) }

func (older) datasetRow(v dataset.Dataset) engine.Value { return datasetRow(v) }

func (older) summary(counts map[string]int) engine.Value { return valueCounts(counts) }

func (older) say(sentence string) error { return failed("%s", sentence) }

func (older) noDocument(id string) error { return failed("You don't own the document %s.", id) }

func (older) uploadsOther() bool { return false }

func (older) countsInLists() bool { return false }

func (older) refusedFiles(lines string, _ engine.Value) error {
	return api.Failed(api.KindFailed, "%s", lines)
}

func (older) refusals() *refusals { return olderRefusals }

// page refuses texts other than numbers; page 0 is the first one, and a size of 0 has no rows.
func (older) page(q api.Query) (page, size int, err error) {
	if page, err = number(q, "page", 1); err != nil {
		return 0, 0, err
	}
	size, err = number(q, "page_size", defaultPageSize)
	return max(page, 1), max(size, 0), err
}

// documentOrder ignores orders that are not known.
func (older) documentOrder(asked string) (string, error) {
	switch asked {
	case "update_time", "name":
		return asked, nil
	}
	return "create_time", nil
}

func (older) checkDocument(engine.Value) error { return nil }

func (older) setsPipelines() bool { return false }

// deleteDocuments deletes all documents when none is named, as clients of this version rely on.
func (older) deleteDocuments(ctx context.Context, f *face, r *api.Request, id string) (api.Response, error) {
	if _, err := f.dataset(ctx, r, id, foreignDataset(id)); err != nil {
		return nil, err
	}
	if err := f.loose(r); err != nil {
		return nil, err
	}
	ids := r.Body.Texts("ids")
	if err := r.Body.Valid(); err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		every, err := f.allDocuments(ctx, r, id)
		if err != nil {
			return nil, err
		}
		r.Logger().Info("all documents deleted by a request that names none", "dataset", id, "documents", len(every))
		_, err = f.data.DeleteDocuments(ctx, r.Who, id, every...)
		return ok(engine.Null, err)
	}
	n, err := f.namedDocuments(ctx, r, id, ids)
	if err != nil {
		return nil, err
	}
	if len(n.known) > 0 {
		if _, err := f.data.DeleteDocuments(ctx, r.Who, id, n.known...); err != nil {
			return nil, err
		}
	}
	if len(n.unknown) > 0 {
		return nil, notFound(n.unknown)
	}
	return f.partly(len(n.known), n.twice), nil
}

func (older) refusesParse(v dataset.Document) bool {
	return v.State == dataset.Running && v.Progress > 0 && v.Progress < 1
}

func (older) chunkRow(v dataset.Chunk) engine.Value { return chunkRow(v).Value() }

func (older) addedChunk(b *engine.ObjectBuilder, _ dataset.Chunk) engine.Value { return b.Value() }

func (older) noChunk(path string) error {
	return api.Failed(api.KindNoResource, "Chunk not found: %s", path)
}

func (older) notContent(v engine.Value) error {
	return api.Failed(api.KindBadRequest, `TypeError("unsupported operand type(s) for +: '%s' and 'str'")`,
		schema.TypeName(v))
}

func (older) notTexts(_ string, i int, v engine.Value, _ bool) error { return joinError(i, v) }

func (older) available(v engine.Value) (bool, error) { return isOn(v), nil }

// deletesUnnamed deletes all, as clients of this version rely on.
func (older) deletesUnnamed(bool) bool { return true }

func (older) hitRow(h app.SearchHit, q *query) engine.Value { return hit(h, q).Value() }

// highlight marks found words unless a client opts out.
func (older) highlight(v engine.Value) (bool, error) {
	switch {
	case v.Kind() == engine.KindBool:
		return v.True(), nil
	case v.Kind() == engine.KindString:
		return !strings.EqualFold(v.Str(), "false"), nil
	}
	return true, nil
}

func (older) metadataFields(engine.Value) ([]string, bool) { return nil, false }

func (older) difyLacks(names []string) error { return api.Lacking(names) }

func (older) difyRecord(h app.SearchHit) engine.Value { return difyRecord(h) }
