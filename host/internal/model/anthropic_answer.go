package model

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// anthropicAnswer reads a message of Anthropic, streamed or whole.
type anthropicAnswer struct {
	*response
	blocks []*anthropicBlock
	begun  map[int64]*anthropicBlock // by index
	// tokens of the request, those of it from the cache and to it, and of the answer
	input, cached, written, output int64
}

// anthropicBlock is one block of the content. Texts, signatures and inputs arrive in pieces.
type anthropicBlock struct {
	kind      string
	start     engine.Value
	text      strings.Builder // or thinking
	signature strings.Builder
	call      *openCall // of tool_use
}

// maxBlocks bounds the blocks of an answer.
const maxBlocks = 10_000

func (r *anthropicAnswer) read(d *document) (last bool, err error) {
	v := d.value
	switch v.Get("type").Str() {
	case "message":
		r.complete = true
		return true, r.whole(v)
	case "message_start":
		m := v.Get("message")
		r.restart()
		r.usage(m.Get("usage"))
		return false, r.content(m.Get("content"))
	case "content_block_start":
		b, err := r.begin(v.Get("content_block"))
		r.begun[blockIndex(v)] = b
		return false, err
	case "content_block_delta":
		return false, r.delta(v)
	case "content_block_stop":
		delete(r.begun, blockIndex(v))
	case "message_delta":
		r.stop(v.Get("delta"))
		r.usage(v.Get("usage"))
	case "message_stop":
		r.complete = true
		return true, nil
	case "error":
		return false, anthropicError(v)
	case "ping":
	default:
		r.unread(d)
	}
	return false, nil
}

// restart drops the blocks of a message that another one replaces before its end, as a gateway does
// when it repeats a request. Texts have already been emitted.
func (r *anthropicAnswer) restart() {
	if len(r.blocks) > 0 {
		r.blocks, r.open.list = nil, nil
	}
	clear(r.begun)
}

func blockIndex(v engine.Value) int64 { return indexIn(v, "index") }

func (r *anthropicAnswer) whole(m engine.Value) error {
	r.usage(m.Get("usage"))
	if err := r.content(m.Get("content")); err != nil {
		return err
	}
	r.stop(m)
	return nil
}

func (r *anthropicAnswer) content(blocks engine.Value) error {
	if blocks.Kind() == engine.KindString {
		blocks = engine.List(engine.Object("type", "text", "text", blocks))
	}
	for _, v := range blocks.Elements() {
		if _, err := r.begin(v); err != nil {
			return err
		}
	}
	return nil
}

// begin adds a block, with the text that it has already.
func (r *anthropicAnswer) begin(v engine.Value) (*anthropicBlock, error) {
	b := &anthropicBlock{kind: v.Get("type").Str(), start: v}
	if len(r.blocks) == maxBlocks {
		return nil, fmt.Errorf("%w: more than %d blocks", ErrTooLarge, maxBlocks)
	}
	r.blocks = append(r.blocks, b)
	switch b.kind {
	case "text":
		return b, r.text(b, v.Get("text").Text())
	case "thinking":
		b.signature.WriteString(v.Get("signature").Str())
		return b, r.think(b, v.Get("thinking").Text())
	case "tool_use":
		b.call = &openCall{index: -1, id: v.Get("id").Text(), name: v.Get("name").Text()}
		if input := v.Get("input"); input.Truthy() {
			b.call.arguments.WriteString(argumentsOf(input))
		}
		r.open.list = append(r.open.list, b.call)
		return b, r.open.tooMany()
	}
	return b, nil
}

func (r *anthropicAnswer) text(b *anthropicBlock, text string) error {
	b.text.WriteString(text)
	return r.say(text)
}

func (r *anthropicAnswer) think(b *anthropicBlock, text string) error {
	b.text.WriteString(text)
	return r.marks.thought(text)
}

// delta adds a piece to a block. A block that did not begin begins with it.
func (r *anthropicAnswer) delta(v engine.Value) error {
	delta := v.Get("delta")
	kind := delta.Get("type").Str()
	b := r.begun[blockIndex(v)]
	if b == nil {
		var err error
		if b, err = r.begin(engine.Object("type", blockOf(kind))); err != nil {
			return err
		}
		r.begun[blockIndex(v)] = b
	}
	switch kind {
	case "text_delta":
		return r.text(b, delta.Get("text").Text())
	case "thinking_delta":
		return r.think(b, delta.Get("thinking").Text())
	case "signature_delta":
		b.signature.WriteString(delta.Get("signature").Str())
	case "input_json_delta":
		if b.call != nil {
			b.call.arguments.WriteString(delta.Get("partial_json").Str())
		} else {
			b.text.WriteString(delta.Get("partial_json").Str())
		}
	}
	return nil
}

