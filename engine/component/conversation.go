package component

import (
	"context"
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// conversation is a rendered model call that has not been sent.
type conversation struct {
	system    string
	messages  []engine.ModelMessage
	overrides engine.Value // blocks cut from the system prompt: name -> text
	attached  int          // bytes at the end of the last message that are texts of uploaded files
}

// value returns the conversation as a stream's request; readConversation is its inverse.
func (c *conversation) value() engine.Value {
	v := engine.Object("system", c.system, "messages", messagesValue(c.messages),
		"images", c.images(), "overrides", c.overrides)
	if c.attached > 0 {
		v = v.With("attached", engine.Int(int64(c.attached)))
	}
	return v
}

func readConversation(v engine.Value) conversation {
	c := conversation{system: v.Get("system").Text(), overrides: v.Get("overrides")}
	for _, m := range v.Get("messages").Elements() {
		c.messages = append(c.messages, engine.ModelMessage{
			Role:    m.Get("role").Text(),
			Content: m.Get("content").Text(),
		})
	}
	var images []string
	for _, i := range v.Get("images").Elements() {
		images = append(images, i.Text())
	}
	c.show(images)
	attached, _ := v.Get("attached").Int()
	c.attached = int(attached)
	return c
}

func messagesValue(messages []engine.ModelMessage) engine.Value {
	list := make([]engine.Value, len(messages))
	for i, m := range messages {
		list[i] = engine.Object("role", m.Role, "content", m.Content)
	}
	return engine.List(list...)
}

// show adds images to the last message of the user.
func (c *conversation) show(images []string) {
	if len(images) == 0 {
		return
	}
	at := c.lastOfUser()
	if at < 0 {
		c.messages = append(c.messages, engine.ModelMessage{Role: "user"})
		at = len(c.messages) - 1
	}
	c.messages[at].Images = append(c.messages[at].Images, images...)
}

// images returns the images of the last message of the user.
func (c *conversation) images() []string {
	if at := c.lastOfUser(); at >= 0 {
		return c.messages[at].Images
	}
	return nil
}

func (c *conversation) lastOfUser() int {
	at := len(c.messages) - 1
	for at >= 0 && c.messages[at].Role != "user" {
		at--
	}
	return at
}

// last returns the last message of the user, without the uploaded files.
func (c *conversation) last() string {
	said, _ := c.split()
	return said
}

// split returns the last message of the user and the texts of uploaded files that follow it.
func (c *conversation) split() (said, files string) {
	n := len(c.messages)
	if n == 0 {
		return "", ""
	}
	text := c.messages[n-1].Content
	at := len(text) - c.attached
	return text[:at], text[at:]
}

// mostTurns bounds the turns of the conversation in a model request.
const mostTurns = 1 << 20

// historyWindow returns the number of turns of the conversation that a node sends, from its param
// or n.
func historyWindow(s *engine.Setup, c *engine.Common, turns int) (int, error) {
	v := c.HistoryWindowSize
	if v.Kind() == engine.KindString {
		v, _ = engine.ParseNumber(strings.TrimSpace(v.Str()))
	}
	if n, ok := v.Int(); ok {
		turns = int(n)
	} else if !c.HistoryWindowSize.IsNull() {
		return 0, s.Fail("message_history_window_size", c.HistoryWindowSize, "is not a number of turns")
	}
	turns = min(turns, mostTurns)
	s.LookBack(engine.Lookback{Turns: max(turns, 0)})
	return turns, nil
}

// past returns the conversation before the current message. It fails if it exceeds the limit of a
// text.
func past(call *engine.Call, window int) ([]engine.ModelMessage, error) {
	turns := call.History(window)
	if len(turns) == 0 {
		return nil, nil
	}
	size := int64(0)
	for _, t := range turns[:len(turns)-1] {
		size += t.TextLen()
	}
	if err := call.CheckText(size); err != nil {
		return nil, fmt.Errorf("conversation: %w", err)
	}
	list := make([]engine.ModelMessage, 0, len(turns))
	for _, t := range turns[:len(turns)-1] {
		list = append(list, engine.ModelMessage{Role: t.Role, Content: t.Text()})
	}
	return list, nil
}

// join appends prompts to the past. A user prompt replaces an unanswered entry of the user, so that
// the prompts of the canvas are always sent.
func join(past, prompts []engine.ModelMessage) []engine.ModelMessage {
	if n := len(past); n > 0 && len(prompts) > 0 && past[n-1].Role == "user" && prompts[0].Role == "user" {
		past = past[:n-1]
	}
	return append(past, prompts...)
}

// fit shortens a conversation to 97 % of a model's window: it drops the past first, then cuts the
// longer one of system prompt and last message.
func (c *conversation) fit(window int) {
	limit := window * 97 / 100
	total := engine.Tokens(c.system)
	for _, m := range c.messages {
		total += engine.Tokens(m.Content)
	}
	if total < limit || len(c.messages) == 0 {
		return
	}
	images := c.images()
	last := &c.messages[len(c.messages)-1]
	c.messages = c.messages[len(c.messages)-1:]
	if last.Role != "user" {
		c.show(images)
	}
	system, message := engine.Tokens(c.system), engine.Tokens(last.Content)
	switch {
	case system+message < limit:
	case system*10 > (system+message)*8:
		c.system = cutTokens(c.system, limit-message)
	default:
		said := len(last.Content) - c.attached
		c.messages[0].Content = cutTokens(last.Content, limit-system)
		c.attached = max(0, len(c.messages[0].Content)-said)
	}
}

// cutTokens returns the start of a text, about n tokens long.
func cutTokens(text string, n int) string {
	runes := []rune(text)
	return string(runes[:min(len(runes), max(0, n)*4)])
}

// cutBlocks are the parts of a system prompt with rules for steps of an agent; they are not sent.
var cutBlocks = [...]string{
	"task_analysis", "plan_generation", "reflection", "context_summary", "context_ranking", "citation_guidelines",
}

// cutOverrides removes those blocks from a system prompt. It returns the rest and the blocks by
// name.
func cutOverrides(system string) (rest string, blocks engine.Value) {
	if !strings.Contains(system, "</") {
		return system, engine.Null
	}
	b := engine.NewObject(2)
	for _, name := range cutBlocks {
		var body []string
		for {
			before, inner, after, ok := cutBlock(system, name)
			if !ok {
				break
			}
			body = append(body, strings.TrimSpace(inner))
			system = before + after
		}
		if len(body) > 0 {
			b.Set(name, engine.String(strings.Join(body, "\n")))
		}
	}
	if b.Len() == 0 {
		return system, engine.Null
	}
	return strings.TrimSpace(system), b.Value()
}

// cutBlock splits a text around <name>...</name>, ignoring case.
func cutBlock(text, name string) (before, inner, after string, ok bool) {
	open := indexFold(text, "<"+name+">")
	if open < 0 {
		return "", "", "", false
	}
	from := open + len(name) + 2
	end := indexFold(text[from:], "</"+name+">")
	if end < 0 {
		return "", "", "", false
	}
	return text[:open], text[from : from+end], text[from+end+len(name)+3:], true
}

// indexFold is strings.Index, but ignores the case of ASCII letters.
func indexFold(s, part string) int {
	for i := 0; i+len(part) <= len(s); i++ {
		if strings.EqualFold(s[i:i+len(part)], part) {
			return i
		}
	}
	return -1
}

// imageURL starts the data URL of an image.
const imageURL = "data:image/"

// pictures returns the data URLs of images among the values of a reference.
func pictures(ctx context.Context, call *engine.Call, ref *engine.Ref) ([]string, error) {
	if ref.IsZero() {
		return nil, nil
	}
	v, err := call.Resolve(ctx, ref)
	if err != nil {
		return nil, err
	}
	if v.Kind() != engine.KindList {
		v = engine.List(v)
	}
	var list []string
	for _, e := range v.Elements() {
		if strings.HasPrefix(e.Str(), imageURL) {
			list = append(list, e.Str())
		}
	}
	return list, nil
}

// afterReasoning returns a model's answer without the leading reasoning.
func afterReasoning(text string) string {
	if i := strings.LastIndex(text, engine.ThinkClose); i >= 0 {
		return text[i+len(engine.ThinkClose):]
	}
	return text
}
