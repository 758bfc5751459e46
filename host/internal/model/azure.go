package model

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// azureDialect is OpenAI's API as Azure serves it: by deployment, whose name is the model's, or at
// /openai/v1 like OpenAI's own.
type azureDialect struct{ openAIDialect }

// azureVersion is the api-version of a base URL without one.
const azureVersion = "2024-10-21"

func (azureDialect) base() string { return "" }

// afterResource matches the end of an address that Azure shows, after the resource.
var afterResource = regexp.MustCompile(`/(openai)?(/v1|/deployments/.*)?(/chat/completions|/embeddings|/models)?$`)

func (azureDialect) address(base, path, model string, _ bool) string {
	base, query, _ := strings.Cut(base, "?")
	base = strings.TrimRight(base, "/")
	if trimmed := plainBase(base); strings.HasSuffix(trimmed, "/v1") {
		return trimmed + path
	}
	if base = afterResource.ReplaceAllString(base, ""); query == "" {
		query = "api-version=" + azureVersion
	}
	return base + "/openai/deployments/" + url.PathEscape(model) + path + "?" + query
}

func (azureDialect) authorize(h http.Header, key string) {
	if key != "" {
		h.Set("Api-Key", key)
	}
}