// blockOf returns the type of the block that a delta belongs to.
func blockOf(delta string) string {
	switch delta {
	case "thinking_delta", "signature_delta":
		return "thinking"
	case "input_json_delta":
		return "tool_use"
	}
	return "text"
}

// stop takes the reason of an object for which the answer ended.
func (r *anthropicAnswer) stop(v engine.Value) {
	if why := v.Get("stop_details").Get("explanation").Str(); why != "" {
		r.why = why
	}
	switch reason := v.Get("stop_reason").Text(); reason {
	case "max_tokens", "model_context_window_exceeded":
		r.ended("length")
	case "refusal":
		r.ended(finishRefused)
	case "pause_turn":
		if r.again {
			break // it was repeated; the blocks go back once
		}
		r.again, r.more = true, append(r.more, r.values(false)...)
		r.ended(reason)
	case "null", "None":
	default:
		r.ended(reason)
	}
}

// usage takes the tokens: those that were read from or written to the cache are not counted in
// input_tokens. The values of a stream grow.
func (r *anthropicAnswer) usage(u engine.Value) {
	cached, written := tokensIn(u, "cache_read_input_tokens"), tokensIn(u, "cache_creation_input_tokens")
	if input := tokensIn(u, "input_tokens") + cached + written; input >= r.input {
		r.input, r.cached, r.written = input, cached, written
	}
	r.output = max(r.output, tokensIn(u, "output_tokens"))
	r.countCached(r.input, r.output, r.cached, r.written)
}

// opaque returns the blocks if there are others than texts and calls.
func (r *anthropicAnswer) opaque(engine.Value) engine.Value {
	plain := len(r.more) == 0
	for _, b := range r.blocks {
		plain = plain && (b.kind == "text" || b.kind == "tool_use")
	}
	if plain {
		return engine.Null
	}
	return engine.Object("provider", r.provider.config.Label(), "api", string(Anthropic), "content",
		engine.List(append(r.more, r.values(true)...)...))
}

// values returns the blocks as they are sent back. Calls are kept elsewhere: their places are left.
func (r *anthropicAnswer) values(places bool) []engine.Value {
	var list []engine.Value
	for _, b := range r.blocks {
		v := b.start
		switch b.kind {
		case "text":
			if strings.TrimSpace(b.text.String()) == "" {
				continue // the server refuses it
			}
			v = engine.Object("type", "text", "text", b.text.String())
		case "thinking":
			v = engine.Object("type", "thinking", "thinking", b.text.String(), "signature", b.signature.String())
		case "tool_use":
			v = engine.Object("type", "tool_use")
			if !places {
				one := engine.ToolCall{Arguments: b.call.arguments.String()}
				v = engine.Object("type", "tool_use", "id", b.call.id, "name", b.call.name, "input",
					argumentsValue(&one))
			}
		case "":
			continue // the server would refuse what is no block
		default:
			if input := b.text.String(); input != "" {
				v = v.With("input", argumentsValue(&engine.ToolCall{Arguments: input}))
			}
		}
		list = append(list, v)
	}
	return list
}

// anthropicStatus are the HTTP statuses of errors inside a stream.
var anthropicStatus = map[string]int{
	"invalid_request_error": http.StatusBadRequest, "authentication_error": http.StatusUnauthorized,
	"billing_error": http.StatusPaymentRequired, "permission_error": http.StatusForbidden,
	"not_found_error": http.StatusNotFound, "request_too_large": http.StatusRequestEntityTooLarge,
	"rate_limit_error": http.StatusTooManyRequests, "api_error": http.StatusInternalServerError,
	"timeout_error": http.StatusGatewayTimeout, "overloaded_error": 529,
}

// anthropicError returns the failure in an event.
func anthropicError(v engine.Value) *refusal {
	r := &refusal{}
	r.read(v, 0)
	if r.status == 0 {
		r.status = anthropicStatus[v.Get("error").Get("type").Str()]
	}
	if r.text == "" {
		r.text = v.JSON()
	}
	return r
}
