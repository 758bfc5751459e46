package component

import (
	"context"

	"github.com/easel-canvas/easel/engine"
)

// TavilySearch searches the web with Tavily.
type TavilySearch struct {
	External
	Query          engine.Expr `json:"query" doc:"search query" default:"{sys.query}"`
	Topic          engine.Expr `json:"topic" doc:"general or news" default:"general"`
	IncludeDomains engine.Expr `json:"include_domains" doc:"search only these domains"`
	ExcludeDomains engine.Expr `json:"exclude_domains" doc:"exclude these domains"`
}

// Run searches.
func (t *TavilySearch) Run(ctx context.Context, call *engine.Call) error {
	return t.act(ctx, call, arg{"query", &t.Query}, arg{"topic", &t.Topic},
		arg{"include_domains", &t.IncludeDomains}, arg{"exclude_domains", &t.ExcludeDomains})
}

// TavilyExtract reads web pages with Tavily.
type TavilyExtract struct {
	External
	URLs   engine.Expr `json:"urls" doc:"addresses: a list, or separated by commas" default:"{sys.query}" label:"URLs"`
	Depth  engine.Expr `json:"extract_depth" doc:"basic or advanced" default:"basic"`
	Format engine.Expr `json:"format" doc:"markdown or text" default:"markdown"`
}

// Run reads the pages.
func (t *TavilyExtract) Run(ctx context.Context, call *engine.Call) error {
	return t.act(ctx, call, arg{"urls", &t.URLs}, arg{"extract_depth", &t.Depth}, arg{"format", &t.Format})
}

// DuckDuckGo searches the web with DuckDuckGo.
type DuckDuckGo struct {
	External
	Query   engine.Expr `json:"query" doc:"search query" default:"{sys.query}"`
	Channel engine.Expr `json:"channel" doc:"text or news" default:"text"`
}

// Run searches.
func (d *DuckDuckGo) Run(ctx context.Context, call *engine.Call) error {
	return d.act(ctx, call, arg{"query", &d.Query}, arg{"channel", &d.Channel})
}

// Google searches the web with Google, through SerpApi.
type Google struct {
	External
	Query engine.Expr `json:"q" doc:"search query" default:"{sys.query}" label:"Query"`
	Start engine.Expr `json:"start" doc:"index of the first result, from 0"`
	Num   engine.Expr `json:"num" doc:"number of results" label:"Results"`
}

// Run searches.
func (g *Google) Run(ctx context.Context, call *engine.Call) error {
	return g.act(ctx, call, arg{"q", &g.Query}, arg{"start", &g.Start}, arg{"num", &g.Num})
}

// SearXNG searches the web with a SearXNG server.
type SearXNG struct {
	External
	Query engine.Expr `json:"query" doc:"search query" default:"{sys.query}"`
	URL   engine.Expr `json:"searxng_url" doc:"address of the server" label:"Server URL"`
}

// Run searches.
func (s *SearXNG) Run(ctx context.Context, call *engine.Call) error {
	return s.act(ctx, call, arg{"query", &s.Query}, arg{"searxng_url", &s.URL})
}

// Keenable searches the web with Keenable, with a key or without.
type Keenable struct {
	Search
	Site engine.Expr `json:"site" doc:"search only this domain"`
}

// Run searches.
func (k *Keenable) Run(ctx context.Context, call *engine.Call) error {
	return k.act(ctx, call, arg{"query", &k.Query}, arg{"site", &k.Site})
}

// QueritSearch searches the web with Querit.
type QueritSearch struct {
	External
	Query     engine.Expr `json:"query" doc:"search query" default:"{sys.query}"`
	TimeRange engine.Expr `json:"time_range" doc:"such as d7, w1, m3 or y1"`
}

// Run searches.
func (q *QueritSearch) Run(ctx context.Context, call *engine.Call) error {
	return q.act(ctx, call, arg{"query", &q.Query}, arg{"time_range", &q.TimeRange})
}

// QueritContents reads web pages with Querit.
type QueritContents struct {
	External
	URLs   engine.Expr `json:"urls" doc:"addresses: a list, or separated by commas" default:"{sys.query}" label:"URLs"`
	Format engine.Expr `json:"format" doc:"markdown or text" default:"markdown"`
}

// Run reads the pages.
func (q *QueritContents) Run(ctx context.Context, call *engine.Call) error {
	return q.act(ctx, call, arg{"urls", &q.URLs}, arg{"format", &q.Format})
}

