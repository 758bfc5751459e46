package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"slices"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/model/loose"
)

// errFinished means that the answer is complete although the connection stays open.
var errFinished = errors.New("the answer is complete")

// finishGrace bounds how long a stream is read after its finish reason: usage, and calls of some
// servers, follow it. Servers that send neither [DONE] nor an end keep the connection open.
const finishGrace = time.Second

// response is the state of one model call.
type response struct {
	provider *provider
	model    string
	request  *engine.ModelRequest
	exchange *exchange
	received func() // data arrived from the server
	yield    func(engine.ModelPiece) bool
	reader   reader
	marks    marks
	open     openCalls
	texts    textCalls
	tags     tags
	legacy   openCall      // function_call, the old form of a single call
	grace    *time.Timer   // runs after the finish reason; nil before it
	finish   string        // the finish reason; "" before it
	why      string        // what the server adds to it
	complete bool          // a whole message or [DONE] was read
	words    string        // what the server sent instead of JSON
	other    string        // JSON that is not of the form of the server
	used     *engine.Usage // the last report; some servers repeat it with growing numbers

	again   bool           // the server wants another request for the rest of the answer
	repeats int            // such requests
	more    []engine.Value // what they return to it
	before  engine.Usage   // of the requests before
}

func (a *response) run(ctx context.Context) error {
	a.marks = marks{send: a.piece, reasons: a.request.Stream && a.provider.lesson(a.model).Reasons}
	a.tags = tags{request: a.request, text: a.marks.text, thought: a.marks.thought}
	if a.request.Purpose != engine.PurposePlan {
		a.texts.offered = a.request.Tools
	}
	for {
		if err := a.exchangeOnce(ctx); err != nil {
			return errors.Join(a.flush(), err)
		}
		if !a.again || a.repeats == maxRepeats || ctx.Err() != nil {
			return a.end()
		}
		a.restart()
	}
}

// maxRepeats bounds the requests for the rest of an answer.
const maxRepeats = 5

// restart prepares another request.
func (a *response) restart() {
	a.before = a.total()
	a.again, a.complete, a.finish, a.why, a.grace, a.used = false, false, "", "", nil, nil
	a.repeats++
}

// exchangeOnce sends a request and reads the response.
func (a *response) exchangeOnce(ctx context.Context) error {
	res, err := a.provider.send(ctx, a)
	if err != nil {
		return err
	}
	defer res.Body.Close() //nolint:errcheck // the answer was read
	a.reader = a.provider.config.dialect().reader(a)
	var body io.Reader = res.Body
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind == framesType {
		body = &frames{from: body}
	}
	err = a.read(ctx, body)
	if a.grace != nil {
		a.grace.Stop()
	}
	return err
}

// read reads a response, streamed or whole.
func (a *response) read(ctx context.Context, body io.Reader) error {
	e := newEvents(body, a.received)
	var d document // of all rounds: it is on the heap
	for {
		var err error
		d, err = e.next()
		switch {
		case err == io.EOF:
			return a.endOfStream()
		case err != nil && errors.Is(context.Cause(ctx), errFinished):
			return nil
		case err != nil:
			return broken(ctx, err)
		case d.done:
			a.complete = true
			return a.failedWords()
		}
		if last, err := a.take(&d); err != nil || last {
			return err
		}
	}
}

// endOfStream returns [ErrBroken] if the response ended without a finish reason, a whole message or
// [DONE].
func (a *response) endOfStream() error {
	if err := a.failedWords(); err != nil {
		return err
	}
	if a.finish == "" && !a.complete {
		return ErrBroken
	}
	return nil
}

// failedWords returns an error for a response that has only words that are not JSON, or JSON of
// another form.
func (a *response) failedWords() error {
	switch {
	case a.marks.sent || len(a.open.list) > 0 || a.finish != "":
		return nil
	case a.other != "":
		return &refusal{text: "the response is not in the form of api " + string(a.provider.config.API) +
			"; check base_url and api: " + a.other}
	case a.words == "":
		return nil
	case a.words[0] == '{' || a.words[0] == '[':
		return fmt.Errorf("%w: incomplete JSON", ErrBroken)
	}
	return &refusal{text: "the response is not a chat completion; check base_url: " + firstWords([]byte(a.words))}
}

