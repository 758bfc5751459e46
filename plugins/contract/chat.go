package contract

import "github.com/easel-canvas/easel/engine"

// ChatMessage is one message of a conversation.
type ChatMessage struct {
	Role    string // system, user or assistant
	Content string
}

// ChatRequest are the arguments of llm.chat. Model is an alias that the host resolves; empty is its
// default.
type ChatRequest struct {
	Model       string
	Messages    []ChatMessage
	Temperature *float64
	MaxTokens   int // 0: the model's default
	Stream      bool
}

// ChatAnswer is the answer of a model.
type ChatAnswer struct {
	Text  string
	Usage engine.Usage
}

// ReadChat reads the arguments of llm.chat. Its error has the code InvalidArgument.
func ReadChat(args engine.Value) (ChatRequest, error) {
	var err error
	o := readObject("llm.chat", args, &err)
	r := ChatRequest{Model: o.text("model"), MaxTokens: int(o.whole("max_tokens")), Stream: o.flag("stream")}
	if t, ok := o.member("temperature", engine.KindNumber).Float(); ok {
		r.Temperature = &t
	}
	messages := o.member("messages", engine.KindList)
	for i := range messages.Len() {
		message := readObject("llm.chat.messages", messages.At(i), &err)
		r.Messages = append(r.Messages, ChatMessage{Role: message.text("role"), Content: message.text("content")})
	}
	switch {
	case err != nil:
		return r, Errorf(InvalidArgument, "%v", err)
	case len(r.Messages) == 0:
		return r, Errorf(InvalidArgument, "llm.chat: messages are missing")
	}
	return r, nil
}

// Value returns the answer as a message.
func (a ChatAnswer) Value() engine.Value {
	usage := engine.Object("prompt_tokens", a.Usage.Prompt, "completion_tokens", a.Usage.Completion)
	return engine.Object("text", a.Text, "usage", usage)
}
