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
	APIKey         string      `json:"api_key" doc:"API key of the service, preferably {{secret:NAME}}" label:"API key"`
	SearchDepth    string      `json:"search_depth" doc:"depth of the search" default:"basic" enum:"basic,advanced"`
	MaxResults     int         `json:"max_results" doc:"number of results" default:"6" min:"1"`
	Days           int         `json:"days" doc:"age of news in days" default:"14" min:"1"`
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
	APIKey string      `json:"api_key" doc:"API key of the service, preferably {{secret:NAME}}" label:"API key"`
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
	TopN    int         `json:"top_n" doc:"number of results" default:"10" min:"1" label:"Results"`
}

// Run searches.
func (d *DuckDuckGo) Run(ctx context.Context, call *engine.Call) error {
	return d.act(ctx, call, arg{"query", &d.Query}, arg{"channel", &d.Channel})
}

// Google searches the web with Google, through SerpApi.
type Google struct {
	External
	Query    engine.Expr `json:"q" doc:"search query" default:"{sys.query}" label:"Query"`
	Start    engine.Expr `json:"start" doc:"index of the first result, from 0"`
	Num      engine.Expr `json:"num" doc:"number of results" label:"Results"`
	APIKey   string      `json:"api_key" doc:"API key of SerpApi, preferably {{secret:NAME}}" label:"API key"`
	Country  string      `json:"country" doc:"country of the results" default:"cn"`
	Language string      `json:"language" doc:"language of the results" default:"en"`
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
	TopN  int         `json:"top_n" doc:"number of results" default:"10" min:"1" label:"Results"`
}

// Run searches.
func (s *SearXNG) Run(ctx context.Context, call *engine.Call) error {
	return s.act(ctx, call, arg{"query", &s.Query}, arg{"searxng_url", &s.URL})
}

// KeyedSearch searches with a service that takes a query and a key.
type KeyedSearch struct {
	External
	Query  engine.Expr `json:"query" doc:"search query" default:"{sys.query}"`
	TopN   int         `json:"top_n" doc:"number of results" default:"10" min:"1" label:"Results"`
	APIKey string      `json:"api_key" doc:"API key of the service, preferably {{secret:NAME}}" label:"API key"`
}

// Run searches.
func (k *KeyedSearch) Run(ctx context.Context, call *engine.Call) error {
	return k.act(ctx, call, arg{"query", &k.Query})
}

// BGPT searches scientific papers with BGPT.
type BGPT struct {
	KeyedSearch
	DaysBack int `json:"days_back" doc:"maximum age of papers in days; 0 means any"`
}

// Keenable searches the web with Keenable, with a key or without.
type Keenable struct {
	KeyedSearch
	Site engine.Expr `json:"site" doc:"search only this domain"`
	Mode string      `json:"mode" doc:"pro searches deeper, realtime responds faster" default:"pro" enum:"pro,realtime"`
}

// Run searches.
func (k *Keenable) Run(ctx context.Context, call *engine.Call) error {
	return k.act(ctx, call, arg{"query", &k.Query}, arg{"site", &k.Site})
}

// QueritSearch searches the web with Querit.
type QueritSearch struct {
	External
	Query     engine.Expr `json:"query" doc:"search query" default:"{sys.query}"`
	APIKey    string      `json:"api_key" doc:"API key of the service, preferably {{secret:NAME}}" label:"API key"`
	Count     int         `json:"count" doc:"number of results" default:"10" min:"1"`
	Chunks    int         `json:"chunks_per_doc" doc:"summaries per page, 1 to 3" default:"3" min:"1"`
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
	APIKey string      `json:"api_key" doc:"API key of the service, preferably {{secret:NAME}}" label:"API key"`
}

// Run reads the pages.
func (q *QueritContents) Run(ctx context.Context, call *engine.Call) error {
	return q.act(ctx, call, arg{"urls", &q.URLs}, arg{"format", &q.Format})
}

func webSearchSpecs() []engine.Spec {
	query := wanted("query", "the words to search for, most important first; short and without filler")
	keyed := func(settings ...string) func() engine.Component {
		return func() engine.Component { return &KeyedSearch{External: needing(settings...)} }
	}
	return []engine.Spec{
		outside("TavilySearch", "tavily_search", "Searches the web and returns the matching parts of pages.", passages,
			func() engine.Component { return &TavilySearch{External: needing("api_key")} }, query,
			maybe("topic", "string", "news for current events, else general", "general", "news"),
			maybe("include_domains", "list", "search only these domains"), maybe("exclude_domains", "list", "exclude these domains")),
		outside("TavilyExtract", "tavily_extract", "Reads web pages and returns their text.", "json",
			func() engine.Component { return &TavilyExtract{External: needing("api_key")} },
			engine.Field{Name: "urls", Type: "list", Doc: "addresses of the pages", Required: true},
			maybe("extract_depth", "string", "advanced also reads tables and embedded content", "basic", "advanced"),
			maybe("format", "string", "format of the text", "markdown", "text")),
		outside("DuckDuckGo", "duckduckgo_search", "Searches the web with DuckDuckGo.", passages,
			func() engine.Component { return &DuckDuckGo{} }, query,
			maybe("channel", "string", "news for current events, else text", "text", "news")),
		outside("Google", "google_search", "Searches the web with Google.", passages,
			func() engine.Component { return &Google{External: needing("api_key")} }, wanted("q", query.Doc),
			maybe("start", "integer", "index of the first result, from 0"), maybe("num", "integer", "number of results")),
		outside("SearXNG", "searxng_search", "Searches the web with a SearXNG server.", passages,
			func() engine.Component {
				return &SearXNG{External: External{
					settings: []string{"searxng_url"}, pins: []string{"searxng_url"},
				}}
			}, query, maybe("searxng_url", "string", "address of the server")),
		outside("Bing", "bing_search", "Searches the web with Bing.", passages, keyed("api_key"), query),
		also(outside("BGPT", "bgpt_search", "Searches scientific papers with BGPT.", passages,
			func() engine.Component { return &BGPT{} }, query), "BGPTSearch"),
		also(outside("Keenable", "keenable_search", "Searches the web with Keenable.", passages,
			func() engine.Component { return &Keenable{} }, query,
			maybe("site", "string", "search only this domain")), "KeenableSearch"),
		also(outside("QueritSearch", "querit_search", "Searches the web with Querit.", passages,
			func() engine.Component { return &QueritSearch{External: needing("api_key")} }, query,
			maybe("count", "integer", "number of results"),
			maybe("chunks_per_doc", "integer", "summaries per page, 1 to 3"),
			maybe("site_include", "list", "search only these sites"), maybe("site_exclude", "list", "exclude these sites"),
			maybe("time_range", "string", "such as d7, w1, m3, y1 or 2026-01-01to2026-02-01"),
			maybe("country_include", "list", "search only these countries"),
			maybe("language_include", "list", "search only these languages")), "Querit"),
		outside("QueritContents", "querit_contents", "Reads web pages with Querit and returns their text.", "json",
			func() engine.Component { return &QueritContents{External: needing("api_key")} },
			engine.Field{Name: "urls", Type: "list", Doc: "addresses of the pages, 1 to 10", Required: true},
			maybe("format", "string", "format of the text", "markdown", "text")),
	}
}

// also adds a component under the name of a later version.
func also(spec engine.Spec, alias string) engine.Spec {
	spec.Aliases = append(spec.Aliases, alias)
	return spec
}