// maxWords bounds what is kept of a response that is not JSON.
const maxWords = 64 << 10

// take adds a document of the response and reports whether it is the last one.
func (a *response) take(d *document) (last bool, err error) {
	if d.words != "" {
		if d.event == "error" {
			return false, &refusal{text: d.words}
		}
		if len(a.words) < maxWords {
			a.words += d.words + "\n"
		}
		return false, nil
	}
	if d.value.Kind() == engine.KindList {
		for _, v := range d.value.Elements() {
			if last, err = a.take(&document{value: v, event: d.event, bare: d.bare}); err != nil || last {
				return last, err
			}
		}
		return false, nil
	}
	d.unwrap()
	refused := d.reported()
	last, err = a.reader.read(d)
	switch {
	case err != nil:
		return false, err
	case refused != nil:
		return false, refused
	case a.finish == "":
	case a.finish == "error":
		return false, &refusal{text: "a server error without a reason"}
	case slices.Contains(failing, strings.ToLower(a.finish)):
		return false, &refusal{text: "the server broke the answer off: " + a.finish}
	}
	return last, nil
}

// failing are finish reasons of servers that did not finish the answer.
var failing = []string{
	"network_error", "server_error", "abort", "aborted", "cancelled", "canceled", "timeout",
	"insufficient_system_resource",
}

// wrappers are the members in which gateways put the response of a server.
var wrappers = [...]string{"data", "result", "output", "response"}

// unwrap replaces a document by the response of a server inside it.
func (d *document) unwrap() {
	if d.value.Kind() != engine.KindObject || !d.value.Get("choices").IsNull() || d.value.Get("error").Truthy() {
		return
	}
	for _, name := range wrappers {
		if inner := d.value.Get(name); inner.Get("choices").Truthy() {
			d.value = inner
			return
		}
	}
}

// unread keeps the start of a document that is not of the form of the server.
func (a *response) unread(d *document) {
	if a.other == "" {
		text := d.value.JSON()
		a.other = text[:min(len(text), sniffBytes)]
	}
}

// say sends text of the answer.
func (a *response) say(text string) error { return a.tags.push(a.texts.push(text)) }

// ended takes the finish reason; the response is then read for finishGrace.
func (a *response) ended(reason string) {
	if reason != "" && a.finish == "" {
		a.finish = reason
		a.extend()
	}
}

// extend ends the response after finishGrace. Some servers send a finish reason with each event.
func (a *response) extend() {
	if a.grace == nil {
		a.grace = time.AfterFunc(finishGrace, func() { a.exchange.cancel(errFinished) })
		return
	}
	a.grace.Reset(finishGrace)
}

func (a *response) piece(text string) error {
	if !a.yield(engine.ModelPiece{Text: text}) {
		return errStopped
	}
	return nil
}

// maxReported bounds a reported number of tokens: sums of many calls do not overflow, so that the
// limits of a run stay in force.
const maxReported = 1 << 40

// usageOf returns the usage that a server reports with values in any form; nil without tokens, or
// with a negative number of them. cached are the tokens of the prompt from a cache.
func usageOf(prompt, completion, cached engine.Value) *engine.Usage {
	input, _ := loose.Number(prompt)
	output, _ := loose.Number(completion)
	if min(input, output) < 0 || max(input, output) == 0 {
		return nil
	}
	saved, _ := loose.Number(cached)
	input = min(input, maxReported)
	return &engine.Usage{
		Prompt: int(input), Completion: int(min(output, maxReported)), Cached: int(min(max(saved, 0), input)),
	}
}

// tokensIn returns a number of tokens that a server reports, within bounds.
func tokensIn(u engine.Value, name string) int64 {
	n, _ := loose.Number(u.Get(name))
	return min(max(n, 0), maxReported)
}

// indexIn returns the index of a block; -1 without one.
func indexIn(v engine.Value, name string) int64 {
	n, ok := loose.Number(v.Get(name))
	if !ok {
		return -1
	}
	return n
}

// countCached is count for servers that report the tokens that were written to a cache.
func (a *response) countCached(input, output, cached, written int64) {
	used := usageOf(engine.Int(input), engine.Int(output), engine.Int(cached))
	if used != nil {
		used.Written = int(min(written, int64(used.Prompt-used.Cached)))
	}
	a.count(used)
}

