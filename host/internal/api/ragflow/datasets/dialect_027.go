package datasets

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/schema"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// newer is the dialect of version 0.27.
type newer struct{}

// Newer is the dialect of version 0.27.
func Newer() Dialect { return newer{} }

// largestPage bounds the pages of lists in this version.
const largestPage = 100

// newerWording words problems as version 0.27 does.
var newerWording = &wording{
	methods: append(slices.Clone(methods), "resume"), anyUUID: true, emptyAvatar: true, builtIn: 1, lower: true,
}

// newerConfig describes the settings of a method.
var newerConfig = func() schema.Field {
	raptors := raptor(512,
		share("clustering_threshold", 0.3), oneOf("clustering_method", "gmm", "gmm", "ahc"),
		oneOf("tree_builder", "raptor", "raptor", "psi"),
		schema.Field{Name: "auto_disable_for_structured_data", Type: schema.Boolean, Default: engine.Bool(true)},
		schema.Field{Name: "threshold", Type: schema.Number, Null: true, Least: bound(0), Most: bound(1)},
		anyMembers("ext"),
	)
	family := &schema.Object{Name: "ParentChildConfig", Fields: []schema.Field{
		flag("use_parent_child"), {Name: "children_delimiter", Least: bound(1), Default: engine.String("\n")},
	}}
	mode := oneOf("table_column_mode", "", "auto", "manual")
	names := texts("table_column_names")
	roles := schema.Field{Name: "table_column_roles", Type: schema.Map, Null: true, After: checkRoles}
	for _, f := range []*schema.Field{&mode, &names} {
		f.Null, f.Default = true, engine.Null
	}
	return parserConfig(graphrag("light", "general", "ner"), raptors,
		model("parent_child", family), flag("enable_children"), mode, roles, names,
		schema.Field{Name: "compilation_template_group_id", Null: true}, anyMembers("ext"),
	)
}()

// anyMembers describes an object of any members.
func anyMembers(name string) schema.Field {
	return schema.Field{Name: name, Type: schema.Map, Default: engine.Object()}
}

// checkRoles checks what the columns of a table are for.
func checkRoles(v engine.Value) (engine.Value, string) {
	roles := []string{"indexing", "metadata", "both"}
	for _, role := range v.Fields() {
		if !slices.Contains(roles, role.Str()) {
			return v, schema.OneOf(roles)
		}
	}
	return v, ""
}

var newerRequests = func() *requests {
	w := newerWording
	auto := schema.Field{Name: "auto_metadata_config", Type: schema.Model, Null: true, Object: autoMetadata}
	fields := append(w.fields(newerConfig), auto, anyMembers("ext"))
	language := schema.Field{Name: "language", Null: true, Most: bound(32)}
	connectors := texts("connectors")
	connectors.Items = &schema.Field{Type: schema.Map}
	list := w.listing(schema.Field{Name: "ids"}, schema.Field{Name: "include_parsing_status", Type: schema.Boolean},
		schema.Field{Name: "ext"})
	for i := range list.Fields {
		if list.Fields[i].Name == "page_size" {
			list.Fields[i].After = checkLargestPage
		}
	}
	return &requests{
		create: w.creation(fields...), update: w.change(append(fields, language, connectors)...),
		remove: &schema.Object{Name: "DeleteDatasetReq", Fields: []schema.Field{w.removal(), flag("delete_all")}},
		list:   list,
	}
}()

func checkLargestPage(v engine.Value) (engine.Value, string) {
	if intOf(v) > largestPage {
		return v, "Value error, page_size must be less than or equal to 100"
	}
	return v, ""
}

func (newer) requests() *requests { return newerRequests }

func (newer) lacks(tenant, what string) error {
	return failed("User '%s' lacks permission for %s", tenant, what)
}

func (newer) badModel(model string) error { return failed("Unsupported model: <%s>", model) }

func (newer) changesModel(dataset.Dataset) error { return nil }

func (newer) nothingModified() error { return failed("no properties were modified") }

func (newer) deletesAll(in *schema.Input) bool {
	return in.Get("delete_all").True() && in.Get("ids").Len() == 0
}

func (newer) deletedDatasets(n int) api.Response {
	return envelope.Result(engine.Object("success_count", n))
}

func (newer) datasetRow(v dataset.Dataset) engine.Value {
	return datasetRow(v).With("connectors", none)
}

func (newer) summary(counts map[string]int) engine.Value { return typedCounts(counts) }

