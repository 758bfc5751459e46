package model

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// API is the form in which the server of a provider takes requests and sends answers.
type API string

// The forms of servers.
const (
	OpenAI    API = "openai"    // chat completions, which most servers support; the default
	Anthropic API = "anthropic" // Anthropic's Messages
	Gemini    API = "gemini"    // Google's generateContent
	Azure     API = "azure"     // chat completions of Azure OpenAI, by deployment
	Ollama    API = "ollama"    // Ollama's own chat
	Responses API = "responses" // OpenAI's Responses
	Bedrock   API = "bedrock"   // Converse of Amazon Bedrock
)

// APIs lists the forms.
var APIs = []API{OpenAI, Anthropic, Gemini, Azure, Ollama, Responses, Bedrock}

// dialect writes the chat requests of a form and reads its answers.
type dialect interface {
	// base returns the URL of the vendor; "" if each customer has another one.
	base() string
	// address returns the URL of a request; path is the one of OpenAI, such as [chatPath].
	address(base, path, model string, stream bool) string
	// authorize sets the headers that each request needs, that with the key included if there is
	// one.
	authorize(h http.Header, key string)
	// request returns the body of a request.
	request(c *call) engine.Value
	// reader returns the reader of one response.
	reader(a *response) reader
}

// reader reads one response in the form of a server.
type reader interface {
	// read adds a document of the response and reports whether it is the last one.
	read(d *document) (last bool, err error)
	// opaque returns the members that go back with the calls of the answer; null without any.
	// extras come with the calls; see [openCalls.calls].
	opaque(extras engine.Value) engine.Value
}

// dialects are the forms by their names.
var dialects = map[API]dialect{
	OpenAI: openAIDialect{}, Anthropic: anthropicDialect{}, Gemini: geminiDialect{}, Azure: azureDialect{},
	Ollama: ollamaDialect{}, Responses: responsesDialect{}, Bedrock: bedrockDialect{},
}

// dialect returns the form of a provider.
func (p *Provider) dialect() dialect {
	if p.API == "" {
		return dialects[OpenAI]
	}
	return dialects[p.API]
}

// chatOnly reports whether the form has neither embeddings nor speech.
func (a API) chatOnly() bool { return slices.Contains([]API{Anthropic, Gemini, Ollama, Bedrock}, a) }

// relays reports whether a chat completion of a client can be passed on unchanged.
func (a API) relays() bool { return a == "" || a == OpenAI || a == Azure }

// guesses reports whether a base URL may lack its version; the other forms have one version.
func (a API) guesses() bool { return a == "" || a == OpenAI || a == Responses }

func (a API) known() bool { return a == "" || slices.Contains(APIs, a) }

func apiNames() string {
	names := make([]string, len(APIs))
	for i, a := range APIs {
		names[i] = string(a)
	}
	return strings.Join(names, ", ")
}

// call is one model call for a dialect.
type call struct {
	provider *provider
	model    string
	request  *engine.ModelRequest
	learned  *Lesson
	more     []engine.Value // what the answer has so far, if its server paused it

	sent []string // parameters of the request by their names in lessons
}

// takes reports whether a parameter may be sent, and records that it is.
func (c *call) takes(name string) bool {
	if c.learned.drops(name) {
		return false
	}
	c.sent = append(c.sent, name)
	return true
}

// params returns the parameters that are sent, by their names in lessons.
func (c *call) params() engine.Value {
	b := engine.NewObject(len(c.sent))
	for _, name := range c.sent {
		b.Set(name, engine.Bool(true))
	}
	return b.Value()
}

// unsentImage warns of an image that is left out of the request.
func (c *call) unsentImage(why string) {
	if c.request.Warned != nil {
		c.request.Warned(fmt.Sprintf("model %s of %s: an image is not sent, because %.100s", c.model,
			c.provider.config.Label(), why))
	}
}

// offers reports whether the model may call functions.
func (c *call) offers() bool { return offers(c.request) }

func offers(req *engine.ModelRequest) bool {
	return req.Purpose != engine.PurposePlan && len(req.Tools) > 0
}

// schema returns the JSON Schema that the answer must match; ok is false without one.
func (c *call) schema() (schema engine.Value, ok bool) {
	r := c.request
	return r.Schema, r.Purpose == engine.PurposeStructured && r.Schema.Get("properties").Len() > 0 && len(r.Tools) == 0
}

// kept returns what this provider attached to a message, in the form of an API; null if another one
// did.
func (c *call) kept(m *engine.ModelMessage, api API) engine.Value {
	o := m.Opaque
	if o.Get("provider").Str() != c.provider.config.Label() || o.Get("api").Str() != string(api) {
		return engine.Null
	}
	return o
}

// sampling sets temperature and top_p.
func (c *call) sampling(b *engine.ObjectBuilder, topP string) {
	config := &c.request.Config
	if t := config.Temperature; t != nil && c.takes("temperature") {
		b.Set("temperature", engine.Float(*t))
	}
	pairs := config.Temperature != nil && !c.learned.drops("temperature")
	if t := config.TopP; t != nil && (!pairs || !c.learned.drops(pair)) && c.takes("top_p") {
		b.Set(topP, engine.Float(*t))
	}
}

// penalties sets the penalties.
func (c *call) penalties(b *engine.ObjectBuilder, presence, frequency string) {
	config := &c.request.Config
	if v := config.PresencePenalty; v != nil && c.takes("presence_penalty") {
		b.Set(presence, engine.Float(*v))
	}
	if v := config.FrequencyPenalty; v != nil && c.takes("frequency_penalty") {
		b.Set(frequency, engine.Float(*v))
	}
}

// stops returns the texts that end an answer.
func (c *call) stops() []string {
	if stops := c.ends(); len(stops) > 0 && c.takes("stop") {
		return stops
	}
	return nil
}

// ends returns the texts that should end the answer, without blank ones.
func (c *call) ends() (stops []string) {
	for _, s := range c.request.Config.Stop {
		if strings.TrimSpace(s) != "" {
			stops = append(stops, s)
		}
	}
	return stops
}
