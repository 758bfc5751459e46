package model

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
)

// bedrockDialect is Converse of Amazon Bedrock, one form for the models of several vendors.
//
// Source: the types of aws-sdk-go-v2/service/bedrockruntime 1.63.
type bedrockDialect struct{}

func (bedrockDialect) base() string { return "" }

func (bedrockDialect) address(base, _, model string, stream bool) string {
	action := "/converse"
	if stream {
		action = "/converse-stream"
	}
	return bedrockBase(base) + "/model/" + awsEscape(model) + action
}

// bedrockBase returns an address without the path of an action.
func bedrockBase(base string) string {
	at := strings.Index(base, "/model/")
	if at < 0 {
		at = len(base)
	}
	return strings.TrimRight(base[:at], "/")
}

// bedrockHost is the beginning of a URL of Amazon that calls models.
var bedrockHost = regexp.MustCompile(`^(https://(?:[a-z0-9-]+\.)?bedrock)-runtime` +
	`((?:-fips)?(?:\.[a-z0-9-]+)+\.(?:amazonaws\.com|amazonaws\.com\.cn|api\.aws)(?:[:/]|$))`)

// bedrockLists returns the addresses of the models and of the inference profiles. Another host of
// Amazon has them; a server of others gets no request at an address that was not configured.
func bedrockLists(base string) []string {
	base = bedrockHost.ReplaceAllString(bedrockBase(base), "$1$2")
	return []string{base + "/foundation-models?byInferenceType=ON_DEMAND", base + "/inference-profiles?maxResults=1000"}
}

// authorize sets the header of a key of Bedrock itself; those of an account sign each request.
func (bedrockDialect) authorize(h http.Header, key string) {
	if _, ok := credentialsOf(key); !ok {
		bearer(h, key)
	}
}

// bedrockRegion is the region in the name of a server.
var bedrockRegion = regexp.MustCompile(`bedrock(?:-runtime)?(?:-fips)?\.([a-z0-9-]+)\.`)

func (bedrockDialect) sign(req *http.Request, body []byte, key string, at time.Time) {
	c, ok := credentialsOf(key)
	if !ok {
		return
	}
	region := "us-east-1"
	if m := bedrockRegion.FindStringSubmatch(req.URL.Host); m != nil {
		region = m[1]
	}
	c.sign(req, body, region, "bedrock", at)
}

func (bedrockDialect) reader(a *response) reader {
	return &bedrockAnswer{response: a, begun: map[int64]*bedrockBlock{}}
}

func (bedrockDialect) request(c *call) engine.Value {
	b := engine.NewObject(6)
	turns := turnsOf(c.request)
	messages := make([]engine.Value, len(turns))
	for i := range turns {
		messages[i] = bedrockMessage(c, &turns[i])
	}
	b.Set("messages", engine.List(messages...))
	cached := c.offers() && cachesPrompts.MatchString(c.model) && c.takes("cache_control")
	mark := engine.Object("cachePoint", engine.Object("type", "default"))
	if tools := bedrockTools(c, turns); len(tools) > 0 {
		if cached {
			tools = append(tools, mark)
		}
		b.Set("toolConfig", engine.Object("tools", engine.List(tools...)))
	}
	if strings.TrimSpace(c.request.System) != "" {
		system := []engine.Value{bedrockText(c.request.System)}
		if cached {
			system = append(system, mark)
		}
		b.Set("system", engine.List(system...))
	}
	inference, output, more := engine.NewObject(4), engine.NewObject(2), engine.NewObject(2)
	limit, thinks := bedrockThinking(c, more, output, turns)
	if n := c.request.Config.MaxTokens; n != nil && *n > 0 || thinks {
		if most := c.learned.MaxTokens; most > 0 {
			limit = min(limit, most)
		}
		inference.Set("maxTokens", engine.Int(int64(limit)))
		c.sent = append(c.sent, requiredLimit)
	}
	if !thinks {
		c.sampling(inference, "topP")
	}
	if stops := c.stops(); stops != nil {
		inference.Set("stopSequences", engine.Strings(stops...))
	}
	if schema, ok := c.schema(); ok && c.takes("response_format") {
		text := closedSchema(plainSchema(schema)).JSON()
		output.Set("textFormat", engine.Object("type", "json_schema", "structure", engine.Object("jsonSchema",
			engine.Object("schema", text, "name", "answer"))))
	}
	setFilled(b, "inferenceConfig", inference)
	setFilled(b, "outputConfig", output)
	setFilled(b, "additionalModelRequestFields", more)
	return b.Value()
}

// setFilled sets a member to an object that is not empty.
func setFilled(b *engine.ObjectBuilder, name string, object *engine.ObjectBuilder) {
	if v := object.Value(); v.Len() > 0 {
		b.Set(name, v)
	}
}

var (
	// cachesPrompts are models for which a part of the prompt can be marked as cached.
	cachesPrompts = regexp.MustCompile(`amazon\.nova|claude-([a-z]+-\d|3-[57])`)
	bedrockClaude = regexp.MustCompile(`anthropic\.claude`)
	bedrockNova   = regexp.MustCompile(`amazon\.nova-2`)
	bedrockOSS    = regexp.MustCompile(`openai\.gpt`)
)