// say writes a sentence without its capital and its full stop.
func (newer) say(sentence string) error {
	letters := []rune(strings.TrimSuffix(sentence, "."))
	letters[0] = unicode.ToLower(letters[0])
	return failed("%s", string(letters))
}

func (newer) noDocument(id string) error { return failed("you don't own the document %s", id) }

func (newer) uploadsOther() bool { return true }

func (newer) countsInLists() bool { return true }

func (newer) refusedFiles(lines string, stored engine.Value) error {
	return &api.Failure{Kind: api.KindFailed, Message: lines, Data: stored, HasData: true}
}

func (newer) refusals() *refusals { return newerRefusals }

// page reads texts other than numbers, and numbers below 1, as the first page and a page of the
// usual size.
func (newer) page(q api.Query) (page, size int, err error) {
	if page, err = number(q, "page", 1); err != nil || page < 1 {
		page = 1
	}
	if size, err = number(q, "page_size", defaultPageSize); err != nil || size < 1 {
		size = defaultPageSize
	}
	return page, size, newerRefusals.checkPageSize(size)
}

func (newer) documentOrder(asked string) (string, error) {
	switch asked {
	case "":
		return "create_time", nil
	case "create_time", "update_time", "name", "size":
		return asked, nil
	}
	return "", api.Failed(api.KindBadArgument, "invalid orderby field: %.80s", asked)
}

// changedDocument describes what a request may change of a document.
var changedDocument = func() *schema.Object {
	config := newerConfig
	config.Before = func(v engine.Value) engine.Value { return v.Without("metadata") }
	return &schema.Object{Name: "UpdateDocumentReq", Loose: true, Fields: []schema.Field{
		{Name: "name", Most: bound(longestText)},
		{Name: "chunk_method", Null: true, Most: bound(longestText), After: checkDocumentMethod},
		{Name: "pipeline_id", Null: true, Most: bound(longestText)},
		{Name: "enabled", Type: schema.Integer, Null: true, Least: bound(0), Most: bound(1), Before: numberOfFlag},
		{Name: "chunk_count", Type: schema.Integer, Null: true, Least: bound(0)},
		{Name: "token_count", Type: schema.Integer, Null: true, Least: bound(0)},
		{Name: "progress", Type: schema.Number, Null: true, Least: bound(0), Most: bound(1)},
		config,
		{Name: "meta_fields", Type: schema.Map, Null: true, After: checkMetaFields},
	}}
}()

// numberOfFlag is 1 for true and 0 for false: clients send both.
func numberOfFlag(v engine.Value) engine.Value {
	switch {
	case v.Kind() != engine.KindBool:
		return v
	case v.True():
		return engine.Int(1)
	}
	return zero
}

func checkDocumentMethod(v engine.Value) (engine.Value, string) {
	if v.Str() != "" && !slices.Contains(documentMethods, v.Str()) {
		return v, "`chunk_method` " + v.Str() + " doesn't exist"
	}
	return v, ""
}

// checkMetaFields accepts texts, numbers, booleans and lists of them.
func checkMetaFields(v engine.Value) (engine.Value, string) {
	for _, one := range v.Fields() {
		switch {
		case one.Kind() == engine.KindList:
			if containsNested(one) {
				return v, "The type is not supported in list: " + schema.Repr(one)
			}
		case isNested(one):
			return v, "The type is not supported: " + schema.Repr(one)
		}
	}
	return v, ""
}

func containsNested(list engine.Value) bool {
	for _, one := range list.Elements() {
		if isNested(one) {
			return true
		}
	}
	return false
}

func isNested(v engine.Value) bool {
	return v.Kind() == engine.KindNull || v.Kind() == engine.KindList || v.Kind() == engine.KindObject
}

func (newer) checkDocument(body engine.Value) error {
	if _, err := changedDocument.Body(body); err != nil {
		return failed("%s", err)
	}
	if method := body.Get("chunk_method"); method.Kind() == engine.KindString && method.Str() == "" {
		return failed("`chunk_method` (empty string) is not valid")
	}
	return nil
}

func (newer) setsPipelines() bool { return true }

// documentRemoval describes the request that deletes documents.
var documentRemoval = &schema.Object{Name: "DeleteDocumentReq", Fields: []schema.Field{
	{Name: "ids", Type: schema.List, Null: true, Items: &schema.Field{Type: schema.String}, After: checkDistinct},
	flag("delete_all"),
}}

