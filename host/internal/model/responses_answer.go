package model

import (
	"cmp"
	"fmt"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/model/loose"
)

// responsesAnswer reads a response of OpenAI's Responses: its events, or the whole.
type responsesAnswer struct {
	*response
	items []*responseItem
	begun map[string]*responseItem // by their place in the output
	ids   map[string]bool          // of complete items
}

// responseItem is one item of the output.
type responseItem struct {
	value  engine.Value // as the server completed it
	call   *openCall    // of a function call
	pieces bool         // its text came in pieces
	done   bool
}

func (r *responsesAnswer) read(d *document) (last bool, err error) {
	v := d.value
	kind := v.Get("type").Str()
	switch kind {
	case "response.output_text.delta", "response.refusal.delta":
		if err := r.comes(v); err != nil {
			return false, err
		}
		return false, r.say(v.Get("delta").Text())
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta", "response.reasoning.delta":
		if err := r.comes(v); err != nil {
			return false, err
		}
		return false, r.marks.thought(v.Get("delta").Text())
	case "response.reasoning_summary_part.added":
		if n, _ := loose.Number(v.Get("summary_index")); n > 0 {
			return false, r.marks.thought("\n\n")
		}
	case "response.output_item.added":
		_, err = r.begin(v)
		return false, err
	case "response.output_item.done":
		it, err := r.begin(v)
		if err != nil {
			return false, err
		}
		return false, r.whole(it, v.Get("item"))
	case "response.completed", "response.incomplete", "response.failed", "response.done":
		return true, r.end(v.Get("response"))
	case "error", "response.error":
		return false, r.failure(v)
	case "":
		if v.Get("output").Kind() == engine.KindList || v.Get("object").Str() == "response" {
			return true, r.end(v)
		}
		r.unread(d)
	}
	return false, nil
}

// outputPlace returns the place of an event in the output.
func outputPlace(v engine.Value) string {
	if index := v.Get("output_index"); !index.IsNull() {
		return index.Text()
	}
	return cmp.Or(v.Get("item_id").Text(), v.Get("item").Get("id").Text())
}

// begin returns the item of an event, a new one if it did not begin.
func (r *responsesAnswer) begin(v engine.Value) (*responseItem, error) {
	it := r.begun[outputPlace(v)]
	if it == nil {
		if len(r.items) == maxBlocks {
			return nil, fmt.Errorf("%w: more than %d items", ErrTooLarge, maxBlocks)
		}
		it = &responseItem{}
		r.items, r.begun[outputPlace(v)] = append(r.items, it), it
	}
	return it, nil
}

// comes notes that the text of an item comes in pieces.
func (r *responsesAnswer) comes(v engine.Value) error {
	it, err := r.begin(v)
	if err == nil {
		it.pieces = true
	}
	return err
}

// whole takes a complete item.
func (r *responsesAnswer) whole(it *responseItem, v engine.Value) error {
	if it.done {
		return nil
	}
	it.value, it.done = v, true
	if id := v.Get("id").Text(); id != "" {
		r.ids[id] = true
	}
	switch v.Get("type").Str() {
	case "message":
		if text, _ := contentOf(v.Get("content")); !it.pieces {
			return r.say(text)
		}
	case "reasoning":
		text := reasoningOf(v.Get("summary"))
		if text == "" {
			text = reasoningOf(v.Get("content"))
		}
		if !it.pieces {
			return r.marks.thought(text)
		}
	case "function_call":
		it.call = &openCall{
			index: -1, id: cmp.Or(v.Get("call_id").Text(), v.Get("id").Text()), name: v.Get("name").Text(),
		}
		it.call.arguments.WriteString(argumentsOf(v.Get("arguments")))
		r.open.list = append(r.open.list, it.call)
		return r.open.tooMany()
	}
	return nil
}

// end takes the whole response. Items that had no events are taken from it.
func (r *responsesAnswer) end(v engine.Value) error {
	r.complete = true
	for i, item := range v.Get("output").Elements() {
		if r.ids[item.Get("id").Text()] {
			continue // places may have gaps in a stream
		}
		it, err := r.begin(engine.Object("output_index", i))
		if err != nil {
			return err
		}
		if err := r.whole(it, item); err != nil {
			return err
		}
	}
	u := v.Get("usage")
	r.count(usageOf(u.Get("input_tokens"), u.Get("output_tokens"), u.Get("input_tokens_details").Get("cached_tokens")))
	if v.Get("error").Truthy() || v.Get("status").Str() == "failed" {
		return r.failure(v)
	}
	switch reason := v.Get("incomplete_details").Get("reason").Text(); reason {
	case "":
		r.ended("stop")
	case "max_output_tokens", "max_tokens":
		r.ended("length")
	case finishFiltered:
		r.ended(finishFiltered)
	default:
		r.why = reason
		r.ended(finishFailed)
	}
	return nil
}

// responsesStatus are the HTTP statuses of failures inside a stream.
var responsesStatus = map[string]int{"server_error": 500, "rate_limit_exceeded": 429, "invalid_prompt": 400}

func (r *responsesAnswer) failure(v engine.Value) *refusal {
	f := &refusal{}
	f.read(v.Without("output"), 0)
	if f.status == 0 {
		f.status = responsesStatus[cmp.Or(v.Get("error").Get("code").Text(), v.Get("code").Text())]
	}
	f.text = cmp.Or(f.text, "the server reported an error without a reason")
	return f
}

// opaque returns the items if any has encrypted content. Without it, the server does not know the
// reasoning of a response that it did not store.
func (r *responsesAnswer) opaque(engine.Value) engine.Value {
	var list []engine.Value
	signed := false
	for _, it := range r.items {
		v := it.value
		switch v.Get("type").Str() {
		case "reasoning":
			if !v.Get("encrypted_content").Truthy() {
				continue
			}
			signed = true
		case "function_call":
			v = engine.Object("type", "function_call", "id", v.Get("id"))
		case "message":
		default:
			continue
		}
		list = append(list, v)
	}
	if !signed {
		return engine.Null
	}
	return engine.Object("provider", r.provider.config.Label(), "api", string(Responses), "items", engine.List(list...))
}
