package component

import "github.com/easel-canvas/easel/engine"

// Settings of the tools of older canvases.
var (
	akShareSettings = []string{querySetting, topNSetting, baseURLSetting}
	crawlerSettings = []string{
		querySetting,
		`json:"extract_type" label:"As" doc:"form of the text" options:"html=HTML|markdown=Markdown|content=Text" default:"markdown"`,
	}
	deepLSettings = []string{
		querySetting,
		`json:"auth_key" label:"Key" doc:"key of the service; better the name of a secret of the host" widget:"secret"`,
		`json:"source_lang" label:"From language" doc:"language of the text" widget:"language" default:"ZH"`,
		`json:"target_lang" label:"To language" doc:"language of the translation" widget:"language" default:"EN-GB"`,
		baseURLSetting,
	}
	jin10Settings = []string{
		querySetting,
		`json:"secret_key" label:"Key" doc:"key of the service; better the name of a secret of the host" widget:"secret"`,
		`json:"type" label:"Data" doc:"kind of data" options:"flash=News in brief|calendar=Calendar|symbols=Prices|news=Articles" default:"flash"`,
		`json:"flash_type" label:"Market" doc:"market of the news" offer:"1=Market|2=Futures|3=US and Hong Kong|4=A shares|5=Commodities" show:"type=flash" default:"1"`,
		`json:"calendar_type" label:"Market" doc:"market of the entries" offer:"cj=Macro|qh=Futures|hk=Hong Kong|us=US stocks" show:"type=calendar" default:"cj"`,
		`json:"calendar_datatype" label:"Entries" doc:"kind of entries" options:"data=Data|event=Events|holiday=Holidays" show:"type=calendar" default:"data"`,
		`json:"symbols_type" label:"Market" doc:"market of the prices" offer:"GOODS=Goods|FOREX=Currencies|FUTURE=Futures|CRYPTO=Crypto" show:"type=symbols" default:"GOODS"`,
		`json:"symbols_datatype" label:"Entries" doc:"codes or prices" options:"symbols=Codes|quotes=Prices" show:"type=symbols" default:"symbols"`,
		`json:"contain" label:"Only with" doc:"only what contains this" section:"advanced" show:"type=flash,news"`,
		`json:"filter" label:"Not with" doc:"only what does not contain this" section:"advanced" show:"type=flash,news"`,
		baseURLSetting,
	}
	qWeatherSettings = []string{
		querySetting,
		`json:"web_apikey" label:"Key" doc:"key of the service; better the name of a secret of the host" widget:"secret"`,
		`json:"lang" label:"Language" doc:"language of the results" widget:"language" default:"zh"`,
		`json:"type" label:"Data" doc:"kind of data" options:"weather=Weather|indices=Indices of living|airquality=Air quality" default:"weather"`,
		`json:"user_type" label:"Account" doc:"kind of account" section:"advanced" options:"free=Free|paid=Paid" default:"free"`,
		`json:"time_period" label:"When" doc:"now, or days ahead" options:"now=Now|3d=3 days|7d=7 days|10d=10 days|15d=15 days|30d=30 days" default:"now"`,
		baseURLSetting,
	}
	tuShareSettings = []string{
		querySetting,
		`json:"token" label:"Key" doc:"key of the service; better the name of a secret of the host" widget:"secret"`,
		`json:"src" label:"Source" doc:"source of the news" options:"sina=Sina|wallstreetcn=Wallstreetcn|10jqka=10jqka|eastmoney=Eastmoney|yuncaijing=Yuncaijing|fenghuang=Ifeng|jinrongjie=JRJ" default:"eastmoney"`,
		`json:"start_date" label:"From date" doc:"earliest date and time" widget:"date" default:"2024-01-05 09:00:00"`,
		`json:"end_date" label:"To date" doc:"latest date and time; empty means now" widget:"date"`,
		`json:"keyword" label:"Keyword" doc:"only results that contain this; replaces the query"`,
		baseURLSetting,
	}
)

// retiredSpecs returns components of older canvases.
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