// checkDistinct refuses a list that names something twice.
func checkDistinct(v engine.Value) (engine.Value, string) {
	seen := make(map[string]int, v.Len())
	var twice []string
	for _, id := range textsOf(v) {
		if seen[id]++; seen[id] == 2 {
			twice = append(twice, id)
		}
	}
	if len(twice) > 0 {
		return v, "Duplicate ids: '" + strings.Join(twice, ", ") + "'"
	}
	return v, ""
}

// deleteDocuments deletes the named documents, or all when that is said. An unknown one refuses the
// request as a whole.
func (newer) deleteDocuments(ctx context.Context, f *face, r *api.Request, id string) (api.Response, error) {
	in, err := strict(r, documentRemoval)
	if err != nil {
		return nil, err
	}
	if _, err := f.dataset(ctx, r, id, foreignDataset(id)); err != nil {
		return nil, err
	}
	ids, every := textsOf(in.Get("ids")), in.Get("delete_all").True()
	switch {
	case len(ids) == 0 && !every:
		return nil, failed("should either provide doc ids or set delete_all(true), dataset: %s. ", id)
	case len(ids) > 0 && every:
		return nil, failed("should not provide both doc ids and delete_all(true), dataset: %s. ", id)
	}
	if every {
		if ids, err = f.allDocuments(ctx, r, id); err != nil {
			return nil, err
		}
	} else if n, err := f.namedDocuments(ctx, r, id, ids); err != nil {
		return nil, err
	} else if len(n.unknown) > 0 {
		return nil, failed("These documents do not belong to dataset %s or Document not found: %s", id,
			strings.Join(n.unknown, ", "))
	}
	deleted, err := f.data.DeleteDocuments(ctx, r.Who, id, ids...)
	return ok(engine.Object("deleted", deleted), err)
}

func (newer) refusesParse(v dataset.Document) bool { return isActive(v) }

func (newer) chunkRow(v dataset.Chunk) engine.Value {
	b := chunkRow(v)
	return b.Set("doc_type_kwd", engine.String(kindOf(v))).Set("tag_kwd", engine.Strings(v.Tags...)).Value()
}

func (newer) addedChunk(b *engine.ObjectBuilder, v dataset.Chunk) engine.Value {
	b.Set("tag_kwd", engine.Strings(v.Tags...)).Set("image_id", engine.String(v.Image))
	return b.Set("doc_type_kwd", engine.String(kindOf(v))).Value()
}

func (newer) noChunk(path string) error { return failed("Chunk not found: %s", path) }

func (newer) notContent(engine.Value) error { return failed("`content` is required") }

// notTexts refuses numbers among the keywords and questions of a changed chunk as the original
// does, which joins them without a check.
func (newer) notTexts(name string, i int, v engine.Value, changed bool) error {
	if changed && name != "tag_kwd" {
		return joinError(i, v)
	}
	return failed("`%s` must be a list of strings", name)
}

// available reads 1, 0, true and false; texts must be digits.
func (newer) available(v engine.Value) (bool, error) {
	if v.Kind() != engine.KindString {
		return v.Truthy(), nil
	}
	n, err := wholeOf(engine.Object("available", v), "available", 0)
	return n != 0, err
}

func (newer) deletesUnnamed(every bool) bool { return every }

func (newer) hitRow(h app.SearchHit, q *query) engine.Value {
	return hit(h, q).Set("tag_kwd", engine.Strings(h.Tags...)).Set("row_id", engine.Null).Value()
}

// highlight marks found words on request.
func (newer) highlight(v engine.Value) (bool, error) {
	switch {
	case v.IsNull():
		return false, nil
	case v.Kind() == engine.KindBool:
		return v.True(), nil
	case strings.EqualFold(v.Str(), "true"):
		return true, nil
	case strings.EqualFold(v.Str(), "false"):
		return false, nil
	}
	return false, failed("`highlight` should be a boolean")
}

// metadataFields reads reference_metadata, or its older form.
func (newer) metadataFields(body engine.Value) ([]string, bool) {
	wanted := body.Get("reference_metadata")
	on, fields := isOn(wanted.Get("include")), wanted.Get("fields")
	if wanted.IsNull() {
		on, fields = isOn(body.Get("include_metadata")), body.Get("metadata_fields")
	}
	return textsOf(fields), on
}

func (newer) difyLacks(names []string) error {
	return api.Failed(api.KindBadArgument, "required arguments are missing: %s; ", strings.Join(names, ","))
}

func (newer) difyRecord(h app.SearchHit) engine.Value {
	v := difyRecord(h)
	return v.With("metadata", v.Get("metadata").With("document_id", engine.String(h.Document)))
}
