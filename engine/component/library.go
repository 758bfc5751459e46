package component

import "github.com/easel-canvas/easel/engine"

// Settings of the tools that search collections.
var (
	wikipediaSettings = []string{
		querySetting,
		`json:"language" label:"Language" doc:"language of the pages" widget:"language" default:"en"`,
		topNSetting, baseURLSetting,
	}
	arXivSettings = []string{
		querySetting,
		paperCountSetting,
		`json:"sort_by" label:"Order" doc:"order of the results" shape:"submittedDate, lastUpdatedDate or relevance" offer:"relevance=Relevance|submittedDate=Newest|lastUpdatedDate=Updated" default:"submittedDate"`,
		baseURLSetting,
	}
	pubMedSettings = []string{
		querySetting,
		paperCountSetting,
		`json:"email" label:"E-mail" doc:"contact e-mail address for the service"`,
		baseURLSetting,
	}
	scholarSettings = []string{
		querySetting,
		paperCountSetting,
		`json:"sort_by" label:"Order" doc:"order of the results" options:"relevance=Relevance|date=Newest" default:"relevance"`,
		`json:"year_low" type:"integer" label:"From year" doc:"earliest year; 0 means any" zero:"any"`,
		`json:"year_high" type:"integer" label:"To year" doc:"latest year; 0 means any" zero:"any"`,
		`json:"patents" type:"boolean" label:"Patents" doc:"include patents" default:"true"`,
		apiKeySetting, baseURLSetting,
	}
)

func librarySpecs() []engine.Spec {
	githubSettings := []string{querySetting, topNSetting, apiKeySetting, baseURLSetting}
	query := wanted("query", "the words to search for, in the language of the collection")
	plain := needing()
	return []engine.Spec{
		outside("Wikipedia", "wikipedia_search", "Searches Wikipedia and returns the summaries of pages.", passages,
			plain, wikipediaSettings, query),
		outside("ArXiv", "arxiv_search", "Searches preprints on arXiv and returns their abstracts.", passages,
			plain, arXivSettings, query),
		outside("PubMed", "pubmed_search", "Searches medical and biological papers on PubMed.", passages,
			plain, pubMedSettings, query),
		outside("GitHub", "github_search", "Searches repositories on GitHub, most stars first.", passages,
			plain, githubSettings, query),
		outside("GoogleScholar", "google_scholar_search", "Searches scientific papers with Google Scholar.", passages,
			plain, scholarSettings, query),
	}
}
