package datasets

import (
	"encoding/hex"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/schema"
)

// requests describe the bodies and queries about datasets in one dialect.
type requests struct {
	create, update, remove, list *schema.Object
}

// Bounds of texts, in characters.
const (
	longestName  = 128
	longestText  = 65_535
	longestModel = 255
	idLength     = 32
)

// methods are the chunk methods that both dialects have, in the order in which problems name them.
var methods = []string{
	"naive", "book", "email", "laws", "manual", "one", "paper", "picture", "presentation", "qa", "table", "tag",
}

// wording words the problems of requests in one dialect.
type wording struct {
	methods []string
	// anyUUID accepts ids of all versions of UUIDs, not only of the first.
	anyUUID bool
	// emptyAvatar accepts "" for no avatar.
	emptyAvatar bool
	// builtIn is the parse_type that is allowed together with a chunk_method, 0 for none.
	builtIn int64
	// lower makes the first letter of problems with avatars and models small.
	lower bool
}

// say changes the first letter of a problem as the dialect writes it.
func (w *wording) say(text string) string {
	if w.lower {
		return strings.ToLower(text[:1]) + text[1:]
	}
	return text
}

// fields describes requests that create or change a dataset.
func (w *wording) fields(config schema.Field) []schema.Field {
	return []schema.Field{
		{Name: "name", Required: true, Trim: true, Least: bound(1), Most: bound(longestName)},
		{Name: "avatar", Null: true, Most: bound(longestText), After: w.checkAvatar},
		{Name: "description", Null: true, Most: bound(longestText)},
		{Name: "embedding_model", Null: true, Most: bound(longestModel), Before: trim, After: w.checkModel},
		{
			Name: "permission", Type: schema.Choice, Values: []string{"me", "team"},
			Default: engine.String("me"),
		},
		{Name: "parse_type", Type: schema.Integer, Null: true, Least: bound(0), Most: bound(64)},
		{Name: "pipeline_id", Null: true, After: checkPipeline},
		{
			Name: "chunk_method", Type: schema.Choice, Values: w.methods, Wrong: schema.OneOf(w.methods),
		},
		config,
	}
}

// creation describes the request that creates a dataset.
func (w *wording) creation(fields ...schema.Field) *schema.Object {
	return &schema.Object{Name: "CreateDatasetReq", Fields: fields, Check: w.checkPipelineUse}
}

// change describes the request that changes a dataset; more are its members in one dialect alone.
func (w *wording) change(fields ...schema.Field) *schema.Object {
	fields = slices.Clone(fields)
	fields[0].Required = false
	id := schema.Field{Name: "dataset_id", After: w.checkID}
	rank := whole("pagerank", 0, 100, zero)
	return &schema.Object{
		Name: "UpdateDatasetReq", Fields: append([]schema.Field{id, rank}, fields...), Check: w.checkPipelineUse,
	}
}

// listing describes the query of a list; more are its members in one dialect alone.
func (w *wording) listing(more ...schema.Field) *schema.Object {
	return &schema.Object{Name: "ListDatasetReq", Fields: append([]schema.Field{
		{Name: "id", After: w.checkID},
		{Name: "name"},
		whole("page", 1, -1, engine.Int(1)),
		whole("page_size", 1, -1, engine.Int(defaultPageSize)),
		oneOf("orderby", "create_time", "create_time", "update_time"),
		{Name: "desc", Type: schema.Boolean, Default: engine.Bool(true)},
	}, more...)}
}

// removal describes the ids of a request that deletes datasets.
func (w *wording) removal() schema.Field {
	return schema.Field{
		Name: "ids", Type: schema.List, Null: true, Items: &schema.Field{Type: schema.String}, After: w.checkIDs,
	}
}

func trim(v engine.Value) engine.Value {
	if v.Kind() == engine.KindString {
		return engine.String(strings.TrimSpace(v.Str()))
	}
	return v
}