// count takes the tokens of the request and of the answer so far.
func (a *response) count(u *engine.Usage) {
	if u != nil {
		a.used = u
	}
}

// flush sends the text that is held back.
func (a *response) flush() error {
	calls, text := a.texts.end()
	for _, c := range calls {
		a.open.add(c, true)
	}
	if err := a.open.tooMany(); err != nil {
		return err
	}
	if err := a.tags.push(text); err != nil {
		return err
	}
	return a.tags.end()
}

// end sends usage and tool calls, and appends a note if the answer was truncated.
func (a *response) end() error {
	if err := a.flush(); err != nil {
		return err
	}
	if err := a.report(); err != nil {
		return err
	}
	cut := slices.Contains([]string{"length", "max_tokens", "model_length", "model_context_window_exceeded"},
		strings.ToLower(a.finish))
	if err := a.marks.end(!cut && a.finish != "" && len(a.open.list) == 0); err != nil {
		return err
	}
	// A prompt can make a model write the mark.
	if a.marks.lone && !a.tags.wanted(engine.ThinkClose) {
		a.provider.learn(a.model, func(l *Lesson) { l.Reasons = true })
	} else if a.marks.wrong {
		a.provider.learn(a.model, func(l *Lesson) { l.Reasons = false })
	}
	if cut {
		const note = "\n\n[The answer was cut at the limit of its length.]"
		if !a.yield(engine.ModelPiece{Text: note, Cut: true}) {
			return errStopped
		}
	}
	switch strings.ToLower(a.finish) {
	case "content_filter", "safety", "sensitive":
		return a.stopped("the provider's content filter stopped the answer")
	case finishRefused:
		return a.stopped("the model refused to answer")
	case finishFailed:
		return a.stopped("the model stopped")
	case finishMalformed:
		return a.stopped("the model failed to write a valid tool call")
	}
	calls := a.calls()
	if a.open.nameless && offers(a.request) {
		return a.stopped("the model sent a tool call without a name")
	}
	if len(calls.ToolCalls) > 0 && !a.yield(calls) {
		return errStopped
	}
	switch {
	case len(calls.ToolCalls) > 0 || cut && a.marks.sent:
		return nil
	case !a.marks.sent:
		return a.empty()
	case !a.marks.spoken():
		a.why = cmp.Or(a.why, "the model reasoned, and wrote no answer")
		return a.empty()
	}
	return nil
}

// empty returns [ErrEmpty] with the reason of the server, if any.
func (a *response) empty() error {
	if a.why == "" {
		return ErrEmpty
	}
	return fmt.Errorf("%w: %s", ErrEmpty, a.provider.clean(a.why))
}

// Finish reasons of an answer that failed.
const (
	finishFiltered  = "content_filter"
	finishRefused   = "refused"
	finishMalformed = "malformed"
	finishFailed    = "failed"
)

// stopped returns the error of an answer that the server ended, with its reason.
func (a *response) stopped(text string) error {
	if a.why != "" {
		text += ": " + a.provider.clean(a.why)
	}
	return errors.New(text)
}

// total returns the usage of all requests.
func (a *response) total() engine.Usage {
	used := a.before
	if u := a.used; u != nil {
		used.Prompt += u.Prompt
		used.Completion += u.Completion
		used.Cached += u.Cached
		used.Written += u.Written
	}
	return used
}

// report sends the usage of all requests.
func (a *response) report() error {
	used := a.total()
	if used.Tokens() != 0 && !a.yield(engine.ModelPiece{Usage: &used}) {
		return errStopped
	}
	return nil
}

// calls returns the function calls with what the server attached to them and to their message.
func (a *response) calls() engine.ModelPiece {
	if a.legacy.name != "" && len(a.open.list) == 0 { // gateways send both forms of one call
		a.open.list = append(a.open.list, &a.legacy)
	}
	calls, extras := a.open.calls(a.request.Tools)
	piece := engine.ModelPiece{ToolCalls: calls}
	if len(calls) > 0 && a.reader != nil {
		piece.Opaque = a.reader.opaque(extras)
	}
	return piece
}
