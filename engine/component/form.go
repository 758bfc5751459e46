package component

import (
	"strconv"

	"github.com/easel-canvas/easel/engine"
)

// RAGFlow's editor keeps the params of a node as a form, and converts them when it saves. These are
// its conversions; forms that it does not convert are the params. Source: RAGFlow
// web/src/pages/agent/utils.ts at b1b8cd62 (behaviour only).

// membersOf returns one member of each object of a list that a form edits row by row. Empty ones
// are dropped; elements that are no objects stay, since older forms have them.
func membersOf(list engine.Value, name string) engine.Value {
	if list.Kind() != engine.KindList {
		return list
	}
	var out []engine.Value
	for _, e := range list.Elements() {
		if e.Kind() == engine.KindObject {
			e = e.Get(name)
		}
		if !e.IsNull() && e.Text() != "" {
			out = append(out, e)
		}
	}
	return engine.List(out...)
}

// withMembers converts members of a form with [membersOf].
func withMembers(form engine.Value, name string, members ...string) engine.Value {
	for _, m := range members {
		if list, ok := form.Lookup(m); ok {
			form = form.With(m, membersOf(list, name))
		}
	}
	return form
}

// without removes members of a form.
func without(form engine.Value, names ...string) engine.Value {
	for _, name := range names {
		form = form.Without(name)
	}
	return form
}

// formNumber reads a number, which a form may hold as a text; anything else counts as 0.
func formNumber(v engine.Value) engine.Value {
	if v.Kind() == engine.KindString {
		v, _ = engine.ParseNumber(v.Str())
	}
	if v.Kind() != engine.KindNumber {
		return engine.Int(0)
	}
	return v
}

// agentFromForm drops error edges that were removed.
func agentFromForm(form engine.Value, edges engine.DrawnEdges) engine.Value {
	if _, ok := form.Lookup("exception_goto"); ok {
		return form.With("exception_goto", engine.Strings(edges[engine.ErrorHandle]...))
	}
	return form
}

// beginFromForm converts the lists of the form of a webhook.
func beginFromForm(form engine.Value, _ engine.DrawnEdges) engine.Value {
	if form.Get("mode").Str() != webhookMode {
		return form
	}
	if schema := form.Get("schema"); schema.Kind() == engine.KindObject {
		out := engine.NewObject(schema.Len())
		for part, fields := range schema.Fields() {
			if fields.Kind() == engine.KindList {
				fields = schemaOfRows(fields)
			}
			out.Set(part, fields)
		}
		form = form.With("schema", out.Value())
	}
	security := form.Get("security")
	if security.Kind() != engine.KindObject {
		return form
	}
	auth := security.Get("auth_type").Str()
	security = withMembers(security, "value", "ip_whitelist")
	if jwt := security.Get("jwt"); auth == "jwt" && jwt.Kind() == engine.KindObject {
		security = security.With("jwt", withMembers(jwt, "value", "required_claims"))
	}
	if auth != "none" || !security.Get("allow_anonymous").Truthy() {
		security = security.Without("allow_anonymous")
	}
	return form.With("security", security)
}

// schemaOfRows makes a JSON Schema of rows {key, type, required}.
func schemaOfRows(rows engine.Value) engine.Value {
	var required []string
	properties := engine.NewObject(rows.Len())
	for _, row := range rows.Elements() {
		key := row.Get("key").Str()
		if row.Get("required").Truthy() {
			required = append(required, key)
		}
		properties.Set(key, engine.Object("type", row.Get("type")))
	}
	return engine.Object("type", "object", "required", engine.Strings(required...), "properties", properties.Value())
}

// categorizeFromForm makes the categories of the list of the form. The edges of an item begin at
// its uuid, and at its name in older forms, which have the categories already.
func categorizeFromForm(form engine.Value, edges engine.DrawnEdges) engine.Value {
	out := engine.NewObject(4)
	items := form.Get("items")
	for i, item := range items.Elements() {
		name := item.Get("name").Str()
		to := categoryEdges(edges, name, item)
		category := without(item, "name", "uuid").
			With("examples", membersOf(item.Get("examples"), "value")).With("to", engine.Strings(to...))
		if _, ok := category.Lookup("index"); !ok {
			category = category.With("index", engine.Int(int64(i)))
		}
		out.Set(name, category)
	}
	if items.Len() == 0 {
		for name, category := range form.Get("category_description").Fields() {
			if to := categoryEdges(edges, name, category); len(to) > 0 {
				category = category.With("to", engine.Strings(to...))
			}
			out.Set(name, category)
		}
	}
	return withoutUnused(form.Without("items")).With("category_description", out.Value())
}

func categoryEdges(edges engine.DrawnEdges, name string, category engine.Value) []string {
	if uuid := category.Get("uuid").Str(); uuid != "" && len(edges[uuid]) > 0 {
		return edges[uuid]
	}
	return edges[name]
}

