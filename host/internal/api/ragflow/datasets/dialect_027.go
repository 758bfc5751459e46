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
	"github.com/easel-canvas/easel/host/internal/knowledge/dataset"
)

// newer is the dialect of version 0.27.
type newer struct{}

// Newer is the dialect of version 0.27.
func Newer() Dialect { return newer{} }

// largestPage bounds the pages of lists in this version.
const largestPage = 100

// newerWording is how this version words problems.
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

func (newer) noUploadDataset(id string) error {
	return failed("Can't find the dataset with ID %s!", id)
}

func (newer) uploadsOther() bool { return true }

func (newer) countsInLists() bool { return true }

func (newer) refusedFiles(lines string, stored engine.Value) error {
	return &api.Failure{Kind: api.KindFailed, Message: lines, Data: stored, HasData: true}
}

func (newer) checkPageSize(size int) error {
	if size > largestPage {
		return api.Failed(api.KindBadRequest, "ValueError('page_size must be less than or equal to %d')", largestPage)
	}
	return nil
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

func (newer) notName(v engine.Value) error {
	return schemaError(schema.Problem{Path: []string{"name"}, Message: "Input should be a valid string", Input: v})
}

func schemaError(p schema.Problem) error { return failed("%s", schema.Problems{p}) }

func (newer) fixedMethod() error {
	return failed("the automatically detected parser type cannot be changed")
}

// documentConfig describes the settings of one document.
var documentConfig = &schema.Object{Name: "UpdateDocumentReq", Fields: []schema.Field{newerConfig}}

func (newer) checkDocumentConfig(v engine.Value) error {
	if v.Len() == 0 {
		return nil
	}
	if _, err := documentConfig.Body(engine.Object("parser_config", v.Without("metadata"))); err != nil {
		return failed("%s", err)
	}
	return nil
}

func (newer) setsPipelines() bool { return true }

// deleteDocuments deletes the named documents, or all when that is said. An unknown one refuses the
// request as a whole.
func (newer) deleteDocuments(
	ctx context.Context, f *face, r *api.Request, id string, ids []string, every bool,
) (api.Response, error) {
	unique, twice := distinct(ids, "document")
	switch {
	case len(ids) == 0 && !every:
		return nil, failed("should either provide doc ids or set delete_all(true), dataset: %s. ", id)
	case len(ids) > 0 && every:
		return nil, failed("should not provide both doc ids and delete_all(true), dataset: %s. ", id)
	case len(twice) > 0:
		return nil, api.Failed(api.KindBadArgument, "Duplicate ids: '%s'", strings.Join(repeated(twice), ", "))
	}
	if every {
		all, err := f.allDocuments(ctx, r, id)
		if err != nil {
			return nil, err
		}
		unique = all
	} else if n, err := f.namedDocuments(ctx, r, id, unique); err != nil {
		return nil, err
	} else if len(n.unknown) > 0 {
		return nil, failed("These documents do not belong to dataset %s or Document not found: %s", id,
			strings.Join(n.unknown, ", "))
	}
	deleted, err := f.data.DeleteDocuments(ctx, r.Who, id, unique...)
	return ok(engine.Object("deleted", deleted), err)
}

// repeated are the ids in lines of distinct.
func repeated(lines []string) []string {
	ids := make([]string, len(lines))
	for i, line := range lines {
		ids[i] = line[strings.LastIndexByte(line, ' ')+1:]
	}
	return ids
}

func (newer) refusesParse(v dataset.Document) bool { return isActive(v) }

func (newer) notStoppable() error {
	return &api.Failure{
		Kind: api.KindInvalid, Message: "Can't stop parsing document that has not started or already completed",
		Data: engine.Object("error_code", "DOC_STOP_PARSING_INVALID_STATE"), HasData: true,
	}
}

func (newer) chunkRow(v dataset.Chunk) engine.Value {
	b := chunkRow(v)
	return b.Set("doc_type_kwd", engine.String(typeOf(v))).Set("tag_kwd", engine.Strings(v.Tags...)).Value()
}

func (newer) addedChunk(b *engine.ObjectBuilder, v dataset.Chunk) engine.Value {
	return b.Set("tag_kwd", engine.Strings(v.Tags...)).Set("image_id", engine.String(v.Image)).Value()
}

func (newer) noChunk(path string) error { return failed("Chunk not found: %s", path) }

func (newer) notContent(engine.Value) error { return failed("`content` is required") }

func (newer) notTexts(name string, _ int, _ engine.Value) error {
	return failed("`%s` must be a list of strings", name)
}

func (newer) deletesUnnamed(every bool) bool { return every }

func (newer) hitRow(h app.SearchHit, q *query) engine.Value {
	return hit(h, q).Set("tag_kwd", engine.Strings(h.Tags...)).Set("row_id", engine.Null).Value()
}

func (newer) badTopK() error { return failed("`top_k` must be greater than 0") }

// highlight marks found words when a client says so.
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
