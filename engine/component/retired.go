package component

import (
	"context"

	"github.com/easel-canvas/easel/engine"
)

// Retired stands for components of older canvases that the original no longer runs, or only in
// later versions. A host that offers them through its Tools port brings them back.
type Retired struct {
	External
	Query engine.Expr `json:"query" doc:"what to look for, or the address to read" default:"{sys.query}"`
}

// Run calls the component outside.
func (r *Retired) Run(ctx context.Context, call *engine.Call) error {
	return r.act(ctx, call, arg{"query", &r.Query})
}

func retiredSpecs() []engine.Spec {
	fresh := func(settings ...string) func() engine.Component {
		return func() engine.Component { return &Retired{External: needing(settings...)} }
	}
	return []engine.Spec{
		outside("AkShare", "akshare_stock_news", "Gives news on a Chinese stock.", "report", fresh(), wanted("query", "code or name of the stock")),
		outside("Crawler", "web_crawler", "Reads a web page.", passages, fresh(), wanted("query", "address of the page")),
		outside("DeepL", "deepl_translate", "Translates a text with DeepL.", "report", fresh("auth_key"), wanted("query", "the text")),
		outside("Jin10", "jin10", "Gives financial news from Jin10.", passages, fresh("secret_key"), wanted("query", "what to look for")),
		outside("QWeather", "qweather", "Gives the weather of a place.", passages, fresh("web_apikey"), wanted("query", "the place")),
		outside("TuShare", "tushare", "Gives news on Chinese stocks.", passages, fresh("token"), wanted("query", "what to look for")),
	}
}