// samplingSwitches are the switches of settings of a model call.
var samplingSwitches = [...][2]string{
	{"temperatureEnabled", "temperature"},
	{"topPEnabled", "top_p"},
	{"presencePenaltyEnabled", "presence_penalty"},
	{"frequencyPenaltyEnabled", "frequency_penalty"},
	{"maxTokensEnabled", "max_tokens"},
}

// withoutUnused removes settings of a model call that are switched off, and the switches.
func withoutUnused(form engine.Value) engine.Value {
	for _, s := range samplingSwitches {
		if !form.Get(s[0]).Truthy() {
			form = form.Without(s[1])
		}
		form = form.Without(s[0])
	}
	return form.Without("parameter") // names a set of such settings
}

// switchFromForm adds the targets of branches that the form lacks, from its edges.
func switchFromForm(form engine.Value, edges engine.DrawnEdges) engine.Value {
	var conditions []engine.Value
	for i, c := range form.Get("conditions").Elements() {
		if c.Kind() == engine.KindObject && !c.Get("to").Truthy() {
			c = c.With("to", engine.Strings(edges["Case "+strconv.Itoa(i+1)]...))
		}
		conditions = append(conditions, c)
	}
	if len(conditions) > 0 {
		form = form.With("conditions", engine.List(conditions...))
	}
	if !form.Get("end_cpn_ids").Truthy() {
		form = form.With("end_cpn_ids", engine.Strings(edges["end_cpn_ids"]...))
	}
	return form
}

// dataOperationsFromForm converts rows to names and references.
func dataOperationsFromForm(form engine.Value, _ engine.DrawnEdges) engine.Value {
	return withMembers(withMembers(form, "name", "select_keys", "remove_keys"), "input", "query")
}

// parserFromForm makes an object of setups by kind of file of the list of the form.
func parserFromForm(form engine.Value, _ engine.DrawnEdges) engine.Value {
	setups := form.Get("setups")
	if setups.Kind() != engine.KindList {
		return form
	}
	out := engine.NewObject(setups.Len())
	for i, setup := range setups.Elements() {
		kind := setup.Get("fileFormat").Str()
		if kind == "" {
			continue
		}
		setup = setup.Without("fileFormat").With("order_index", engine.Int(int64(i)))
		if _, ok := setup.Lookup("suffix"); !ok {
			setup = setup.With("suffix", engine.Strings(suffixesOf(kind)...))
		}
		var pages []engine.Value
		for _, p := range setup.Get("pages").Elements() {
			if p.Kind() == engine.KindObject {
				p = engine.List(p.Get("from"), p.Get("to"))
			}
			pages = append(pages, p)
		}
		if len(pages) > 0 {
			setup = setup.With("pages", engine.List(pages...))
		}
		out.Set(kind, setup)
	}
	return form.With("setups", out.Value())
}

// tokenChunkerFromForm converts percent to a share and rows of delimiters to texts.
func tokenChunkerFromForm(form engine.Value, _ engine.DrawnEdges) engine.Value {
	form = withMembers(form, "value", "delimiters", "children_delimiters")
	mode := form.Get("delimiter_mode").Str()
	percent, ok := form.Lookup("overlapped_percent")
	switch {
	case mode == "one":
		form = form.With("overlapped_percent", engine.Int(0))
	case ok:
		share, _ := formNumber(percent).Float()
		form = form.With("overlapped_percent", engine.Float(share/100))
	}
	if mode != "" && mode != "delimiter" {
		form = form.With("delimiters", engine.List())
	}
	if v, ok := form.Lookup("enable_children"); ok && !v.Truthy() {
		form = form.With("children_delimiters", engine.List())
	}
	if window, ok := form.Lookup("image_table_context_window"); ok {
		n := formNumber(window)
		form = form.Without("image_table_context_window").With("table_context_size", n).With("image_context_size", n)
	}
	return form
}

// titleChunkerFromForm chooses the rules of the method and converts their rows to patterns.
func titleChunkerFromForm(form engine.Value, _ engine.DrawnEdges) engine.Value {
	rules, depth := "hierarchyRules", "hierarchyHierarchy"
	if form.Get("method").Str() == "group" {
		rules, depth = "groupRules", "hierarchyGroup"
	}
	if !form.Get(rules).IsNull() {
		form = form.With("rules", form.Get(rules))
	}
	if !form.Get(depth).IsNull() {
		form = form.With("hierarchy", form.Get(depth))
	}
	if list := form.Get("rules"); list.Kind() == engine.KindList {
		var levels []engine.Value
		for _, rule := range list.Elements() {
			levels = append(levels, membersOf(rule.Get("levels"), "expression"))
		}
		form = form.With("levels", engine.List(levels...))
	}
	form = form.With("hierarchy", formNumber(form.Get("hierarchy")))
	return without(form, "hierarchyRules", "groupRules", "hierarchyHierarchy", "hierarchyGroup")
}

// extractorFromForm makes a prompt of the text of the form.
func extractorFromForm(form engine.Value, _ engine.DrawnEdges) engine.Value {
	if text := form.Get("prompts"); text.Kind() == engine.KindString {
		return form.With("prompts", engine.List(engine.Object("role", "user", "content", text)))
	}
	return form
}
