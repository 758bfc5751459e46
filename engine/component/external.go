package component

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// External is the base of components that work outside the engine: web searches, e-mail, databases,
// documents. They load everywhere with their params; to run they require the Tools port.
type External struct {
	kind     string
	params   engine.Value
	settings []string // params that the service usually requires
	pins     []string // arguments that a model is not asked for where the params give them
	exprs    []engine.NamedExpr
	result   engine.Field // the first output
}

// arg is one argument of an external component, passed by a model or set by the node's param.
type arg struct {
	name  string
	param *engine.Expr
	value engine.Value // without param: made by the component; null for none
}

// Init stores the params for the port.
func (e *External) Init(s *engine.Setup) error {
	e.exprs = s.Exprs
	spec, err := s.Registry.Lookup(s.Kind)
	if err != nil {
		return err
	}
	if len(spec.Outputs) > 0 {
		e.result = spec.Outputs[0]
	}
	e.kind, e.params = s.Kind, s.Params.Without("outputs").Without("inputs").Without("debug_inputs")
	return nil
}

// Needs returns the port the component uses; without it the component fails when it is reached.
func (e *External) Needs() string { return "Tools" }

// Blank returns the empty settings that a service usually requires: keys, hosts, accounts.
func (e *External) Blank() []string {
	var names []string
	for _, name := range e.settings {
		if !e.params.Get(name).Truthy() {
			names = append(names, name)
		}
	}
	return names
}

// Define hides from models the arguments that the params give for good. The other params of that
// name are defaults: a model may choose otherwise.
func (e *External) Define(_ context.Context, _ *engine.Call, def engine.ToolDef) engine.ToolDef {
	for _, name := range e.pins {
		if e.pinned(name) {
			properties := def.Parameters.Get("properties").Without(name)
			def.Parameters = def.Parameters.With("properties", properties)
		}
	}
	return def
}

// pinned reports whether the params give an argument for good.
func (e *External) pinned(name string) bool {
	return slices.Contains(e.pins, name) && e.params.Get(name).Truthy()
}

// Warnings returns the reasons for which the component may fail.
func (e *External) Warnings() []engine.Diagnostic {
	list := []engine.Diagnostic{{
		Code: engine.CodeNeedsHost, Message: e.kind +
			" acts outside the engine: it runs on a host, such as `easel serve`",
	}}
	for _, name := range e.Blank() {
		list = append(list, engine.Diagnostic{Code: engine.CodeEmptySetting, Param: name, Message: "setting is empty"})
	}
	return list
}

// evaluated returns the values of expressions as a list.
func evaluated(ctx context.Context, call *engine.Call, list []engine.Expr) (engine.Value, error) {
	values := make([]engine.Value, len(list))
	for i := range list {
		v, err := call.Eval(ctx, &list[i])
		if err != nil {
			return engine.Null, err
		}
		values[i] = v
	}
	return engine.List(values...), nil
}

// act calls the tool of the component. The outputs are empty if the first argument is, as in a
// search without a query.
func (e *External) act(ctx context.Context, call *engine.Call, args ...arg) error {
	values := engine.NewObject(len(args))
	for i, a := range args {
		if a.param == nil {
			if !a.value.IsNull() {
				values.Set(a.name, a.value)
			}
			continue
		}
		v, given, err := call.Arg(ctx, a.name, a.param)
		if err != nil {
			return err
		}
		if i == 0 && !v.Truthy() {
			call.Out(e.result.Name, engine.ZeroOf(e.result.Type))
			return nil
		}
		if given && !e.pinned(a.name) { // the tool has it among its params
			values.Set(a.name, v)
		}
	}
	for name, v := range call.Args().Fields() {
		if !e.pinned(name) {
			values.Set(name, v)
		}
	}
	port := call.Ports().Tools
	if port == nil {
		return fmt.Errorf("%s: %w: this component requires a host that offers it as a tool", e.kind, engine.ErrNoPort)
	}
	outs, err := port.CallTool(ctx, &engine.ExternalCall{
		Component: e.kind, Node: call.NodeID(), Params: call.MarkSecrets(e.params), Arguments: values.Value(),
		Key: call.Key(), SecretMark: call.SecretMark(), Queued: call.LogQueued,
	})
	if err != nil {
		return err
	}
	return e.take(call, outs)
}

