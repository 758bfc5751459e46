package traces

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Head is the beginning of a run's question and answer, for lists. A block has the heads of its
// runs in its index row, sealed: separate rows would cost each run a write.
type Head struct {
	Question string `json:"q,omitempty"` // or the values of the form that the run answers
	Answer   string `json:"a,omitempty"` // without reasoning
}

// headRunes bounds both texts of a head.
const headRunes = 200

// headLine is a head among those of a block.
type headLine struct {
	Run string `json:"r"`
	Head
}

func appendHead(dst []byte, run string, h Head) []byte {
	line, err := json.Marshal(headLine{run, h})
	if err != nil {
		panic(err) // strings always have a form
	}
	return append(append(dst, line...), '\n')
}

// headOf returns the head of a run from the records that a trace has.
func headOf(records []runlog.Record) (h Head) {
	said, begun := &runs.Transcript{}, false
	for _, r := range records {
		switch {
		case r.Kind == string(engine.EventSnapshot) && !begun:
			begun = true
			h.Question = questionOf(r.Data)
		case r.Kind == string(engine.EventMessage), r.Kind == string(engine.EventMessageReset):
			said.Take(r)
		}
	}
	h.Answer = shortened(withoutReasoning(said.Text.String()))
	return h
}

// questionOf returns what a run was asked, from the state at its start.
func questionOf(snapshot []byte) string {
	if text, ok := plainQuestion(snapshot); ok {
		return shortened(text)
	}
	v, err := engine.ParseJSON(snapshot)
	if err != nil {
		return "" // a damaged record has no head; its trace reports the damage
	}
	data := v.Get("data")
	return asked(data.Get("globals").Get("sys.query"), data.Get("run").Get("inputs"))
}

// plainQuestion finds a question that is a text without parsing the state, most of a head's time.
func plainQuestion(snapshot []byte) (text string, ok bool) {
	name := []byte(`"globals":{"sys.query":"`) // not within a text, whose quotes are escaped
	i := bytes.Index(snapshot, name)
	if i < 0 || bytes.Contains(snapshot[i+1:], name) {
		return "", false
	}
	quoted := snapshot[i+len(name)-1:]
	for end := 1; end < len(quoted); end++ {
		switch quoted[end] {
		case '\\':
			end++
		case '"':
			err := json.Unmarshal(quoted[:end+1], &text)
			return text, err == nil && text != ""
		}
	}
	return "", false
}

// HeadOfJob returns the question of a run that has not ended, from the request in its row.
func HeadOfJob(input []byte) (h Head, err error) {
	var j struct {
		Query  engine.Value `json:"query"`
		Inputs engine.Value `json:"inputs"`
	}
	if err = json.Unmarshal(input, &j); err == nil {
		h.Question = asked(j.Query, j.Inputs)
	}
	return h, err
}

// asked returns a question as a head has it.
func asked(query, inputs engine.Value) string {
	if text := query.Text(); text != "" && !query.IsNull() {
		return shortened(text)
	}
	var answers []string
	for name, given := range inputs.Fields() {
		if value, ok := given.Lookup("value"); ok {
			given = value
		}
		answers = append(answers, name+": "+given.Text())
	}
	return shortened(strings.Join(answers, ", "))
}

// withoutReasoning cuts what a model thought from an answer.
func withoutReasoning(text string) string {
	for {
		from := strings.Index(text, engine.ThinkOpen)
		if from < 0 {
			return text
		}
		to := strings.Index(text[from:], engine.ThinkClose)
		if to < 0 {
			return text[:from]
		}
		text = text[:from] + text[from+to+len(engine.ThinkClose):]
	}
}

// shortened returns the first runes of a text on one line.
func shortened(text string) string {
	end, n := 0, 0
	for end < len(text) && n < 2*headRunes { // white space may fall together
		_, size := utf8.DecodeRuneInString(text[end:])
		end, n = end+size, n+1
	}
	short := []rune(strings.ToValidUTF8(strings.Join(strings.Fields(text[:end]), " "), "\uFFFD"))
	if len(short) > headRunes || end < len(text) {
		short = append(short[:min(len(short), headRunes)], '…')
	}
	return string(short)
}

// headSlack bounds the difference between the recorded end of a run and the end in its block.
const headSlack = 10_000

// Heads returns the heads of those runs that blocks have, and of ended ones that are in the log
// alone. Runs without one are not kept, or their host writes them soon.
func (t *Traces) Heads(ctx context.Context, list []store.Run) (map[string]Head, error) {
	out, blocks := map[string]Head{}, map[string]map[string]Head{}
	for _, run := range list {
		if run.Status == store.RunActive {
			continue
		}
		h, found, err := headIn(ctx, t, run, blocks)
		if err != nil {
			return nil, fmt.Errorf("run %q: %w", run.ID, err)
		}
		if found {
			out[run.ID] = h
		}
	}
	return out, nil
}

// headIn returns the head of a run. blocks has those of the blocks that were read before.
func headIn(ctx context.Context, t *Traces, run store.Run, blocks map[string]map[string]Head) (Head, bool, error) {
	b, err := blockNear(ctx, t, run, headSlack)
	if err != nil || b.ID == "" {
		return Head{}, false, err
	}
	heads, known := blocks[b.ID]
	if !known {
		if heads, err = headsOf(ctx, t, b); err != nil {
			return Head{}, false, err
		}
		blocks[b.ID] = heads
	}
	h, ok := heads[run.ID]
	if ok {
		return h, true, nil
	}
	// A block of a former version.
	trace, err := t.fromBlock(ctx, run)
	if errors.Is(err, runs.ErrGone) {
		return h, false, nil
	}
	if err != nil {
		return h, false, err
	}
	_, records, err := Decode(trace)
	return headOf(records), err == nil, err
}

// headsOf returns the heads of a block.
func headsOf(ctx context.Context, t *Traces, b store.TraceBlock) (map[string]Head, error) {
	body, err := t.cfg.Store.Traces.Heads(ctx, b.ID)
	if errors.Is(err, store.ErrNotFound) || err == nil && len(body) == 0 {
		return nil, nil // it was rewritten since, or is of a former version
	}
	if err != nil {
		return nil, err
	}
	lines, err := t.unseal(ctx, b.Tenant, body, headsPlace(b))
	if err != nil {
		return nil, err
	}
	out := map[string]Head{}
	for text := range bytes.Lines(lines) {
		var l headLine
		if err := json.Unmarshal(text, &l); err != nil {
			return nil, fmt.Errorf("heads of block %s: %w: %w", b.ID, ErrFormat, err)
		}
		out[l.Run] = l.Head
	}
	return out, nil
}