// bedrockThinking sets how much a model thinks, each vendor's in its own way, and returns the limit
// of the answer. thinks means that the limit must be sent and sampling must not.
func bedrockThinking(c *call, more, output *engine.ObjectBuilder, turns []turn) (limit int, thinks bool) {
	limit = anthropicTokens
	if n := c.request.Config.MaxTokens; n != nil && *n > 0 {
		limit = *n
	}
	effort := c.request.Config.Thinking
	off := false
	switch effort {
	case "":
		return limit, false
	case "none", "disabled", "false", "off":
		off = true
	}
	switch {
	case bedrockClaude.MatchString(c.model) && off:
		if !oldClaude.MatchString(c.model) && c.takes("thinking") {
			more.Set("thinking", engine.Object("type", "disabled"))
		}
	case bedrockClaude.MatchString(c.model):
		reasoned := func(m *engine.ModelMessage) bool {
			return !c.kept(m, Bedrock).Get("content").At(0).Get("reasoningContent").IsNull()
		}
		if thinkingFits(c, turns, reasoned) {
			return anthropicEffort(c, more, output, limit)
		}
	case bedrockNova.MatchString(c.model) && c.takes("thinking"):
		config := engine.Object("type", "disabled")
		if !off {
			config = engine.Object("type", "enabled", "maxReasoningEffort", threeEfforts(effort))
		}
		more.Set("reasoningConfig", config)
	case bedrockOSS.MatchString(c.model) && !off && c.takes("reasoning_effort"):
		more.Set("reasoning_effort", engine.String(threeEfforts(effort)))
	}
	return limit, false
}

// threeEfforts returns an effort as one of three.
func threeEfforts(effort string) string {
	switch effort {
	case "minimal", "low":
		return "low"
	case "high", "xhigh", "max":
		return "high"
	}
	return "medium"
}

// bedrockTools returns the tools. The server refuses a conversation with calls and without tools,
// so that the tools of former calls are named.
func bedrockTools(c *call, turns []turn) (tools []engine.Value) {
	known := map[string]bool{}
	add := func(name, description string, schema engine.Value) {
		known[name] = true
		b := engine.NewObject(3).Set("name", engine.String(name))
		if description != "" {
			b.Set("description", engine.String(description))
		}
		b.Set("inputSchema", engine.Object("json", schema))
		tools = append(tools, engine.Object("toolSpec", b.Value()))
	}
	if c.offers() {
		for _, d := range c.request.Tools {
			add(d.Name, d.Description, plainSchema(d.Parameters))
		}
	}
	for i := range turns {
		for _, call := range turns[i].calls() {
			if !known[call.Name] {
				add(call.Name, "", engine.Object("type", "object"))
			}
		}
	}
	return tools
}

// bedrockMessage returns a turn as a message.
func bedrockMessage(c *call, t *turn) engine.Value {
	var content []engine.Value
	for _, m := range t.asked {
		content = append(content, bedrockBlocks(c, m)...)
	}
	if len(t.asked) > 0 {
		return engine.Object("role", "assistant", "content", engine.List(content...))
	}
	for _, r := range t.results {
		text := r.content
		if strings.TrimSpace(text) == "" {
			text = noResult
		}
		content = append(content, engine.Object("toolResult", engine.Object("toolUseId", r.call.ID, "content",
			engine.List(bedrockText(text)))))
	}
	documents := 0
	for _, address := range t.images {
		if block := bedrockMedia(c, address, documents+1); !block.IsNull() {
			content = append(content, block)
			if _, ok := block.Lookup("document"); ok {
				documents++
			}
		}
	}
	for _, text := range t.texts {
		content = append(content, bedrockText(text))
	}
	if len(content) == documents { // the server requires text with documents, or any content
		content = append(content, bedrockText(blankText))
	}
	return engine.Object("role", "user", "content", engine.List(content...))
}

func bedrockText(text string) engine.Value { return engine.Object("text", text) }

// blankText stands for the text of a message that has none.
const blankText = "(empty)"

// bedrockFormats are the files that a request may have, by media type.
var bedrockFormats = map[string]string{
	"image/png": "png", "image/jpeg": "jpeg", "image/jpg": "jpeg", "image/gif": "gif", "image/webp": "webp",
	"application/pdf": "pdf", "text/csv": "csv", "text/html": "html", "text/plain": "txt", "text/markdown": "md",
}

// bedrockMedia returns an image or a document; null for one that the server does not take. The
// number is the name of a document: models read names as text.
func bedrockMedia(c *call, address string, number int) engine.Value {
	m := mediaOf(address)
	format, known := bedrockFormats[m.kind]
	switch {
	case m.url != "":
		c.unsentImage("it is not a data URL: " + m.url)
		return engine.Null
	case !known:
		c.unsentImage("the server does not take " + m.kind)
		return engine.Null
	}
	source := engine.Object("bytes", m.data)
	if strings.HasPrefix(m.kind, "image/") {
		return engine.Object("image", engine.Object("format", format, "source", source))
	}
	return engine.Object("document", engine.Object("format", format, "name", fmt.Sprintf("document %d", number),
		"source", source))
}

// bedrockBlocks returns the blocks of a message of the model: those that the server sent, with the
// calls in their places, or its text and its calls.
func bedrockBlocks(c *call, m *engine.ModelMessage) []engine.Value {
	isCall := func(v engine.Value) bool { return !v.Get("toolUse").IsNull() }
	use := func(call *engine.ToolCall) engine.Value {
		return engine.Object("toolUse", engine.Object("toolUseId", call.ID, "name", call.Name, "input",
			argumentsValue(call)))
	}
	return blocksOf(m, c.kept(m, Bedrock).Get("content"), bedrockText, isCall, use)
}
