package component

import (
	"context"

	"github.com/easel-canvas/easel/engine"
)

// Library searches a collection that requires no key: Wikipedia, GitHub.
type Library struct {
	External
	Query    engine.Expr `json:"query" doc:"search query" default:"{sys.query}"`
	TopN     int         `json:"top_n" doc:"number of results" default:"10" min:"1" label:"Results"`
	Language string      `json:"language" doc:"Wikipedia: language of the pages" default:"en"`
}

// Run searches.
func (l *Library) Run(ctx context.Context, call *engine.Call) error {
	return l.act(ctx, call, arg{"query", &l.Query})
}

// Papers searches a collection of papers that requires no key: ArXiv, PubMed.
type Papers struct {
	External
	Query  engine.Expr `json:"query" doc:"search query" default:"{sys.query}"`
	TopN   int         `json:"top_n" doc:"number of results" default:"12" min:"1" label:"Results"`
	SortBy string      `json:"sort_by" doc:"ArXiv: submittedDate, lastUpdatedDate or relevance"`
	Email  string      `json:"email" doc:"PubMed: contact e-mail address for the service"`
}

// Run searches.
func (p *Papers) Run(ctx context.Context, call *engine.Call) error {
	return p.act(ctx, call, arg{"query", &p.Query})
}

// GoogleScholar searches scientific papers.
type GoogleScholar struct {
	External
	Query    engine.Expr `json:"query" doc:"search query" default:"{sys.query}"`
	TopN     int         `json:"top_n" doc:"number of results" default:"12" min:"1" label:"Results"`
	SortBy   string      `json:"sort_by" doc:"relevance or date" default:"relevance" enum:"relevance,date"`
	YearLow  int         `json:"year_low" doc:"earliest year; 0 means any"`
	YearHigh int         `json:"year_high" doc:"latest year; 0 means any"`
	Patents  bool        `json:"patents" doc:"include patents" default:"true"`
}

// Run searches.
func (g *GoogleScholar) Run(ctx context.Context, call *engine.Call) error {
	return g.act(ctx, call, arg{"query", &g.Query})
}

func librarySpecs() []engine.Spec {
	query := wanted("query", "the words to search for, in the language of the collection")
	fresh := func() engine.Component { return &Library{} }
	papers := func() engine.Component { return &Papers{} }
	return []engine.Spec{
		outside("Wikipedia", "wikipedia_search", "Searches Wikipedia and returns the summaries of pages.", passages, fresh, query),
		outside("ArXiv", "arxiv_search", "Searches preprints on arXiv and returns their abstracts.", passages,
			papers, query),
		outside("PubMed", "pubmed_search", "Searches medical and biological papers on PubMed.", passages,
			papers, query),
		outside("GitHub", "github_search", "Searches repositories on GitHub, most stars first.", passages, fresh, query),
		outside("GoogleScholar", "google_scholar_search", "Searches scientific papers with Google Scholar.", passages,
			func() engine.Component { return &GoogleScholar{} }, query),
	}
}
