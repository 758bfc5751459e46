package component

import (
	"context"

	"github.com/easel-canvas/easel/engine"
)

// Retired is the type of components of older canvases with a query and settings that only the tool
// reads.
type Retired struct {
	External
	Query engine.Expr `json:"query" doc:"search query, or the address to read" default:"{sys.query}"`
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
		outside("AkShare", "akshare_stock_news", "Returns news on a Chinese stock.", passages, fresh(),
			wanted("query", "code or name of the stock")),
		textOnly(outside("Crawler", "web_crawler", "Reads a web page.", passages, fresh(),
			wanted("query", "address of the page"))),
		textOnly(outside("DeepL", "deepl_translate", "Translates a text with DeepL.", passages, fresh("auth_key"),
			wanted("query", "the text"))),
		outside("Jin10", "jin10", "Returns financial news from Jin10.", passages, fresh("secret_key"), wanted("query", "search query")),
		outside("QWeather", "qweather", "Returns the weather at a place.", passages, fresh("web_apikey"), wanted("query", "the place")),
		outside("TuShare", "tushare", "Returns news on Chinese stocks.", passages, fresh("token"), wanted("query", "search query")),
	}
}

// textOnly returns the Spec of a component with text as its only output.
func textOnly(spec engine.Spec) engine.Spec {
	spec.Outputs = []engine.Field{{Name: passages, Type: "string", Doc: "the result as text"}}
	return spec
}
