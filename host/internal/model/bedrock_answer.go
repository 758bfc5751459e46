package model

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// bedrockAnswer reads a message of Converse, streamed or whole.
type bedrockAnswer struct {
	*response
	blocks []*bedrockBlock
	begun  map[int64]*bedrockBlock // by index
}

// bedrockBlock is one block of the content. All parts of a stream arrive in pieces.
type bedrockBlock struct {
	whole     engine.Value // of a message that is not streamed, or of a kind that is not known
	text      strings.Builder
	thought   strings.Builder
	signature strings.Builder
	hidden    []byte // reasoning that only the server can read
	call      *openCall
}

func (r *bedrockAnswer) read(d *document) (last bool, err error) {
	v := d.value
	if kind, failed := strings.CutPrefix(d.event, frameFailure); failed {
		text := cmp.Or(v.Get("message").Str(), v.Get("Message").Str(), kind, "a failure without a reason")
		return false, &refusal{status: bedrockStatus[kind], text: text}
	}
	if m := v.Get("output").Get("message"); m.Kind() == engine.KindObject {
		r.complete = true
		r.usage(v.Get("usage"))
		for _, block := range m.Get("content").Elements() {
			if err := r.whole(block); err != nil {
				return false, err
			}
		}
		r.stop(v)
		return true, nil
	}
	switch d.event {
	case "messageStart", "contentBlockStop":
	case "contentBlockStart":
		_, err = r.begin(v)
	case "contentBlockDelta":
		err = r.delta(v)
	case "messageStop":
		r.stop(v)
	case "metadata": // the last event
		r.usage(v.Get("usage"))
		r.complete = true
		return true, nil
	default:
		r.unread(d)
	}
	return false, err
}

// bedrockStatus are the HTTP statuses of failures inside a stream; others have none.
var bedrockStatus = map[string]int{
	"validationException": http.StatusBadRequest, "throttlingException": http.StatusTooManyRequests,
	"internalServerException": http.StatusInternalServerError, "modelStreamErrorException": http.StatusFailedDependency,
	"serviceUnavailableException": http.StatusServiceUnavailable, "": http.StatusInternalServerError,
}

// whole adds a block that is complete.
func (r *bedrockAnswer) whole(v engine.Value) error {
	b, err := r.add(&bedrockBlock{whole: v})
	if err != nil {
		return err
	}
	if use := v.Get("toolUse"); use.Kind() == engine.KindObject {
		if err := r.use(b, use); err != nil {
			return err
		}
		b.call.arguments.WriteString(argumentsOf(use.Get("input")))
		return nil
	}
	reasoning := v.Get("reasoningContent").Get("reasoningText").Get("text").Text()
	if err := r.marks.thought(reasoning); err != nil || reasoning != "" {
		return err
	}
	return r.say(v.Get("text").Text() + citedText(v))
}

// citedText returns the text of a block with citations.
func citedText(v engine.Value) string {
	text, _ := contentOf(v.Get("citationsContent").Get("content"))
	return text
}

// add adds a block.
func (r *bedrockAnswer) add(b *bedrockBlock) (*bedrockBlock, error) {
	if len(r.blocks) == maxBlocks {
		return nil, fmt.Errorf("%w: more than %d blocks", ErrTooLarge, maxBlocks)
	}
	r.blocks = append(r.blocks, b)
	return b, nil
}

// use makes a block one of a call.
func (r *bedrockAnswer) use(b *bedrockBlock, use engine.Value) error {
	b.call = &openCall{index: -1, id: use.Get("toolUseId").Text(), name: use.Get("name").Text()}
	r.open.list = append(r.open.list, b.call)
	return r.open.tooMany()
}

// begin adds the block of a stream.
func (r *bedrockAnswer) begin(v engine.Value) (*bedrockBlock, error) {
	b, err := r.add(&bedrockBlock{})
	if err != nil {
		return nil, err
	}
	r.begun[bedrockIndex(v)] = b
	if use := v.Get("start").Get("toolUse"); use.Kind() == engine.KindObject {
		return b, r.use(b, use)
	}
	return b, nil
}

