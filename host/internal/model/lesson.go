package model

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
)

// Lesson records the properties of a model that were learned from answers of its server.
type Lesson struct {
	Drop    []string          `json:"drop,omitempty"`     // parameters that it refuses
	Rename  map[string]string `json:"rename,omitempty"`   // parameters that it knows under another name
	Unsent  []string          `json:"unsent,omitempty"`   // settings without a place in its requests, reported once
	NoTools bool              `json:"no_tools,omitempty"` // it refuses tools
	Samples bool              `json:"samples,omitempty"`  // it takes sampling parameters despite its name
	Reasons bool              `json:"reasons,omitempty"`  // its answers begin with reasoning without a mark
	BaseURL string            `json:"base_url,omitempty"` // address that works
	Batch   int               `json:"batch,omitempty"`    // texts of one embedding request
	// MaxTokens is the largest limit of an answer that it accepts; 0 is unknown.
	MaxTokens int       `json:"max_tokens,omitempty"`
	Until     time.Time `json:"-"`
}

// lesson returns what is known of a model.
func (p *provider) lesson(model string) Lesson { return p.lessons.get(p.lessonKey(model)) }

func (p *provider) learn(model string, change func(*Lesson)) {
	p.lessons.change(p.lessonKey(model), change)
}

// lessonKey has the tenant that configured the provider: answers depend on its account, and what
// a server of one tenant teaches is not true for others.
func (p *provider) lessonKey(model string) lessonKey {
	return lessonKey{p.owner, p.config.BaseURL, model}
}

// info describes a model of the provider: its configuration, and whether it refused tools.
func (p *provider) info(model string) engine.Info {
	info := p.config.info(model)
	info.Tools = info.Tools && !p.lesson(model).NoTools
	return info
}

func (l *Lesson) drops(name string) bool { return slices.Contains(l.Drop, name) }

const (
	// pair stands for a parameter that is refused together with another one.
	pair = "top_p with temperature"
	// requiredLimit stands for a max_tokens that a request must have.
	requiredLimit = "required max_tokens"
)

// apply returns a request without what the server refuses.
func (l *Lesson) apply(body engine.Value) engine.Value {
	if l.drops(pair) && !body.Get("temperature").IsNull() {
		body = body.Without("top_p")
	}
	for _, name := range l.Drop {
		body = body.Without(name)
	}
	for name, other := range l.Rename {
		if v, ok := body.Lookup(name); ok {
			if body = body.Without(name); !l.drops(other) {
				body = body.With(other, v)
			}
		}
	}
	if l.drops("stream") {
		body = body.Without("stream_options")
	}
	return body
}

