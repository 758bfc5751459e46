package component

import (
	"context"

	"github.com/easel-canvas/easel/engine"
)

// YahooFinance returns data on a stock.
type YahooFinance struct {
	External
	StockCode    engine.Expr `json:"stock_code" doc:"code of the stock, such as AAPL" default:"{sys.query}"`
	Info         bool        `json:"info" doc:"company profile" default:"true"`
	History      bool        `json:"history" doc:"price history"`
	Financials   bool        `json:"financials" doc:"calendar and estimates"`
	BalanceSheet bool        `json:"balance_sheet" doc:"the balance sheet"`
	CashFlow     bool        `json:"cash_flow_statement" doc:"the cash flow statement"`
	News         bool        `json:"news" doc:"latest news" default:"true"`
}

// Run requests the data.
func (y *YahooFinance) Run(ctx context.Context, call *engine.Call) error {
	return y.act(ctx, call, arg{"stock_code", &y.StockCode})
}

// WenCai answers questions on the Chinese stock market.
type WenCai struct {
	External
	Query     engine.Expr `json:"query" doc:"the question" default:"{sys.query}"`
	TopN      int         `json:"top_n" doc:"number of results" default:"10" min:"1" label:"Results"`
	QueryType string      `json:"query_type" doc:"kind of security: stock, fund, ..." default:"stock"`
}

// Run asks the service.
func (w *WenCai) Run(ctx context.Context, call *engine.Call) error {
	return w.act(ctx, call, arg{"query", &w.Query})
}

func financeSpecs() []engine.Spec {
	return []engine.Spec{
		outside("YahooFinance", "yahoo_finance", "Returns data and news on a stock from Yahoo Finance.", "report",
			func() engine.Component { return &YahooFinance{} }, wanted("stock_code", "code of the stock, such as AAPL or 600519.SS")),
		outside("WenCai", "iwencai", "Answers questions on the Chinese stock market.", "report",
			func() engine.Component { return &WenCai{} }, wanted("query", "the question or stock filter, in Chinese")),
	}
}
