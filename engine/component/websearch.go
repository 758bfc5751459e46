package component

import "github.com/easel-canvas/easel/engine"

// Settings of the tools that search the web and read pages.
var (
	tavilySettings = []string{
		querySetting,
		`json:"topic" type:"expr" label:"Kind" doc:"pages of the web, or news" shape:"general or news" offer:"general=Web|news=News" default:"general"`,
		`json:"include_domains" type:"expr" label:"Only these sites" doc:"search only these domains" section:"advanced"`,
		`json:"exclude_domains" type:"expr" label:"Not these sites" doc:"exclude these domains" section:"advanced"`,
		`json:"search_depth" label:"Depth" doc:"how thorough the search is" options:"basic=Fast|advanced=Deep" default:"basic"`,
		`json:"max_results" type:"integer" label:"Results" doc:"number of results" default:"6" min:"1"`,
		`json:"days" type:"integer" label:"Days back" doc:"age of news in days" show:"topic=news" unit:"days" default:"14" min:"1"`,
		apiKeySetting, baseURLSetting,
	}
	tavilyPageSettings = []string{
		urlsSetting,
		`json:"extract_depth" type:"expr" label:"Depth" doc:"how thorough the reading is" shape:"basic or advanced" offer:"basic=Fast|advanced=Deep" default:"basic"`,
		`json:"format" type:"expr" label:"As" doc:"form of the text" shape:"markdown or text" offer:"markdown=Markdown|text=Text" default:"markdown"`,
		apiKeySetting, baseURLSetting,
	}
	duckDuckGoSettings = []string{
		querySetting,
		`json:"channel" type:"expr" label:"Kind" doc:"pages of the web, or news" shape:"text or news" offer:"text=Web|news=News" default:"text"`,
		topNSetting, baseURLSetting,
	}
	googleSettings = []string{
		`json:"q" type:"expr" label:"Search for" doc:"text to search for" default:"{sys.query}"`,
		`json:"start" type:"expr" label:"First" doc:"index of the first result, from 0" section:"advanced" widget:"prompt"`,
		`json:"num" type:"expr" label:"Results" doc:"number of results" widget:"prompt"`,
		`json:"api_key" label:"Key" doc:"key of SerpApi; better the name of a secret of the host" widget:"secret"`,
		`json:"country" label:"Country" doc:"country of the results" widget:"country" default:"cn"`,
		`json:"language" label:"Language" doc:"language of the results" widget:"language" default:"en"`,
		baseURLSetting,
	}
	bingSettings = []string{
		querySetting,
		`json:"country" label:"Country" doc:"country of the results" widget:"country"`,
		`json:"language" label:"Language" doc:"language of the results" widget:"language"`,
		topNSetting, apiKeySetting, baseURLSetting,
	}
	bgptSettings = []string{
		querySetting,
		`json:"days_back" type:"integer" label:"Days back" doc:"maximum age of papers in days; 0 means any" unit:"days" zero:"any"`,
		topNSetting, apiKeySetting, baseURLSetting,
	}
	keenableSettings = []string{
		querySetting,
		`json:"site" type:"expr" label:"Only this site" doc:"search only this domain"`,
		`json:"mode" label:"Depth" doc:"how thorough the search is" options:"pro=Deep|realtime=Fast" default:"pro"`,
		topNSetting, apiKeySetting, baseURLSetting,
	}
	queritSearchSettings = []string{
		querySetting,
		`json:"time_range" type:"expr" label:"Age" doc:"such as d7, w1, m3 or y1"`,
		`json:"count" type:"integer" label:"Results" doc:"number of results" default:"10" min:"1"`,
		`json:"chunks_per_doc" type:"integer" label:"Parts of a page" doc:"summaries per page, 1 to 3" default:"3" min:"1"`,
		`json:"site_include" type:"any" label:"Only these sites" doc:"search only these sites" section:"advanced" widget:"words"`,
		`json:"site_exclude" type:"any" label:"Not these sites" doc:"exclude these sites" section:"advanced" widget:"words"`,
		`json:"country_include" type:"any" label:"Only these countries" doc:"search only these countries" section:"advanced" widget:"words"`,
		`json:"language_include" type:"any" label:"Only these languages" doc:"search only these languages" section:"advanced" widget:"words"`,
		apiKeySetting, baseURLSetting,
	}
	queritPageSettings = []string{
		urlsSetting,
		`json:"format" type:"expr" label:"As" doc:"form of the text" shape:"markdown or text" offer:"markdown=Markdown|text=Text" default:"markdown"`,
		`json:"crawl_timeout" type:"any" label:"Time per page" doc:"seconds for a page" widget:"duration"`,
		`json:"extras_meta" type:"boolean" label:"Author and date" doc:"include title, author and date"`,
		apiKeySetting, baseURLSetting,
	}
	searXNGSettings = []string{
		querySetting,
		`json:"searxng_url" type:"expr" label:"Server" doc:"address of the server" want:"Enter the address of the server."`,
		topNSetting,
	}
)

