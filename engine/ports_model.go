package engine

import (
	"context"
	"iter"
	"math"
	"time"
)

// Model answers model calls.
type Model interface {
	// Generate yields the pieces of one answer, in order; an error comes at most once and last.
	// Reasoning is marked inside the text by <think> and </think>.
	Generate(ctx context.Context, req *ModelRequest) iter.Seq2[ModelPiece, error]
}

// ModelInfo is implemented by a Model that can describe its models.
type ModelInfo interface {
	// ModelInfo describes the model of an llm_id.
	ModelInfo(ctx context.Context, llmID string) Info
}

// Info describes the abilities of a model.
type Info struct {
	Tools   bool   // calls functions natively
	Images  bool   // takes images
	Context int    // tokens that fit; 0 means 8192
	Model   string // the model that the llm_id stands for, as a price table names it; "" if unknown
	Price   *Price // of a model that no table of the run has; nil if unknown
	// OwnPrice puts Price before the tables of the run.
	OwnPrice bool
	// Fallback has the models that the port calls when the server of this one fails.
	Fallback []string
}

// Purpose is the purpose of a model call, by which a stand-in can answer it without a language
// model.
type Purpose string

// The purposes of model calls.
const (
	PurposeAnswer     Purpose = "answer"
	PurposePlan       Purpose = "plan"       // choose tools, prompt protocol; Tools lists them
	PurposeCategorize Purpose = "categorize" // Choices: name -> {description, examples}
	PurposeStructured Purpose = "structured" // Schema is the JSON Schema of the answer
	PurposeQuestion   Purpose = "question"   // one stand-alone question out of a conversation
	PurposeCite       Purpose = "cite"       // put citation marks into a finished answer
	PurposeSummary    Purpose = "summary"    // summarise a tool call
	PurposeFilter     Purpose = "filter"     // conditions on document metadata
	PurposeTranslate  Purpose = "translate"  // a query in other languages
)

// Words of the prompt protocol of PurposePlan, in which a model answers with JSON lists of calls.
const (
	PlanDone        = "complete_task" // the call that ends the plan
	PlanObservation = "Observation:"  // opens the user message with the results of the calls
)

// ModelRequest is one model call.
type ModelRequest struct {
	LLM      string   // llm_id as in the canvas; "" is the default model
	Fallback []string // models to call, in this order, when the server of that one fails
	Node     string   // the calling node, as of Call.NodeID
	Purpose  Purpose
	System   string         // system prompt; "" is none
	Messages []ModelMessage // oldest first
	Config   ModelConfig
	Stream   bool      // pieces are requested as they arrive
	EmitOnly bool      // the whole text is not returned: a long stream is then in memory once
	Tools    []ToolDef // functions the model may call
	Schema   Value     // JSON Schema of the answer, for PurposeStructured; else null
	Choices  Value     // name -> {description, examples}, for PurposeCategorize; else null
	Chunks   Value     // retrieved chunks by citation number, for stand-ins
	Query    string    // the user's question, for stand-ins
	Key      string    // idempotency key: run/step/call
	Noted    uint64    // Event.Note of the last entry noted before this call; 0 for none
	Queued   QueuedFunc
	// Warned receives deviations of a port from the request, such as a parameter that it left out
	// because the server refuses it. It is never nil in calls of a run.
	Warned func(text string)
}

// QueuedFunc receives the time that a call waited for a slot, ending now. A port calls it, if it is
// not nil, when the wait is over. queue is the kind of the slot, name its name.
type QueuedFunc func(queue, name string, d time.Duration)

// The kinds of slots that calls wait for.
const (
	QueueModel  = "model"  // a limit of the run, the tenant or the model, or a pause its server asked for
	QueuePlugin = "plugin" // a slot among the plugins that compute
	QueueRun    = "run"    // a slot of the run, see [Options].Concurrency; it has no name
)

// ModelMessage is one message of a model call.
type ModelMessage struct {
	Role      string // user, assistant, tool
	Content   string
	Images    []string   // user: data URLs
	ToolCalls []ToolCall // assistant: the calls it asked for
	ToolID    string     // tool: the call it answers
	Opaque    Value      // assistant: ModelPiece.Opaque of the answer with the calls
}

// ModelConfig are sampling settings; nil means the model's default.
type ModelConfig struct {
	Temperature, TopP, PresencePenalty, FrequencyPenalty *float64
	MaxTokens                                            *int
	Stop                                                 []string
	// how much a reasoning model thinks; "" leaves it to the model
	Thinking string
}