// Settings of the tools that search the web and read pages.
var (
	tavilySettings = []string{
		`json:"search_depth" doc:"depth of the search" default:"basic" enum:"basic,advanced"`,
		`json:"max_results" type:"integer" doc:"number of results" default:"6" min:"1"`,
		`json:"days" type:"integer" doc:"age of news in days" default:"14" min:"1"`,
		apiKeySetting, baseURLSetting,
	}
	googleSettings = []string{
		`json:"api_key" doc:"API key of SerpApi, preferably {{secret:NAME}}" label:"API key"`,
		`json:"country" doc:"country of the results" default:"cn"`,
		`json:"language" doc:"language of the results" default:"en"`,
		baseURLSetting,
	}
	bingSettings = []string{
		`json:"country" doc:"country of the results"`,
		`json:"language" doc:"language of the results"`,
		topNSetting, apiKeySetting, baseURLSetting,
	}
	bgptSettings = []string{
		`json:"days_back" type:"integer" doc:"maximum age of papers in days; 0 means any"`,
		topNSetting, apiKeySetting, baseURLSetting,
	}
	keenableSettings = []string{
		`json:"mode" doc:"pro searches deeper, realtime responds faster" default:"pro" enum:"pro,realtime"`,
		topNSetting, apiKeySetting, baseURLSetting,
	}
	queritSearchSettings = []string{
		`json:"count" type:"integer" doc:"number of results" default:"10" min:"1"`,
		`json:"chunks_per_doc" type:"integer" doc:"summaries per page, 1 to 3" default:"3" min:"1"`,
		`json:"site_include" type:"any" doc:"search only these sites"`,
		`json:"site_exclude" type:"any" doc:"exclude these sites"`,
		`json:"country_include" type:"any" doc:"search only these countries"`,
		`json:"language_include" type:"any" doc:"search only these languages"`,
		apiKeySetting, baseURLSetting,
	}
	queritPageSettings = []string{
		`json:"crawl_timeout" type:"any" doc:"seconds for a page"`,
		`json:"extras_meta" type:"boolean" doc:"include title, author and date"`,
		apiKeySetting, baseURLSetting,
	}
	searXNGSettings = []string{
		topNSetting,
	}
)

func webSearchSpecs() []engine.Spec {
	query := wanted("query", "the words to search for, most important first; short and without filler")
	list := []engine.Spec{
		outside("TavilySearch", "tavily_search",
			"Searches the web and returns the matching parts of pages.", passages,
			func() engine.Component { return &TavilySearch{External: needing("api_key")} }, tavilySettings, query,
			maybe("topic", "string", "news for current events, else general", "general", "news"),
			maybe("include_domains", "list", "search only these domains"), maybe("exclude_domains", "list", "exclude these domains")),
		outside("TavilyExtract", "tavily_extract", "Reads web pages and returns their text.", "json",
			func() engine.Component { return &TavilyExtract{External: needing("api_key")} }, serviceKey,
			engine.Field{Name: "urls", Type: "list", Doc: "addresses of the pages", Required: true},
			maybe("extract_depth", "string", "advanced also reads tables and embedded content", "basic", "advanced"),
			maybe("format", "string", "format of the text", "markdown", "text")),
		outside("DuckDuckGo", "duckduckgo_search", "Searches the web with DuckDuckGo.", passages,
			func() engine.Component { return &DuckDuckGo{} }, resultCount, query,
			maybe("channel", "string", "news for current events, else text", "text", "news")),
		outside("Google", "google_search", "Searches the web with Google.", passages,
			func() engine.Component { return &Google{External: needing("api_key")} }, googleSettings, wanted("q", query.Doc),
			maybe("start", "integer", "index of the first result, from 0"), maybe("num", "integer", "number of results")),
		outside("SearXNG", "searxng_search", "Searches the web with a SearXNG server.", passages,
			func() engine.Component {
				return &SearXNG{External: External{
					settings: []string{"searxng_url"}, pins: []string{"searxng_url"},
				}}
			}, searXNGSettings, query, maybe("searxng_url", "string", "address of the server")),
		searching("Bing", "bing_search", "Searches the web with Bing.", query, bingSettings, "api_key"),
		also(searching("BGPT", "bgpt_search", "Searches scientific papers with BGPT.", query, bgptSettings), "BGPTSearch"),
		also(outside("Keenable", "keenable_search", "Searches the web with Keenable.", passages,
			func() engine.Component { return &Keenable{} }, keenableSettings, query,
			maybe("site", "string", "search only this domain")), "KeenableSearch"),
		also(outside("QueritSearch", "querit_search", "Searches the web with Querit.", passages,
			func() engine.Component { return &QueritSearch{External: needing("api_key")} }, queritSearchSettings, query,
			maybe("count", "integer", "number of results"),
			maybe("chunks_per_doc", "integer", "summaries per page, 1 to 3"),
			maybe("site_include", "list", "search only these sites"), maybe("site_exclude", "list", "exclude these sites"),
			maybe("time_range", "string", "such as d7, w1, m3, y1 or 2026-01-01to2026-02-01"),
			maybe("country_include", "list", "search only these countries"),
			maybe("language_include", "list", "search only these languages")), "Querit"),
		outside("QueritContents", "querit_contents",
			"Reads web pages with Querit and returns their text.", "json",
			func() engine.Component { return &QueritContents{External: needing("api_key")} }, queritPageSettings,
			engine.Field{Name: "urls", Type: "list", Doc: "addresses of the pages, 1 to 10", Required: true},
			maybe("format", "string", "format of the text", "markdown", "text")),
	}
	for i := range list[:2] { // those of Tavily
		list[i].Ignores = tavilyIgnores
	}
	return list
}

// tavilyIgnores are params of the original that ask Tavily for what is not used.
var tavilyIgnores = []string{
	"include_answer", "include_raw_content", "include_images", "include_image_descriptions", "include_favicon",
}

// also adds a component under the name of a later version.
func also(spec engine.Spec, alias string) engine.Spec {
	spec.Aliases = append(spec.Aliases, alias)
	return spec
}
