package component

import (
	"context"

	"github.com/easel-canvas/easel/engine"
)

// Retired stands for components of older canvases that have a query and settings of their own,
// which the tool behind the Tools port reads.
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
		outside("AkShare", "akshare_stock_news", "Gives news on a Chinese stock.", passages, fresh(),
			wanted("query", "code or name of the stock")),
		textOnly(outside("Crawler", "web_crawler", "Reads a web page.", passages, fresh(),
			wanted("query", "address of the page"))),
		textOnly(outside("DeepL", "deepl_translate", "Translates a text with DeepL.", passages, fresh("auth_key"),
			wanted("query", "the text"))),
		outside("Jin10", "jin10", "Gives financial news from Jin10.", passages, fresh("secret_key"), wanted("query", "what to look for")),
		outside("QWeather", "qweather", "Gives the weather of a place.", passages, fresh("web_apikey"), wanted("query", "the place")),
		outside("TuShare", "tushare", "Gives news on Chinese stocks.", passages, fresh("token"), wanted("query", "what to look for")),
	}
}

// textOnly is a component whose only output is its text.
func textOnly(spec engine.Spec) engine.Spec {
	spec.Outputs = []engine.Field{{Name: passages, Type: "string", Doc: "the result as text"}}
	return spec
}