// negotiable are the members of requests that a call can do without, the longer names first. Their
// pattern matches a text that speaks of them.
var negotiable = []struct {
	name  string
	words *regexp.Regexp
}{
	{"presence_penalty", regexp.MustCompile(`(?i)presence[_ ]?penalty|\bpenalt(y|ies)\b`)},
	{"frequency_penalty", regexp.MustCompile(`(?i)frequency[_ ]?penalty|\bpenalt(y|ies)\b`)},
	{"max_completion_tokens", regexp.MustCompile(`(?i)max_?(completion|new)_?tokens`)},
	{"max_tokens", regexp.MustCompile(`(?i)\bmax_?(new_?)?tokens`)},
	{"temperature", regexp.MustCompile(`(?i)\btemperature\b`)},
	{"top_p", regexp.MustCompile(`(?i)\btop_?p\b`)},
	{"stream_options", regexp.MustCompile(`(?i)stream_?options|include_usage`)},
	{"response_format", regexp.MustCompile(`(?i)(response|output)[_ ]?format|json[_ ]schema|structured outputs?\b|` +
		`\bgrammar\b|guided[_ ](decoding|json)|` +
		`output_config\.format|response_?(json_?)?schema|response_?mime_?type|text\.format|\bformat\b.{0,20}schema`)},
	{"parallel_tool_calls", regexp.MustCompile(`(?i)parallel_?tool_?calls`)},
	{"tool_choice", regexp.MustCompile(`(?i)tool_choice`)},
	{"reasoning_effort", regexp.MustCompile(`(?i)reasoning_?effort`)},
	{"chat_template_kwargs", regexp.MustCompile(`(?i)chat_template_kwargs|enable_thinking`)},
	{"encoding_format", regexp.MustCompile(`(?i)encoding_?format`)},
	{"top_n", regexp.MustCompile(`(?i)\btop_n\b`)},
	{"dimensions", regexp.MustCompile(`(?i)\bdimensions\b`)},
	{"max_output_tokens", regexp.MustCompile(`(?i)max_?output_?tokens|num_predict`)},
	{"cache_control", regexp.MustCompile(`(?i)cache_?(control|point)|prompt caching`)},
	{"adaptive_thinking", regexp.MustCompile(`(?i)\badaptive\b|\bthinking\b`)},
	{"thinking_budget", regexp.MustCompile(`(?i)\bbudget_tokens\b|\bthinking\b`)},
	{"thinking", regexp.MustCompile(`(?i)\bthink(ing)?(_?(config|budget|level))?\b`)},
	{"thought_signature", regexp.MustCompile(`(?i)thought_?signature`)},
	{"effort", regexp.MustCompile(`(?i)\beffort\b`)},
	{"include", regexp.MustCompile(`(?i)encrypted[_ ]content|\binclude\b`)},
	{"reasoning_summary", regexp.MustCompile(`(?i)reasoning[._ ]summar(y|ies)`)},
	{"reasoning", regexp.MustCompile(`(?i)\breasoning\b`)},
	{"num_ctx", regexp.MustCompile(`(?i)num_ctx`)},
	{"stop", regexp.MustCompile(`(?i)['"\x60]stop['"\x60]|\bstop\b ` +
		`(is|sequences?|parameter)|(parameter|argument|field|supplied):? stop\b|support[^.]{0,40}: stop\b`)},
	{"stream", regexp.MustCompile(`(?i)['"\x60]stream['"\x60]|\bstreaming\b[^.;]{0,20}\bnot\b|` +
		`\bnot\b[^.;]{0,20}\bstreaming\b`)},
}

// negotiate changes a lesson by the refusal of a request, and describes the change; "" if the
// refusal is not about a parameter that the call can do without.
func (l *Lesson) negotiate(body engine.Value, r *refusal) string {
	if !r.invalid() {
		return ""
	}
	text := r.text + " " + r.param
	if contextLength.MatchString(r.text) {
		return l.unlimited(body, text)
	}
	if change := l.reform(body, text); change != "" {
		return change
	}
	if m := limitWords.FindStringSubmatch(text); m != nil && body.Get(requiredLimit).True() {
		if most, err := strconv.Atoi(m[1]); err == nil && most > 0 && (l.MaxTokens == 0 || most < l.MaxTokens) {
			l.MaxTokens = most
			return "max_tokens is at most " + m[1]
		}
	}
	var named []string
	for _, n := range negotiable {
		if _, sent := body.Lookup(n.name); sent && n.words.MatchString(text) {
			named = append(named, n.name)
		}
	}
	if slices.Contains(named, "top_p") && slices.Contains(named, "temperature") && together.MatchString(text) {
		l.Drop = append(slices.Clone(l.Drop), pair)
		return "top_p together with temperature is not sent"
	}
	for from, to := range map[string]string{
		"max_tokens":            "max_completion_tokens",
		"max_completion_tokens": "max_tokens",
	} {
		if slices.Contains(named, from) && l.Rename[to] == "" && !l.drops(from) {
			l.Rename = map[string]string{from: to}
			return from + " is sent as " + to
		}
	}
	if back := l.attachedTo(body, text); back != "" {
		named = append(named, back)
	}
	if len(named) == 0 {
		return ""
	}
	l.Drop = append(slices.Clone(l.Drop), named...)
	return strings.Join(named, ", ") + " is not sent"
}

// invalid reports whether a server refused a request for what is in it. Gateways and templates of
// models report that with status 500 as well.
func (r *refusal) invalid() bool {
	return r.status == http.StatusBadRequest || r.status == http.StatusUnprocessableEntity ||
		r.status == http.StatusInternalServerError && invalidWords.MatchString(r.text)
}

var invalidWords = regexp.MustCompile(`BadRequestError|UnsupportedParams|Unsupported (parameter|value)|` +
	`[Jj]inja|raise_exception|TemplateError`)

