package component

import (
	"context"

	"github.com/easel-canvas/easel/engine"
)

// TavilySearch searches the web with Tavily.
type TavilySearch struct {
	External
	Query          engine.Expr `json:"query" doc:"what to look for" default:"{sys.query}"`
	Topic          engine.Expr `json:"topic" doc:"general or news" default:"general"`
	IncludeDomains engine.Expr `json:"include_domains" doc:"domains to search only"`
	ExcludeDomains engine.Expr `json:"exclude_domains" doc:"domains to leave out"`
	APIKey         string      `json:"api_key" doc:"key of the service, best as {{secret:NAME}}" label:"API key"`
	SearchDepth    string      `json:"search_depth" doc:"how thorough the search is" default:"basic" enum:"basic,advanced"`
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
	URLs   engine.Expr `json:"urls" doc:"addresses: a list, or a text with commas" default:"{sys.query}" label:"URLs"`
	Depth  engine.Expr `json:"extract_depth" doc:"basic or advanced" default:"basic"`
	Format engine.Expr `json:"format" doc:"markdown or text" default:"markdown"`
	APIKey string      `json:"api_key" doc:"key of the service, best as {{secret:NAME}}" label:"API key"`
}

// Run reads the pages.
func (t *TavilyExtract) Run(ctx context.Context, call *engine.Call) error {
	return t.act(ctx, call, arg{"urls", &t.URLs}, arg{"extract_depth", &t.Depth}, arg{"format", &t.Format})
}

// DuckDuckGo searches the web with DuckDuckGo.
type DuckDuckGo struct {
	External
	Query   engine.Expr `json:"query" doc:"what to look for" default:"{sys.query}"`
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
	Query    engine.Expr `json:"q" doc:"what to look for" default:"{sys.query}" label:"Query"`
	Start    engine.Expr `json:"start" doc:"first result, counted from 0"`
	Num      engine.Expr `json:"num" doc:"number of results" label:"Results"`
	APIKey   string      `json:"api_key" doc:"key of SerpApi, best as {{secret:NAME}}" label:"API key"`
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
	Query engine.Expr `json:"query" doc:"what to look for" default:"{sys.query}"`
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
	Query  engine.Expr `json:"query" doc:"what to look for" default:"{sys.query}"`
	TopN   int         `json:"top_n" doc:"number of results" default:"10" min:"1" label:"Results"`
	APIKey string      `json:"api_key" doc:"key of the service, best as {{secret:NAME}}" label:"API key"`
}

// Run searches.
func (k *KeyedSearch) Run(ctx context.Context, call *engine.Call) error {
	return k.act(ctx, call, arg{"query", &k.Query})
}

// BGPT searches scientific papers with BGPT.
type BGPT struct {
	KeyedSearch
	DaysBack int `json:"days_back" doc:"age of the papers in days at most; 0 means any"`
}

// Keenable searches the web with Keenable, with a key or without.
type Keenable struct {
	KeyedSearch
	Site engine.Expr `json:"site" doc:"domain to search only"`
	Mode string      `json:"mode" doc:"pro searches deeper, realtime answers sooner" default:"pro" enum:"pro,realtime"`
}

// Run searches.
func (k *Keenable) Run(ctx context.Context, call *engine.Call) error {
	return k.act(ctx, call, arg{"query", &k.Query}, arg{"site", &k.Site})
}

// QueritSearch searches the web with Querit.
type QueritSearch struct {
	External
	Query     engine.Expr `json:"query" doc:"what to look for" default:"{sys.query}"`
	APIKey    string      `json:"api_key" doc:"key of the service, best as {{secret:NAME}}" label:"API key"`
	Count     int         `json:"count" doc:"number of results" default:"10" min:"1"`
	Chunks    int         `json:"chunks_per_doc" doc:"summaries of a page, 1 to 3" default:"3" min:"1"`
	TimeRange engine.Expr `json:"time_range" doc:"such as d7, w1, m3 or y1"`
}

// Run searches.
func (q *QueritSearch) Run(ctx context.Context, call *engine.Call) error {
	return q.act(ctx, call, arg{"query", &q.Query}, arg{"time_range", &q.TimeRange})
}

// QueritContents reads web pages with Querit.
type QueritContents struct {
	External
	URLs   engine.Expr `json:"urls" doc:"addresses: a list, or a text with commas" default:"{sys.query}" label:"URLs"`
	Format engine.Expr `json:"format" doc:"markdown or text" default:"markdown"`
	APIKey string      `json:"api_key" doc:"key of the service, best as {{secret:NAME}}" label:"API key"`
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
		outside("TavilySearch", "tavily_search", "Searches the web and gives the matching parts of pages.", passages,
			func() engine.Component { return &TavilySearch{External: needing("api_key")} }, query,
			maybe("topic", "string", "news for current events, else general", "general", "news"),
			maybe("include_domains", "list", "domains to search only"), maybe("exclude_domains", "list", "domains to leave out")),
		outside("TavilyExtract", "tavily_extract", "Reads web pages and gives their text.", "json",
			func() engine.Component { return &TavilyExtract{External: needing("api_key")} },
			engine.Field{Name: "urls", Type: "list", Doc: "addresses of the pages", Required: true},
			maybe("extract_depth", "string", "advanced also reads tables and embedded content", "basic", "advanced"),
			maybe("format", "string", "form of the text", "markdown", "text")),
		outside("DuckDuckGo", "duckduckgo_search", "Searches the web with DuckDuckGo.", passages,
			func() engine.Component { return &DuckDuckGo{} }, query,
			maybe("channel", "string", "news for current events, else text", "text", "news")),
		outside("Google", "google_search", "Searches the web with Google.", passages,
			func() engine.Component { return &Google{External: needing("api_key")} }, wanted("q", query.Doc),
			maybe("start", "integer", "first result, counted from 0"), maybe("num", "integer", "number of results")),
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
			maybe("site", "string", "domain to search only")), "KeenableSearch"),
		also(outside("QueritSearch", "querit_search", "Searches the web with Querit.", passages,
			func() engine.Component { return &QueritSearch{External: needing("api_key")} }, query,
			maybe("count", "integer", "number of results"),
			maybe("chunks_per_doc", "integer", "summaries of a page, 1 to 3"),
			maybe("site_include", "list", "sites to search only"), maybe("site_exclude", "list", "sites to leave out"),
			maybe("time_range", "string", "such as d7, w1, m3, y1 or 2026-01-01to2026-02-01"),
			maybe("country_include", "list", "countries to search only"),
			maybe("language_include", "list", "languages to search only")), "Querit"),
		outside("QueritContents", "querit_contents", "Reads web pages with Querit and gives their text.", "json",
			func() engine.Component { return &QueritContents{External: needing("api_key")} },
			engine.Field{Name: "urls", Type: "list", Doc: "addresses of the pages, 1 to 10", Required: true},
			maybe("format", "string", "form of the text", "markdown", "text")),
	}
}

// also gives a component another name, that of a later version.
func also(spec engine.Spec, alias string) engine.Spec {
	spec.Aliases = append(spec.Aliases, alias)
	return spec
}