func webSearchSpecs() []engine.Spec {
	query := wanted("query", "the words to search for, most important first; short and without filler")
	plain, keyed := needing(), needing("api_key")
	list := []engine.Spec{
		outside("TavilySearch", "tavily_search",
			"Searches the web and returns the matching parts of pages.", passages,
			keyed, tavilySettings, query,
			maybe("topic", "string", "news for current events, else general", "general", "news"),
			maybe("include_domains", "list", "search only these domains"), maybe("exclude_domains", "list", "exclude these domains")),
		outside("TavilyExtract", "tavily_extract", "Reads web pages and returns their text.", "json",
			keyed, tavilyPageSettings,
			engine.Field{Name: "urls", Type: "list", Doc: "addresses of the pages", Required: true},
			maybe("extract_depth", "string", "advanced also reads tables and embedded content", "basic", "advanced"),
			maybe("format", "string", "format of the text", "markdown", "text")),
		outside("DuckDuckGo", "duckduckgo_search", "Searches the web with DuckDuckGo.", passages,
			plain, duckDuckGoSettings, query,
			maybe("channel", "string", "news for current events, else text", "text", "news")),
		outside("Google", "google_search", "Searches the web with Google.", passages,
			keyed, googleSettings, wanted("q", query.Doc),
			maybe("start", "integer", "index of the first result, from 0"), maybe("num", "integer", "number of results")),
		outside("SearXNG", "searxng_search", "Searches the web with a SearXNG server.", passages,
			func() engine.Component {
				return &Service{External{
					settings: []string{"searxng_url"}, pins: []string{"searxng_url"},
				}}
			}, searXNGSettings, query, maybe("searxng_url", "string", "address of the server")),
		outside("Bing", "bing_search", "Searches the web with Bing.", passages, keyed, bingSettings, query),
		also(outside("BGPT", "bgpt_search", "Searches scientific papers with BGPT.", passages, plain, bgptSettings,
			query), "BGPTSearch"),
		also(outside("Keenable", "keenable_search", "Searches the web with Keenable.", passages,
			plain, keenableSettings, query,
			maybe("site", "string", "search only this domain")), "KeenableSearch"),
		also(outside("QueritSearch", "querit_search", "Searches the web with Querit.", passages,
			keyed, queritSearchSettings, query,
			maybe("count", "integer", "number of results"),
			maybe("chunks_per_doc", "integer", "summaries per page, 1 to 3"),
			maybe("site_include", "list", "search only these sites"), maybe("site_exclude", "list", "exclude these sites"),
			maybe("time_range", "string", "such as d7, w1, m3, y1 or 2026-01-01to2026-02-01"),
			maybe("country_include", "list", "search only these countries"),
			maybe("language_include", "list", "search only these languages")), "Querit"),
		outside("QueritContents", "querit_contents",
			"Reads web pages with Querit and returns their text.", "json",
			keyed, queritPageSettings,
			engine.Field{Name: "urls", Type: "list", Doc: "addresses of the pages, 1 to 10", Required: true},
			maybe("format", "string", "format of the text", "markdown", "text")),
	}
	for i := range list[:2] { // those of Tavily
		list[i].Ignores = tavilyIgnores
	}
	return list
}

// tavilyIgnores are params of the original for parts of Tavily's answer that are not used.
var tavilyIgnores = []string{
	"include_answer", "include_raw_content", "include_images", "include_image_descriptions", "include_favicon",
}

// also adds a component under the name of a later version.
func also(spec engine.Spec, alias string) engine.Spec {
	spec.Aliases = append(spec.Aliases, alias)
	return spec
}
