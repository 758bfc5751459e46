package component

import "github.com/easel-canvas/easel/engine"

// Settings of the tools of older canvases.
var (
	crawlerSettings = []string{
		`json:"extract_type" doc:"form of the text" default:"markdown" enum:"html,markdown,content"`,
	}
	deepLSettings = []string{
		`json:"auth_key" doc:"API key of the service, preferably {{secret:NAME}}"`,
		`json:"source_lang" doc:"language of the text" default:"ZH"`,
		`json:"target_lang" doc:"language of the translation" default:"EN-GB"`,
		baseURLSetting,
	}
	jin10Settings = []string{
		`json:"secret_key" doc:"API key of the service, preferably {{secret:NAME}}"`,
		`json:"type" doc:"kind of data" default:"flash" enum:"flash,calendar,symbols,news"`,
		`json:"flash_type" doc:"1 market, 2 futures, 3 US and Hong Kong, 4 A shares, 5 commodities" default:"1"`,
		`json:"calendar_type" doc:"cj macro, qh futures, hk Hong Kong, us US stocks" default:"cj"`,
		`json:"calendar_datatype" doc:"kind of entries" default:"data" enum:"data,event,holiday"`,
		`json:"symbols_type" doc:"GOODS, FOREX, FUTURE or CRYPTO" default:"GOODS"`,
		`json:"symbols_datatype" doc:"codes or prices" default:"symbols" enum:"symbols,quotes"`,
		`json:"contain" doc:"only what contains this"`,
		`json:"filter" doc:"only what does not contain this"`,
		baseURLSetting,
	}
	qWeatherSettings = []string{
		`json:"web_apikey" doc:"API key of the service, preferably {{secret:NAME}}"`,
		`json:"lang" doc:"language of the results" default:"zh"`,
		`json:"type" doc:"kind of data" default:"weather" enum:"weather,indices,airquality"`,
		`json:"user_type" doc:"kind of account" default:"free" enum:"free,paid"`,
		`json:"time_period" doc:"now, or days ahead" default:"now" enum:"now,3d,7d,10d,15d,30d"`,
		baseURLSetting,
	}
	tuShareSettings = []string{
		`json:"token" doc:"API key of the service, preferably {{secret:NAME}}"`,
		`json:"src" doc:"source of the news" default:"eastmoney" enum:"sina,wallstreetcn,10jqka,eastmoney,yuncaijing,fenghuang,jinrongjie"`,
		`json:"start_date" doc:"earliest date and time" default:"2024-01-05 09:00:00"`,
		`json:"end_date" doc:"latest date and time; empty means now"`,
		`json:"keyword" doc:"only what contains this, in place of the query"`,
		baseURLSetting,
	}
)

// retiredSpecs are components of older canvases.
func retiredSpecs() []engine.Spec {
	return []engine.Spec{
		searching("AkShare", "akshare_stock_news", "Returns news on a Chinese stock.",
			wanted("query", "code or name of the stock"), resultCount),
		textOnly(searching("Crawler", "web_crawler", "Reads a web page.",
			wanted("query", "address of the page"), crawlerSettings)),
		textOnly(searching("DeepL", "deepl_translate", "Translates a text with DeepL.",
			wanted("query", "the text"), deepLSettings, "auth_key")),
		searching("Jin10", "jin10", "Returns financial news from Jin10.",
			wanted("query", "search query"), jin10Settings, "secret_key"),
		searching("QWeather", "qweather", "Returns the weather at a place.",
			wanted("query", "the place"), qWeatherSettings, "web_apikey"),
		searching("TuShare", "tushare", "Returns news on Chinese stocks.",
			wanted("query", "search query"), tuShareSettings, "token"),
	}
}

// textOnly returns the Spec of a component with text as its only output.
func textOnly(spec engine.Spec) engine.Spec {
	spec.Outputs = []engine.Field{{Name: passages, Type: "string", Doc: "the result as text"}}
	return spec
}
