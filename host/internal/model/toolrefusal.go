package model

import (
	"net/http"
	"regexp"
)

// refusing are the words of servers for a request whose tools they do not accept. Those of OpenAI,
// Azure, Ollama, vLLM, llama.cpp, OpenRouter, Mistral, Gemini, TGI, SGLang, LMDeploy, Zhipu and
// Baidu are in the tests.
var refusing = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\b(tools?|tool[ _-]\w+|functions?|function[ _-]?call\w*)\b['"\x60]?[^.;,]{0,60}` +
		`\b(not (currently )?(supported|enabled|available|allowed|permitted|implemented)|unsupported|disabled)`),
	regexp.MustCompile(`(?i)\b(does not|doesn't|do not|cannot|can't) (currently )?(support|use|accept|handle)` +
		`[^.;]{0,40}\b(tools?|functions?|function[ _-]?call\w*)\b`),
	regexp.MustCompile(`(?i)\b(unsupported|unrecognized|unknown|unexpected|extra)\b[\w ]{0,40}:? ?` +
		`['"\x60]?(tools|functions)['"\x60]?([^\[.\w]|$)`),
	regexp.MustCompile(`(?i)\btools? (param|choice)[^.;]{0,40}\brequires --`),
	regexp.MustCompile(`(?i)\bno endpoints? found that supports? tool`),
	regexp.MustCompile(`(?i)\btools?\b[^.;]{0,20}\b(cannot|can't) be used|--tool-call-parser`),
	regexp.MustCompile(`(?i)\bnot supports?\b[^.;]{0,20}\b(tools?|functions?)\b|不支持.{0,12}(tools|工具|函数)`),
	regexp.MustCompile(`(?i)["']tools["'].{0,60}extra inputs are not permitted`),
}

// aboutSchema are the words of servers that accept tools, but not the schema of one.
var aboutSchema = regexp.MustCompile(`(?i)\bschema\b`)

// refusesTools reports whether a response is a refusal of tools.
func refusesTools(status int, text string) bool {
	switch status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity,
		http.StatusInternalServerError, http.StatusNotImplemented:
	default:
		return false
	}
	if aboutSchema.MatchString(text) {
		return false
	}
	for _, words := range refusing {
		if words.MatchString(text) {
			return true
		}
	}
	return false
}