// unlimited leaves out the limit of an answer that together with the prompt exceeds the context.
func (l *Lesson) unlimited(body engine.Value, text string) string {
	if body.Get(requiredLimit).True() || !answerWords.MatchString(text) {
		return ""
	}
	for _, name := range [...]string{"max_tokens", "max_completion_tokens"} {
		if _, sent := body.Lookup(name); sent {
			l.Drop = append(slices.Clone(l.Drop), "max_tokens", "max_completion_tokens")
			return name + " is not sent"
		}
	}
	return ""
}

// answerWords match refusals that name the limit of the answer.
var answerWords = regexp.MustCompile(`(?i)max_?(completion_|new_)?tokens|in the completion|output tokens`)

// aboutValue reports whether a server refused the value of a parameter, not the parameter. The
// largest limit of an answer is true for all calls. In doubt it is the value: then each call with
// it is sent twice; a parameter that is wrongly dropped is dropped for all tenants of a model.
func (r *refusal) aboutValue() bool {
	if contextLength.MatchString(r.text) || thisRequest.MatchString(r.text) ||
		aboutSchema.MatchString(r.text) && !notSupported.MatchString(r.text) {
		return true
	}
	if slices.ContainsFunc(forms, func(f form) bool { return f.words.MatchString(r.text) }) {
		return false
	}
	return !limitWords.MatchString(r.text) && !unsupported.MatchString(r.text) && valueWords.MatchString(r.text)
}

// thisRequest matches refusals of a schema, an effort or a prompt of one canvas. Other values in
// that place are accepted.
var thisRequest = regexp.MustCompile(`(?i)\binvalid [\w ]{0,20}\bschema\b|schema conversion|\bsupported values are\b|` +
	`unrecognized schema|unimplemented keys|(parse|compile|invalid) grammar|\bmust contain\b|` +
	`\bnot (be (empty|blank)|contain|exceed)\b|\b(is|are) (empty|blank)\b`)

// notSupported are the words of refusals of a parameter with any value.
var notSupported = regexp.MustCompile(`(?i)unsupported|n[o']t (\w+ )?support`)

var (
	unsupported = regexp.MustCompile(`(?i)unsupported|\bnot (\w+ )?(support|permitted|allowed|enabled)|n't support|` +
		`\b(un(known|recognized|expected)|extra)\b|only the default`)
	valueWords = regexp.MustCompile(`(?i)out of range|\btoo (large|small|high|low|long|big|many)\b|` +
		`\bat (most|least)\b|\b(less|greater|more|fewer|higher|lower|larger|smaller) than\b|` +
		`\b(between|above|below|exceeds?|maximum value|minimum value)\b|\b(must|should|has to) be\b|[<>]=|[≤≥]|` +
		`invalid value|\bexpected an? `)
)

// limitWords is the refusal of an answer that is longer than a model's longest.
var limitWords = regexp.MustCompile(`(?:max_tokens: \d+ >|tokens you requested exceeds the model limit of) (\d+)`)

var (
	together      = regexp.MustCompile(`(?i)\b(both|together|either|only one|one of)\b`)
	contextLength = regexp.MustCompile(`(?i)context[_ ](length|window|size)|maximum context`)
)

// attachedTo returns the member of assistant messages that a refusal names, such as
// reasoning_content.
func (l *Lesson) attachedTo(body engine.Value, text string) string {
	for _, m := range body.Get("messages").Elements() {
		for name := range m.Fields() {
			known := slices.Contains(plainMembers, name) || name == "tool_call_id"
			if !known && strings.Contains(text, name) && !strings.Contains(strings.ToLower(text), "missing") {
				return name
			}
		}
	}
	return ""
}

// refused turns the error of a request with tools into [engine.ErrToolsRefused] if the server
// refused the tools, and remembers it.
func (p *provider) refused(model string, err error) error {
	e, ok := err.(*Error)
	if !ok || !refusesTools(e.Status, e.Err.Error()) {
		return err
	}
	p.learn(model, func(l *Lesson) { l.NoTools = true })
	e.Err = fmt.Errorf("%w: %w", engine.ErrToolsRefused, e.Err)
	return e
}