func bedrockIndex(v engine.Value) int64 { return indexIn(v, "contentBlockIndex") }

// delta adds a piece to a block. Only calls have a start.
func (r *bedrockAnswer) delta(v engine.Value) error {
	b := r.begun[bedrockIndex(v)]
	if b == nil {
		var err error
		if b, err = r.begin(v); err != nil {
			return err
		}
	}
	delta := v.Get("delta")
	if use := delta.Get("toolUse"); use.Kind() == engine.KindObject {
		if b.call == nil {
			if err := r.use(b, use); err != nil {
				return err
			}
		}
		b.call.arguments.WriteString(argumentPiece(use.Get("input")))
		return nil
	}
	if thought := delta.Get("reasoningContent"); thought.Kind() == engine.KindObject {
		b.thought.WriteString(thought.Get("text").Str())
		b.signature.WriteString(thought.Get("signature").Str())
		hidden, err := base64.StdEncoding.DecodeString(thought.Get("redactedContent").Str())
		if err != nil {
			return fmt.Errorf("%w: redacted reasoning is not in base64", ErrBroken)
		}
		b.hidden = append(b.hidden, hidden...)
		return r.marks.thought(thought.Get("text").Str())
	}
	text := delta.Get("text").Text()
	b.text.WriteString(text)
	return r.say(text)
}

// argumentPiece returns a piece of the arguments of a call, which some models send as an object.
func argumentPiece(v engine.Value) string {
	if v.Kind() == engine.KindString {
		return v.Str()
	}
	return argumentsOf(v)
}

// stop takes the reason for which the answer ended.
func (r *bedrockAnswer) stop(v engine.Value) {
	switch reason := v.Get("stopReason").Text(); reason {
	case "max_tokens", "model_context_window_exceeded":
		r.ended("length")
	case "guardrail_intervened":
		r.why = "a guardrail intervened"
		r.ended(finishFiltered)
	case "content_filtered":
		r.ended(finishFiltered)
	case "malformed_tool_use":
		r.ended(finishMalformed)
	case "malformed_model_output":
		r.ended(finishFailed)
	case "null":
	default:
		r.ended(reason)
	}
}

// usage takes the tokens: those that were read from or written to the cache are not counted in
// inputTokens.
func (r *bedrockAnswer) usage(u engine.Value) {
	cached, written := tokensIn(u, "cacheReadInputTokens"), tokensIn(u, "cacheWriteInputTokens")
	r.countCached(tokensIn(u, "inputTokens")+cached+written, tokensIn(u, "outputTokens"), cached, written)
}

// opaque returns the blocks if there are others than texts and calls.
func (r *bedrockAnswer) opaque(engine.Value) engine.Value {
	plain := true
	var list []engine.Value
	for _, b := range r.blocks {
		v := b.value()
		if v.IsNull() {
			continue // the server refuses empty blocks
		}
		plain = plain && (b.call != nil || !v.Get("text").IsNull())
		list = append(list, v)
	}
	if plain {
		return engine.Null
	}
	return engine.Object("provider", r.provider.config.Label(), "api", string(Bedrock), "content", engine.List(list...))
}

// value returns the block as it is sent back; null for an empty one. Calls are kept elsewhere:
// their places are left.
func (b *bedrockBlock) value() engine.Value {
	switch {
	case b.call != nil:
		return engine.Object("toolUse", engine.Object())
	case len(b.hidden) > 0:
		hidden := base64.StdEncoding.EncodeToString(b.hidden)
		return engine.Object("reasoningContent", engine.Object("redactedContent", hidden))
	case b.thought.Len()+b.signature.Len() > 0:
		text := engine.NewObject(2).Set("text", engine.String(b.thought.String()))
		if b.signature.Len() > 0 {
			text.Set("signature", engine.String(b.signature.String()))
		}
		return engine.Object("reasoningContent", engine.Object("reasoningText", text.Value()))
	case strings.TrimSpace(b.text.String()) != "":
		return engine.Object("text", b.text.String())
	case !b.whole.Get("text").IsNull() && strings.TrimSpace(b.whole.Get("text").Text()) == "":
		return engine.Null
	}
	return b.whole
}
