package model

import (
	"fmt"
	"net/http"
	"regexp"
	"sync"
	"time"

	"github.com/easel-canvas/easel/engine"
)

const (
	// maxRefusals bounds the number of models that are remembered.
	maxRefusals = 1000
	// refusalTTL is how long a model is remembered: its server may get another configuration.
	refusalTTL = time.Hour
)

// refusals remembers models that refused tools. A nil *refusals remembers none.
type refusals struct {
	mu  sync.Mutex
	all map[string]time.Time // address and model -> end
}

func (r *refusals) add(key string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	for k, end := range r.all {
		if len(r.all) >= maxRefusals || now.After(end) {
			delete(r.all, k)
		}
	}
	if r.all == nil {
		r.all = map[string]time.Time{}
	}
	r.all[key] = now.Add(refusalTTL)
}

func (r *refusals) has(key string) bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Now().Before(r.all[key])
}

// info describes a model of the provider: its configuration, and whether it refused tools.
func (p *provider) info(model string) engine.Info {
	info := p.config.info(model)
	info.Tools = info.Tools && !p.refusals.has(p.refusalKey(model))
	return info
}

func (p *provider) refusalKey(model string) string { return p.config.BaseURL + "\n" + model }

// refused turns the error of a request with tools into [engine.ErrToolsRefused] if the server
// refused the tools, and remembers it.
func (p *provider) refused(model string, err error) error {
	e, ok := err.(*Error)
	if !ok || !refusesTools(e.Status, e.Err.Error()) {
		return err
	}
	p.refusals.add(p.refusalKey(model))
	e.Err = fmt.Errorf("%w: %w", engine.ErrToolsRefused, e.Err)
	return e
}

// refusing are the words of servers for a request whose tools they do not accept. Those of OpenAI,
// Azure, Ollama, vLLM, llama.cpp, OpenRouter, Mistral, Gemini and TGI are in the tests.
var refusing = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\b(tools?|tool[ _-]\w+|functions?|function[ _-]?call\w*)\b['"\x60]?[^.;,]{0,60}` +
		`\b(not (currently )?(supported|enabled|available|allowed|permitted|implemented)|unsupported|disabled)`),
	regexp.MustCompile(`(?i)\b(does not|doesn't|do not|cannot|can't) (currently )?(support|use|accept|handle)` +
		`[^.;]{0,40}\b(tools?|functions?|function[ _-]?call\w*)\b`),
	regexp.MustCompile(`(?i)\b(unsupported|unrecognized|unknown|unexpected|extra)\b[\w ]{0,40}:? ?` +
		`['"\x60]?(tools|functions)['"\x60]?([^\[.\w]|$)`),
	regexp.MustCompile(`(?i)\btools? (param|choice)[^.;]{0,40}\brequires --`),
	regexp.MustCompile(`(?i)\bno endpoints? found that supports? tool`),
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