// take sets the outputs. Passages become references, and text for prompts if the port returned
// none.
func (e *External) take(call *engine.Call, outs engine.Value) error {
	if k := outs.Kind(); k != engine.KindObject && k != engine.KindNull {
		return fmt.Errorf("%s: the tool returned a %s; expected an object of outputs", e.kind, k)
	}
	for name, v := range outs.Fields() {
		if name != "chunks" && name != "doc_aggs" && !strings.HasPrefix(name, "_") {
			call.Out(name, v)
		}
	}
	if chunks := outs.Get("chunks"); chunks.Len() > 0 {
		found, aggs := searchResults(chunks.Slice(), outs.Get("doc_aggs").Slice())
		text := citePassages(call, found, aggs)
		if !outs.Get(passages).Truthy() {
			call.Out(passages, engine.String(text))
		}
	}
	return nil
}

// externalSpecs lists the external components by topic.
func externalSpecs() []engine.Spec {
	var list []engine.Spec
	for _, group := range [...][]engine.Spec{
		webSearchSpecs(), librarySpecs(), financeSpecs(),
		{exeSQLSpec, emailSpec, excelProcessorSpec, docGeneratorSpec, browserSpec},
		retiredSpecs(),
	} {
		list = append(list, group...)
	}
	return list
}

// Service is an external component that is nothing but its Spec: its arguments are the settings of
// type expr, and the first of them is the query.
type Service struct{ External }

// Run calls the tool.
func (s *Service) Run(ctx context.Context, call *engine.Call) error {
	args := make([]arg, len(s.exprs))
	for i := range args {
		args[i] = arg{name: s.exprs[i].Name, param: &s.exprs[i].Expr}
	}
	return s.act(ctx, call, args...)
}

// needing returns how to make a Service that usually requires the named settings.
func needing(settings ...string) func() engine.Component {
	return func() engine.Component { return &Service{External{settings: settings}} }
}

// Settings that several tools read.
const (
	querySetting      = `json:"query" type:"expr" label:"Search for" doc:"text to search for, or an address" default:"{sys.query}"`
	urlsSetting       = `json:"urls" type:"expr" label:"Addresses" doc:"addresses, separated by commas" shape:"a list, or separated by commas" want:"Enter an address." default:"{sys.query}"`
	baseURLSetting    = `json:"base_url" label:"Other address" doc:"used instead of the address of the service" section:"advanced"`
	apiKeySetting     = `json:"api_key" label:"Key" doc:"key of the service; better the name of a secret of the host" widget:"secret"`
	topNSetting       = `json:"top_n" type:"integer" label:"Results" doc:"number of results" default:"10" min:"1"`
	paperCountSetting = `json:"top_n" type:"integer" label:"Results" doc:"number of results" default:"12" min:"1"`
)

// passages is the output of a search: its results as text for a prompt.
const passages = "formalized_content"

