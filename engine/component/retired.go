package component

import "github.com/easel-canvas/easel/engine"

// Settings of the tools of older canvases.
var (
	akShareSettings = []string{querySetting, topNSetting, baseURLSetting}
	crawlerSettings = []string{
		querySetting,
		`json:"extract_type" doc:"form of the text" default:"markdown" enum:"html,markdown,content"`,
	}
	deepLSettings = []string{
		querySetting,
		`json:"auth_key" doc:"API key of the service, preferably {{secret:NAME}}"`,
		`json:"source_lang" doc:"language of the text" default:"ZH"`,
		`json:"target_lang" doc:"language of the translation" default:"EN-GB"`,
		baseURLSetting,
	}
	jin10Settings = []string{
		querySetting,
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
		querySetting,
		`json:"web_apikey" doc:"API key of the service, preferably {{secret:NAME}}"`,
		`json:"lang" doc:"language of the results" default:"zh"`,
		`json:"type" doc:"kind of data" default:"weather" enum:"weather,indices,airquality"`,
		`json:"user_type" doc:"kind of account" default:"free" enum:"free,paid"`,
		`json:"time_period" doc:"now, or days ahead" default:"now" enum:"now,3d,7d,10d,15d,30d"`,
		baseURLSetting,
	}
	tuShareSettings = []string{
		querySetting,
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
		outside("AkShare", "akshare_stock_news", "Returns news on a Chinese stock.", passages,
			needing(), akShareSettings, wanted("query", "code or name of the stock")),
		textOnly(outside("Crawler", "web_crawler", "Reads a web page.", passages,
			needing(), crawlerSettings, wanted("query", "address of the page"))),
		textOnly(outside("DeepL", "deepl_translate", "Translates a text with DeepL.", passages,
			needing("auth_key"), deepLSettings, wanted("query", "the text"))),
		outside("Jin10", "jin10", "Returns financial news from Jin10.", passages,
			needing("secret_key"), jin10Settings, wanted("query", "search query")),
		outside("QWeather", "qweather", "Returns the weather at a place.", passages,
			needing("web_apikey"), qWeatherSettings, wanted("query", "the place")),
		outside("TuShare", "tushare", "Returns news on Chinese stocks.", passages,
			needing("token"), tuShareSettings, wanted("query", "search query")),
	}
}

// textOnly returns the Spec of a component with text as its only output.
func textOnly(spec engine.Spec) engine.Spec {
	spec.Outputs = []engine.Field{{Name: passages, Type: "string", Doc: "the result as text"}}
	return spec
}
