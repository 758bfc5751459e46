package component

import "github.com/easel-canvas/easel/engine"

// Settings of the tools for stocks.
var (
	yahooSettings = []string{
		`json:"stock_code" type:"expr" label:"Stock" doc:"code of the stock" shape:"such as AAPL" example:"AAPL" want:"Enter the code of a stock." default:"{sys.query}"`,
		`json:"info" type:"boolean" label:"Company" doc:"company profile" default:"true"`,
		`json:"history" type:"boolean" label:"Price history" doc:"price history"`,
		`json:"financials" type:"boolean" label:"Calendar and estimates" doc:"calendar and estimates"`,
		`json:"balance_sheet" type:"boolean" label:"Balance sheet" doc:"the balance sheet"`,
		`json:"cash_flow_statement" type:"boolean" label:"Cash flow" doc:"the cash flow statement"`,
		`json:"news" type:"boolean" label:"News" doc:"latest news" default:"true"`,
		baseURLSetting,
	}
	wenCaiSettings = []string{
		querySetting,
		topNSetting,
		`json:"query_type" label:"Of" doc:"kind of security" shape:"stock, fund, ..." offer:"stock=Stocks|zhishu=Indices|fund=Funds|hkstock=Hong Kong stocks|usstock=US stocks|threeboard=New Third Board|conbond=Convertible bonds|insurance=Insurance|futures=Futures|lccp=Wealth products|foreign_exchange=Currencies" default:"stock"`,
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