// Value returns the settings that are set, by their names in chat completion requests:
// {temperature, top_p, presence_penalty, frequency_penalty, max_tokens, stop}. Thinking has no name
// there.
func (c *ModelConfig) Value() Value {
	b := NewObject(6)
	for _, f := range [...]struct {
		name  string
		value *float64
	}{
		{"temperature", c.Temperature},
		{"top_p", c.TopP},
		{"presence_penalty", c.PresencePenalty},
		{"frequency_penalty", c.FrequencyPenalty},
	} {
		if f.value != nil {
			b.Set(f.name, Float(*f.value))
		}
	}
	if c.MaxTokens != nil {
		b.Set("max_tokens", Int(int64(*c.MaxTokens)))
	}
	if len(c.Stop) > 0 {
		b.Set("stop", Strings(c.Stop...))
	}
	return b.Value()
}

// ModelPiece is one piece of an answer.
type ModelPiece struct {
	Text      string     // what comes next of the answer, marks of reasoning included
	ToolCalls []ToolCall // complete calls
	Usage     *Usage     // at most once
	Model     string     // the model that answers, with the first piece, if it is one of Fallback
	Cut       bool       // Text is a note: the answer was cut at the limit of its length
	// Opaque has the members that the provider attached to the answer and to its calls, such as
	// signatures of reasoning. The port reads it from the message with the calls. It may be null.
	Opaque Value
}

// Usage counts tokens, the calls they were used in and what these cost.
type Usage struct {
	Prompt, Completion, Calls int
	Cached, Written           int   // tokens of Prompt that were read from a cache, or written to it
	Cost                      int64 // millionths of the currency of [Options].Prices; 0 without prices
}

// dearest is the most that one answer costs, so that no price overflows and none of many sums.
const dearest = 1 << 50

// most returns the largest cost of a request with at most so many tokens of input, and of output. A
// tier may be cheaper than the one below it.
func (p *Price) most(tokens int) int64 {
	cost := func(input int) int64 {
		all := Usage{Prompt: input, Completion: tokens}
		switch r := p.of(input); {
		case r.Written > max(r.Input, r.Cached):
			all.Written = input
		case r.Cached > r.Input:
			all.Cached = input
		}
		return p.Cost(all)
	}
	if p.Above == nil || tokens <= p.Above.Tokens {
		return cost(tokens)
	}
	return max(cost(tokens), cost(p.Above.Tokens))
}

// Cost returns the price of an answer in millionths of the currency.
func (p Price) Cost(u Usage) int64 {
	r := p.of(u.Prompt)
	extra := float64(u.Completion) * r.Output
	if r.Cached > 0 {
		extra += float64(u.Cached) * (r.Cached - r.Input)
	}
	if r.Written > 0 {
		extra += float64(u.Written) * (r.Written - r.Input)
	}
	const inexact = 1e-6 // larger than the errors of the sums above
	cost := float64(u.Prompt)*r.Input + extra - inexact
	if !(cost < dearest) { // also not a number: prices beyond all sense are not free
		return dearest
	}
	return max(0, int64(math.Ceil(cost)))
}

// Tokens returns the number of tokens, input and output.
func (u Usage) Tokens() int64 { return int64(u.Prompt) + int64(u.Completion) }

// Value returns the usage as it is on the wire, without calls and cost where none were counted.
func (u Usage) Value() Value {
	b := NewObject(4).Set("prompt_tokens", Int(int64(u.Prompt))).Set("completion_tokens", Int(int64(u.Completion))).
		Set("total_tokens", Int(int64(u.Prompt)+int64(u.Completion)))
	if u.Calls > 0 {
		b.Set("calls", Int(int64(u.Calls)))
	}
	if u.Cost > 0 {
		b.Set("cost", inCurrency(u.Cost))
	}
	return b.Value()
}

func (u *Usage) add(more Usage) {
	u.Prompt += more.Prompt
	u.Completion += more.Completion
	u.Calls += more.Calls
	u.Cached += more.Cached
	u.Written += more.Written
	u.Cost += more.Cost
}

// ToolDef is a function as models see it.
type ToolDef struct {
	Name        string
	Description string
	Parameters  Value // JSON Schema
}

// Value returns the function definition in OpenAI form: {type: "function", function: {name,
// description, parameters}}.
func (t *ToolDef) Value() Value {
	return Object("type", "function", "function", Object(
		"name", t.Name, "description", t.Description, "parameters", t.Parameters))
}

// ToolCall is a function call requested by a model.
type ToolCall struct {
	ID        string // the provider's; "" when it gave none
	Name      string
	Arguments string // JSON text
}
