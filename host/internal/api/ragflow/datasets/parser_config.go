package datasets

import (
	"fmt"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/schema"
)

// Settings of chunk methods, as requests name them.

// raptorPrompt is the default prompt of the setting raptor.
const raptorPrompt = "Please summarize the following paragraphs. Be careful with the numbers, " +
	"do not make things up. Paragraphs as following:\n      {cluster_content}\n" +
	"The above is the content you need to summarize."

// entityTypes are the default types of entities of the setting graphrag.
var entityTypes = engine.Strings("organization", "person", "geo", "event", "category")

// longestConfig bounds the settings of a method, in characters of JSON.
const longestConfig = 65_535

var (
	zero  = engine.Int(0)
	no    = engine.Bool(false)
	none  = engine.List()
	bound = schema.Bound
)

func flag(name string) schema.Field {
	return schema.Field{Name: name, Type: schema.Boolean, Default: no}
}

// whole describes a whole number between bounds; a negative most means unbounded.
func whole(name string, least, most float64, absent engine.Value) schema.Field {
	f := schema.Field{Name: name, Type: schema.Integer, Least: bound(least), Default: absent, Null: absent.IsNull()}
	if most >= 0 {
		f.Most = bound(most)
	}
	return f
}

func share(name string, absent float64) schema.Field {
	return schema.Field{
		Name: name, Type: schema.Number, Least: bound(0), Most: bound(1), Default: engine.Float(absent),
	}
}

func oneOf(name, absent string, values ...string) schema.Field {
	return schema.Field{Name: name, Type: schema.Choice, Values: values, Default: engine.String(absent)}
}

func texts(name string) schema.Field {
	return schema.Field{Name: name, Type: schema.List, Items: &schema.Field{Type: schema.String}, Default: none}
}

func model(name string, o *schema.Object) schema.Field {
	return schema.Field{Name: name, Type: schema.Model, Object: o, Default: defaultsOf(o)}
}

// defaultsOf is an object of which nothing was sent.
func defaultsOf(o *schema.Object) engine.Value {
	b := engine.NewObject(len(o.Fields))
	for _, f := range o.Fields {
		b.Set(f.Name, f.Default)
	}
	return b.Value()
}

// graphrag describes the setting of that name.
func graphrag(methods ...string) schema.Field {
	types := texts("entity_types")
	types.Default = entityTypes
	return model("graphrag", &schema.Object{Name: "GraphragConfig", Fields: []schema.Field{
		flag("use_graphrag"), types, oneOf("method", "light", methods...), flag("community"), flag("resolution"),
	}})
}

// defaultSummary is the default size of a raptor summary, in tokens.
const defaultSummary = 256

// raptor describes the setting raptor; least is the shortest summary in tokens, more are members
// that only one dialect has. The default is accepted below least: clients send back what they have
// read.
func raptor(least int, more ...schema.Field) schema.Field {
	size := whole("max_token", float64(least), 2048, engine.Int(defaultSummary))
	size.Before = func(v engine.Value) engine.Value {
		if n, ok := v.Int(); ok && n == defaultSummary && v.Kind() == engine.KindNumber && defaultSummary < least {
			return engine.Int(int64(least))
		}
		return v
	}
	prompt := schema.Field{Name: "prompt", Trim: true, Least: bound(1), Default: engine.String(raptorPrompt)}
	return model("raptor", &schema.Object{Name: "RaptorConfig", Fields: append([]schema.Field{
		flag("use_raptor"), prompt, size,
		whole("max_cluster", 1, 1024, engine.Int(64)), whole("random_seed", 0, -1, zero),
	}, more...)})
}

// parserConfig describes the settings of a method; more are its members in one dialect alone.
func parserConfig(graph, raptors schema.Field, more ...schema.Field) schema.Field {
	weight := share("filename_embd_weight", 0.1)
	weight.Null = true
	pages := schema.Field{Name: "pages", Type: schema.List, Null: true, Items: &schema.Field{
		Type: schema.List, Items: &schema.Field{Type: schema.Integer},
	}}
	fields := []schema.Field{
		whole("auto_keywords", 0, 32, zero), whole("auto_questions", 0, 10, zero),
		whole("chunk_token_num", 1, 2048, engine.Int(512)),
		{Name: "delimiter", Least: bound(1), Default: engine.String(`\n`)},
		graph, flag("html4excel"),
		{Name: "layout_recognize", Default: engine.String("DeepDOC")},
		raptors,
		texts("tag_kb_ids"), whole("topn_tags", 1, 10, engine.Int(1)), weight,
		whole("task_page_size", 1, -1, engine.Null), pages,
	}
	return schema.Field{
		Name: "parser_config", Type: schema.Model, Null: true, Before: emptyIsNull, After: checkConfigSize,
		Object: &schema.Object{Name: "ParserConfig", Fields: append(fields, more...)},
	}
}

func emptyIsNull(v engine.Value) engine.Value {
	if v.Kind() == engine.KindObject && v.Len() == 0 {
		return engine.Null
	}
	return v
}

func checkConfigSize(v engine.Value) (engine.Value, string) {
	if n := len([]rune(v.JSON())); n > longestConfig {
		return v, fmt.Sprintf("Parser config exceeds size limit (max 65,535 characters). Current size: %d", n)
	}
	return v, ""
}

// defaultConfig is the settings of a method for which none are sent. chat is the default model of
// the tenant.
func defaultConfig(method, chat string) engine.Value {
	sizes := engine.Object("image_context_size", 0, "table_context_size", 0)
	switch method {
	case "naive":
		return sizes.With("layout_recognize", engine.String("DeepDOC")).With("chunk_token_num", engine.Int(512)).
			With("delimiter", engine.String("\n")).With("auto_keywords", zero).With("auto_questions", zero).
			With("html4excel", no).With("topn_tags", engine.Int(3)).With("llm_id", engine.String(chat)).
			With("raptor", engine.Object("use_raptor", true, "prompt", raptorPrompt, "max_token", defaultSummary,
				"threshold", engine.Float(0.1), "max_cluster", 64, "random_seed", 0)).
			With("graphrag", engine.Object("use_graphrag", true, "entity_types", entityTypes, "method", "light"))
	case "qa", "manual", "paper", "book", "laws", "presentation":
		return sizes.With("raptor", engine.Object("use_raptor", false)).
			With("graphrag", engine.Object("use_graphrag", false))
	}
	return sizes
}

// merge writes the members of an object over those of another, in objects within them as well.
func merge(under, over engine.Value) engine.Value {
	if under.Kind() != engine.KindObject || over.Kind() != engine.KindObject {
		return over
	}
	for name, v := range over.Fields() {
		if old, ok := under.Lookup(name); ok {
			v = merge(old, v)
		}
		under = under.With(name, v)
	}
	return under
}
