package model

import (
	"cmp"
	"encoding/base64"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// turn has the messages of one side of a conversation until the other one sends. Some servers
// refuse neighbours with the same role.
type turn struct {
	asked []*engine.ModelMessage // of the model; empty for a turn of the user

	results []toolResult
	texts   []string
	images  []string // data URLs
}

// toolResult is the result of a call of the turn before.
type toolResult struct {
	call    engine.ToolCall
	place   int // of the call among those of its turn
	content string
}

// noStart is the text of a user in a conversation that the model begins: servers require that the
// user does.
const noStart = "(start of the conversation)"

// noResult stands for the result of a call that has none: servers require one.
const noResult = "(no result)"

// turnsOf returns the messages of a request as turns that alternate, the first of the user. Calls
// have distinct ids and exactly one result each; results of other calls are text.
func turnsOf(req *engine.ModelRequest) []turn {
	turns := []turn{{}}
	last := func() *turn { return &turns[len(turns)-1] }
	for i := range req.Messages {
		m := &req.Messages[i]
		if m.Role == "assistant" {
			if strings.TrimSpace(m.Content) == "" && len(m.ToolCalls) == 0 {
				continue
			}
			if len(last().asked) == 0 {
				turns = append(turns, turn{})
			}
			last().asked = append(last().asked, m)
			continue
		}
		if len(last().asked) > 0 {
			turns = append(turns, turn{})
		}
		if m.Role == "tool" && len(turns) > 1 && last().answer(&turns[len(turns)-2], m) {
			continue
		}
		if strings.TrimSpace(m.Content) != "" {
			last().texts = append(last().texts, m.Content)
		}
		last().images = append(last().images, m.Images...)
	}
	if len(last().asked) > 0 && len(last().calls()) > 0 {
		turns = append(turns, turn{})
	}
	taken := map[string]bool{}
	for i := 1; i < len(turns); i++ {
		turns[i].complete(&turns[i-1])
		turns[i].identify(taken)
	}
	for i := 1; i < len(turns); i++ {
		calls := turns[i-1].calls()
		for k := range turns[i].results {
			r := &turns[i].results[k]
			r.call = calls[r.place]
		}
	}
	if turns[0].empty() {
		turns[0].texts = []string{noStart}
	}
	return turns
}

func (t *turn) empty() bool {
	return len(t.asked) == 0 && len(t.results) == 0 && len(t.texts) == 0 && len(t.images) == 0
}

// calls returns the calls of a turn of the model.
func (t *turn) calls() (calls []engine.ToolCall) {
	for _, m := range t.asked {
		calls = append(calls, m.ToolCalls...)
	}
	return calls
}

// answer adds the result of a call of the turn before; false if it has no such call without a
// result.
func (t *turn) answer(before *turn, m *engine.ModelMessage) bool {
	for i, c := range before.calls() {
		if c.ID == m.ToolID && !slices.ContainsFunc(t.results, func(r toolResult) bool { return r.place == i }) {
			t.results = append(t.results, toolResult{call: c, place: i, content: m.Content})
			return true
		}
	}
	return false
}

// complete adds results of calls that have none, and orders all like their calls.
func (t *turn) complete(before *turn) {
	calls := before.calls()
	has := make([]bool, len(calls))
	for _, r := range t.results {
		has[r.place] = true
	}
	for i, c := range calls {
		if !has[i] {
			t.results = append(t.results, toolResult{call: c, place: i, content: noResult})
		}
	}
	slices.SortFunc(t.results, func(a, b toolResult) int { return a.place - b.place })
}

var otherThanID = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// maxID bounds the ids of calls, in bytes.
const maxID = 48

// identify sets unique ids of calls that all servers accept. Other providers use more characters,
// and the same ids in each round.
func (t *turn) identify(taken map[string]bool) {
	for i, m := range t.asked {
		if len(m.ToolCalls) == 0 {
			continue
		}
		own := *m
		own.ToolCalls = slices.Clone(m.ToolCalls)
		for k := range own.ToolCalls {
			id := otherThanID.ReplaceAllString(own.ToolCalls[k].ID, "_")
			id = cmp.Or(id[:min(len(id), maxID)], "call")
			if taken[id] {
				id += "_" + strconv.Itoa(len(taken))
			}
			taken[id] = true
			own.ToolCalls[k].ID = id
		}
		t.asked[i] = &own
	}
}

// blocksOf returns the blocks of a message of the model: those that the server sent, with the calls
// in their places, or its text and its calls.
func blocksOf(
	m *engine.ModelMessage, kept engine.Value, text func(string) engine.Value, isCall func(engine.Value) bool,
	use func(*engine.ToolCall) engine.Value,
) (blocks []engine.Value) {
	calls := m.ToolCalls
	next := func() {
		blocks = append(blocks, use(&calls[0]))
		calls = calls[1:]
	}
	if plain := strings.TrimRight(m.Content, " \t\r\n"); kept.Len() == 0 && plain != "" {
		blocks = append(blocks, text(plain))
	}
	for _, v := range kept.Elements() {
		switch {
		case !isCall(v):
			blocks = append(blocks, v)
		case len(calls) > 0:
			next()
		}
	}
	for len(calls) > 0 {
		next()
	}
	return blocks
}

// argumentsValue returns the arguments of a call as an object.
func argumentsValue(c *engine.ToolCall) engine.Value {
	v, err := engine.ParseJSONText(c.Arguments)
	if err != nil || v.Kind() != engine.KindObject {
		return engine.Object()
	}
	return v
}

// media is the content of a data URL.
type media struct {
	kind string // media type
	data string // in base64
	url  string // the address, if it is not a data URL
}

// mediaOf reads the address of an image or another file.
func mediaOf(address string) media {
	rest, ok := strings.CutPrefix(address, "data:")
	if !ok {
		return media{url: address}
	}
	head, data, _ := strings.Cut(rest, ",")
	kind, encoded := strings.CutSuffix(head, ";base64")
	kind, _, _ = strings.Cut(kind, ";")
	if !encoded {
		if text, err := url.PathUnescape(data); err == nil {
			data = text
		}
		data = base64.StdEncoding.EncodeToString([]byte(data))
	}
	if kind == "" {
		kind = "text/plain"
	}
	return media{kind: kind, data: data}
}