// shown are the display names of external components, with their groups and words for a search.
var shown = map[string]engine.Spec{
	"Crawler": {Title: "Read a web page", Group: engine.GroupCode, Search: []string{"scrape", "crawl", "抓取"}},
	"ExeSQL": {
		Title: "SQL query", Group: engine.GroupCode, Search: []string{"database", "mysql", "postgres", "数据库"},
		First: "sql",
	},
	"Email":          {Title: "Send e-mail", Group: engine.GroupCode, Search: []string{"mail", "smtp", "notify", "邮件"}},
	"TavilySearch":   {Title: "Tavily", Group: engine.GroupWeb, Search: []string{"web", "news", "联网"}},
	"TavilyExtract":  {Title: "Tavily pages", Group: engine.GroupWeb, Search: []string{"scrape", "web", "网页"}},
	"DuckDuckGo":     {Title: "DuckDuckGo", Group: engine.GroupWeb, Search: []string{"web", "联网"}},
	"Google":         {Title: "Google (SerpApi)", Group: engine.GroupWeb, Search: []string{"web", "联网"}},
	"SearXNG":        {Title: "SearXNG", Group: engine.GroupWeb, Search: []string{"web", "联网"}},
	"Bing":           {Title: "Bing", Group: engine.GroupWeb, Search: []string{"web", "联网"}},
	"BGPT":           {Title: "BGPT", Group: engine.GroupPapers, Search: []string{"papers", "论文"}},
	"Keenable":       {Title: "Keenable", Group: engine.GroupWeb, Search: []string{"web", "联网"}},
	"QueritSearch":   {Title: "Querit", Group: engine.GroupWeb, Search: []string{"web", "联网"}},
	"QueritContents": {Title: "Querit pages", Group: engine.GroupWeb, Search: []string{"scrape", "web", "网页"}},
	"Wikipedia":      {Title: "Wikipedia", Group: engine.GroupWeb, Search: []string{"encyclopedia", "百科"}},
	"ArXiv":          {Title: "arXiv", Group: engine.GroupPapers, Search: []string{"papers", "论文"}},
	"PubMed":         {Title: "PubMed", Group: engine.GroupPapers, Search: []string{"papers", "medicine", "医学"}},
	"GitHub":         {Title: "GitHub repositories", Group: engine.GroupWeb, Search: []string{"code", "repo", "代码"}},
	"GoogleScholar":  {Title: "Google Scholar", Group: engine.GroupPapers, Search: []string{"papers", "论文"}},
	"YahooFinance":   {Title: "Yahoo Finance", Group: engine.GroupFinance, Search: []string{"stock", "股票"}},
	"WenCai":         {Title: "WenCai", Group: engine.GroupFinance, Search: []string{"stock", "A股", "股票"}},
	"AkShare":        {Title: "AkShare", Group: engine.GroupFinance, Search: []string{"stock", "A股", "股票"}},
	"TuShare":        {Title: "TuShare", Group: engine.GroupFinance, Search: []string{"stock", "A股", "股票"}},
	"Jin10":          {Title: "Jin10", Group: engine.GroupFinance, Search: []string{"news", "快讯"}},
	"QWeather":       {Title: "QWeather", Group: engine.GroupWeather, Search: []string{"weather", "天气"}},
	"DeepL":          {Title: "DeepL", Group: engine.GroupWeather, Search: []string{"translate", "翻译"}},
}

// outside returns the Spec of an external component that a model may call, with its settings and
// the names and docs of its arguments.
func outside(
	name, function, doc, result string, fresh func() engine.Component, settings []string, args ...engine.Field,
) engine.Spec {
	return engine.Spec{
		Category: engine.CategoryTool, Group: shown[name].Group,
		Icon: iconFor(result), StandIn: standInFor(name, result),
		Name: name, Title: shown[name].Title, Search: shown[name].Search, First: shown[name].First,
		Doc: doc, New: fresh, Settings: settings, Inputs: args, Retries: true,
		Outputs:  outputsOf(result),
		Thoughts: "Calling " + name + ".",
		Tool:     &engine.ToolSpec{Function: function, Description: doc, Args: args, Result: result},
	}
}

// iconFor returns the icon of an external component by its main output.
func iconFor(result string) string {
	if result == passages || result == "json" {
		return "search"
	}
	return "box"
}

func outputsOf(result string) []engine.Field {
	switch result {
	case passages:
		return []engine.Field{
			{Name: passages, Type: "string", Doc: "the results as text for a prompt"},
			{Name: "json", Type: "list", Doc: "the results with all fields"},
		}
	case "json":
		return []engine.Field{{Name: "json", Type: "list", Doc: "the results with all fields"}}
	case "report":
		return []engine.Field{{Name: "report", Type: "string", Doc: "the data as text"}}
	case "success":
		return []engine.Field{{Name: "success", Type: "boolean", Doc: "whether it succeeded"}}
	}
	return []engine.Field{{Name: result, Type: "any", Doc: "the result"}}
}

// wanted returns a required argument; maybe is an optional one.
func wanted(name, doc string) engine.Field {
	return engine.Field{Name: name, Type: "string", Doc: doc, Required: true}
}

func maybe(name, typ, doc string, enum ...string) engine.Field {
	return engine.Field{Name: name, Type: typ, Doc: doc, Enum: enum}
}
