package component

import "github.com/easel-canvas/easel/engine"

// Settings of the tools for stocks.
var (
	yahooSettings = []string{
		`json:"stock_code" type:"expr" doc:"code of the stock, such as AAPL" default:"{sys.query}"`,
		`json:"info" type:"boolean" doc:"company profile" default:"true"`,
		`json:"history" type:"boolean" doc:"price history"`,
		`json:"financials" type:"boolean" doc:"calendar and estimates"`,
		`json:"balance_sheet" type:"boolean" doc:"the balance sheet"`,
		`json:"cash_flow_statement" type:"boolean" doc:"the cash flow statement"`,
		`json:"news" type:"boolean" doc:"latest news" default:"true"`,
		baseURLSetting,
	}
	wenCaiSettings = []string{
		querySetting,
		topNSetting,
		`json:"query_type" doc:"kind of security: stock, fund, ..." default:"stock"`,
	}
)

func financeSpecs() []engine.Spec {
	stock := wanted("stock_code", "code of the stock, such as AAPL or 600519.SS")
	return []engine.Spec{
		outside("YahooFinance", "yahoo_finance",
			"Returns data and news on a stock from Yahoo Finance.", "report",
			needing(), yahooSettings, stock),
		outside("WenCai", "iwencai", "Answers questions on the Chinese stock market.", "report",
			needing(), wenCaiSettings, wanted("query", "the question or stock filter, in Chinese")),
	}
}
