package model

import (
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/model/loose"
)

// geminiAnswer reads the responses of generateContent. Each one of a stream has whole parts: texts
// are pieces, calls are complete.
type geminiAnswer struct {
	*response
	parts  []engine.Value // that go back: texts, and places of calls
	text   strings.Builder
	signed bool // any of them must go back as it is
	said   bool // a text that is not a thought was sent
}

func (r *geminiAnswer) read(d *document) (last bool, err error) {
	v := d.value
	if inner := v.Get("response"); inner.Kind() == engine.KindObject && v.Get("candidates").IsNull() {
		v = inner // of some gateways
	}
	candidate := v.Get("candidates").At(0)
	blocked := v.Get("promptFeedback").Get("blockReason").Text()
	u := v.Get("usageMetadata")
	if candidate.Kind() != engine.KindObject && u.IsNull() && v.Get("promptFeedback").IsNull() {
		r.unread(d)
		return false, nil
	}
	for _, part := range candidate.Get("content").Get("parts").Elements() {
		if err := r.part(part); err != nil {
			return false, err
		}
	}
	r.usage(u)
	if blocked != "" && candidate.IsNull() {
		r.why = oneLine(blocked + " " + v.Get("promptFeedback").Get("blockReasonMessage").Str())
		r.ended(finishFiltered)
	}
	r.stop(candidate)
	return false, nil
}

// usage takes the tokens; those of thoughts are not counted in the candidates.
func (r *geminiAnswer) usage(u engine.Value) {
	sum := func(names ...string) engine.Value {
		n := int64(0)
		for _, name := range names {
			n += tokensIn(u, name)
		}
		return engine.Int(n)
	}
	r.count(usageOf(sum("promptTokenCount", "toolUsePromptTokenCount"), sum("candidatesTokenCount",
		"thoughtsTokenCount"), u.Get("cachedContentTokenCount")))
}

func (r *geminiAnswer) part(v engine.Value) error {
	text := v.Get("text").Text()
	f := v.Get("functionCall")
	signature := v.Get("thoughtSignature")
	switch {
	case f.Kind() == engine.KindObject:
		if f.Get("willContinue").Truthy() {
			return &refusal{text: "the server sends the arguments of calls in pieces, which was not asked for"}
		}
		call := &openCall{index: -1, id: f.Get("id").Text(), name: f.Get("name").Text()}
		call.arguments.WriteString(argumentsOf(f.Get("args")))
		r.open.list = append(r.open.list, call)
		place := engine.Object()
		if call.id != "" {
			place, r.signed = engine.Object("id", call.id), true
		}
		if err := r.keep(engine.Object("functionCall", place), signature); err != nil {
			return err
		}
		return r.open.tooMany()
	case loose.True(v.Get("thought")):
		if signature.Truthy() {
			if err := r.keep(engine.Object("text", text, "thought", true), signature); err != nil {
				return err
			}
		}
		return r.marks.thought(text)
	case v.Get("text").IsNull():
		return nil
	}
	if signature.Truthy() {
		if err := r.keep(engine.Object("text", text), signature); err != nil {
			return err
		}
	} else {
		r.text.WriteString(text)
	}
	r.said = r.said || text != ""
	return r.say(text)
}

// keep adds a part that goes back, after the text before it.
func (r *geminiAnswer) keep(part, signature engine.Value) error {
	r.endText()
	if signature.Truthy() {
		part = part.With("thoughtSignature", signature)
		r.signed = true
	}
	if r.parts = append(r.parts, part); len(r.parts) > maxBlocks {
		return fmt.Errorf("%w: more than %d parts", ErrTooLarge, maxBlocks)
	}
	return nil
}

func (r *geminiAnswer) endText() {
	if r.text.Len() > 0 {
		r.parts = append(r.parts, engine.Object("text", r.text.String()))
		r.text.Reset()
	}
}

// stop takes the reason for which the answer ended. One that is not known ends it like any other.
func (r *geminiAnswer) stop(candidate engine.Value) {
	given := candidate.Get("finishReason")
	message := candidate.Get("finishMessage").Str()
	reason := strings.ToUpper(given.Str())
	finish := ""
	switch reason {
	case "", "FINISH_REASON_UNSPECIFIED":
		if given.Truthy() && given.Kind() != engine.KindString {
			finish = "stop"
		}
	case "STOP":
		finish, given = "stop", engine.Null
	case "MAX_TOKENS":
		finish, given = "length", engine.Null
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE":
		// without text the same request may succeed
		r.again = !r.said && len(r.open.list) == 0 && r.repeats == 0
		finish, given = finishMalformed, engine.Null
	case "OTHER", "LANGUAGE", "TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE", "NO_IMAGE", "IMAGE_OTHER":
		finish = finishFailed
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR", "IMAGE_SAFETY",
		"IMAGE_RECITATION", "IMAGE_PROHIBITED_CONTENT":
		finish = finishFiltered
	default:
		finish = "stop"
	}
	if r.finish == "" && (finish != "" || message != "") {
		r.why = oneLine(given.Text() + " " + message)
	}
	r.ended(finish)
}

// opaque returns the parts if any has a signature or an id.
func (r *geminiAnswer) opaque(engine.Value) engine.Value {
	r.endText()
	if !r.signed {
		return engine.Null
	}
	return engine.Object("provider", r.provider.config.Label(), "api", string(Gemini), "parts", engine.List(r.parts...))
}