func (w *wording) checkAvatar(v engine.Value) (engine.Value, string) {
	prefix, _, found := strings.Cut(v.Str(), ",")
	mime, isData := strings.CutPrefix(prefix, "data:")
	mime, _, _ = strings.Cut(mime, ";")
	switch {
	case v.Str() == "" && w.emptyAvatar:
		return v, ""
	case !found:
		return v, w.say("Missing MIME prefix. Expected format: data:<mime>;base64,<data>")
	case !isData:
		return v, w.say("Invalid MIME prefix format. Must start with 'data:'")
	case mime != "image/jpeg" && mime != "image/png":
		return v, w.say("Unsupported MIME type. Allowed: ['image/jpeg', 'image/png']")
	}
	return v, ""
}

func (w *wording) checkModel(v engine.Value) (engine.Value, string) {
	name, provider, found := strings.Cut(v.Str(), "@")
	switch {
	case w.anyUUID && isHex(v.Str()):
		return v, "" // the id of a model
	case !found:
		return v, "Embedding model identifier must follow <model_name>@<provider> format"
	case strings.TrimSpace(name) == "" || strings.TrimSpace(provider) == "":
		return v, "Both model_name and provider must be non-empty strings"
	}
	return v, ""
}

func isHex(id string) bool {
	_, err := hex.DecodeString(id)
	return err == nil && len(id) == idLength
}

func checkPipeline(v engine.Value) (engine.Value, string) {
	switch id := v.Str(); {
	case id == "":
		return engine.Null, ""
	case !isHex(id):
		return v, "pipeline_id must be 32 hex characters"
	default:
		return engine.String(strings.ToLower(id)), ""
	}
}

// checkPipelineUse refuses a pipeline together with a chunk method, and half a pipeline.
func (w *wording) checkPipelineUse(in *schema.Input) string {
	parse, pipeline := in.Get("parse_type"), in.Get("pipeline_id")
	kind, _ := parse.Int()
	builtIn := w.builtIn != 0 && kind == w.builtIn
	var sent, missing []string
	for _, one := range []struct {
		name    string
		v       engine.Value
		allowed bool // together with a chunk method
	}{{"parse_type", parse, builtIn}, {"pipeline_id", pipeline, false}} {
		switch {
		case one.v.IsNull():
			missing = append(missing, one.name)
		case !one.allowed:
			sent = append(sent, one.name)
		}
	}
	switch {
	case in.Has("chunk_method") && len(sent) > 0:
		return "parser_id provided → disallowed fields present: " + strings.Join(sent, ", ")
	case !in.Has("chunk_method") && len(missing) == 1 && (in.Has("parse_type") || in.Has("pipeline_id")):
		return "parser_id omitted → required fields missing: " + strings.Join(missing, ", ")
	}
	return ""
}

// checkID accepts the id of a dataset and writes it without hyphens, in small letters.
func (w *wording) checkID(v engine.Value) (engine.Value, string) {
	id := strings.ToLower(strings.NewReplacer("-", "", "{", "", "}", "", "urn:", "", "uuid:", "").Replace(v.Str()))
	switch {
	case !w.anyUUID && (!isHex(id) || !isVersion1(id)):
		return v, "Invalid UUID1 format"
	case !isHex(id):
		return v, "Invalid UUID format"
	}
	return engine.String(id), ""
}

// isVersion1 reports whether a UUID has version 1 and the variant of RFC 9562.
func isVersion1(id string) bool { return id[12] == '1' && strings.IndexByte("89ab", id[16]) >= 0 }

// checkIDs is checkID for a list, which names none twice.
func (w *wording) checkIDs(v engine.Value) (engine.Value, string) {
	ids := make([]string, 0, v.Len())
	seen := make(map[string]int, v.Len())
	var twice []string
	for _, one := range v.Elements() {
		id, problem := w.checkID(one)
		if problem != "" {
			return v, problem
		}
		if seen[id.Str()]++; seen[id.Str()] == 2 {
			twice = append(twice, id.Str())
		}
		ids = append(ids, id.Str())
	}
	if len(twice) > 0 {
		return v, "Duplicate ids: '" + strings.Join(twice, ", ") + "'"
	}
	return engine.Strings(ids...), ""
}
