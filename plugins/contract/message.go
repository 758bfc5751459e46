package contract

import (
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
)

// CallInfo is the information of a plugin about a call.
type CallInfo struct {
	ID         string // idempotency key
	Run        string
	Node       string // id of the node, such as Weather:0
	Attempt    int    // 1 for the first; 0 counts as 1
	Left       time.Duration
	Locale     string
	Preview    bool
	SecretMark string // of a call that may use secrets
	Component  string // of a file with several; "" for the only one
	// Settings of the plugin, defaults included, see [Manifest.Configured]: an object, or null for
	// a plugin without settings.
	Settings engine.Value
}

// Input returns the input message of a plugin. params is an object; arguments is an object,
// or null for a plugin without arguments.
func (c CallInfo) Input(params, arguments engine.Value) engine.Value {
	call := newWriter()
	call.b.Set("id", engine.String(c.ID))
	call.text("run", c.Run)
	call.text("node", c.Node)
	call.b.Set("attempt", engine.Int(int64(max(c.Attempt, 1))))
	call.b.Set("deadline_ms", engine.Int(max(c.Left.Milliseconds(), 0)))
	call.text("locale", c.Locale)
	call.flag("preview", c.Preview)
	call.text("secret_mark", c.SecretMark)
	call.value("settings", c.Settings)
	call.text("component", c.Component)
	if params.IsNull() {
		params = engine.Object()
	}
	input := newWriter()
	input.b.Set("abi", engine.Int(ABI)).Set("call", call.b.Value()).Set("params", params)
	input.value("arguments", arguments)
	return input.b.Value()
}

// CheckInput compares the params and arguments of a plugin with its manifest. Its error has the
// code InvalidArgument.
func (m *Manifest) CheckInput(params, arguments engine.Value) error {
	if params.IsNull() {
		params = engine.Object()
	}
	err := m.Params.Check("params", params)
	if err == nil && !arguments.IsNull() {
		err = m.Arguments.Check("arguments", arguments)
	}
	if err != nil {
		return Errorf(InvalidArgument, "%v", err)
	}
	return nil
}

// Answer is the result of an invocation.
type Answer struct {
	Outputs   engine.Value // an object that matches the manifest
	Artifacts []Artifact
	Citations []Citation
	Usage     engine.Usage // tokens that the plugin used through its own providers
	Next      string       // the branch that the plugin chose; "" for one without branches
	// Files are the files that the plugin stored, in order, as their store describes them: {doc_id,
	// format, file_name, ...}. The host sets them; they are not part of the message of the plugin.
	Files []engine.Value
}

// Citation is a passage that an answer cites. The ID is the same for the same passage; Title and
// URL may be empty.
type Citation struct{ ID, Title, URL, Content string }

// Artifact is a file that a plugin generated.
type Artifact struct{ Name, MIME, Ref string }

// Limits of an output message, which fuel does not measure: the plugin has ended when it is read.
const (
	MaxOutputs      = 256     // outputs, as many artifacts and citations
	MaxOutputDepth  = 64      // levels of lists and objects in a message
	MaxOutputValues = 250_000 // values in a message
	// A message may use this number of bytes of memory for each of its bytes, or freeMemory if that
	// is more: a list of empty objects uses 60 times its text.
	memoryPerByte = 8
	freeMemory    = 1 << 20
)

// ReadAnswer reads the output message of a plugin and compares it with the manifest. Its error has
// the code BadOutput, or OutputTooLarge beyond the bounds above.
func (m *Manifest) ReadAnswer(message string) (Answer, error) {
	v, err := parseOutput(message)
	if err != nil {
		return Answer{}, err
	}
	if v.Kind() == engine.KindString {
		v = engine.Object("outputs", engine.Object("text", v))
	}
	return m.accept(v)
}

// parseOutput reads the JSON that a plugin wrote, within a memory limit.
func parseOutput(message string) (engine.Value, error) {
	message = strings.ToValidUTF8(message, "\uFFFD")
	allowed := max(int64(len(message))*memoryPerByte, freeMemory)
	v, err := engine.ParseJSONReserving(message, func(n int64) error {
		if allowed -= n; allowed < 0 {
			return Errorf(OutputTooLarge,
				"output of %d bytes takes more than %d times as much memory; write fewer and "+
					"longer values", len(message), memoryPerByte)
		}
		return nil
	})
	if err != nil {
		if e, ok := err.(*Error); ok {
			return engine.Null, e
		}
		return engine.Null, Errorf(BadOutput, "output is not the JSON of the contract: %v", err)
	}
	return v, nil
}

// accept compares an answer with the manifest.
func (m *Manifest) accept(v engine.Value) (Answer, error) {
	if err := checkExtent(v); err != nil {
		return Answer{}, err
	}
	a, err := readAnswer(v)
	if err == nil {
		a.Outputs = m.Outputs.Present(a.Outputs)
		err = m.Outputs.Check("outputs", a.Outputs)
	}
	if err == nil {
		err = m.checkNext(a.Next)
	}
	if err != nil {
		return Answer{}, Errorf(BadOutput, "%v", err)
	}
	return a, nil
}

// checkNext compares the selected branch with those of the manifest.
func (m *Manifest) checkNext(next string) error {
	names := m.Params.Branches()
	if len(names) == 0 || slices.Contains(names, next) {
		return nil
	}
	known := strings.Join(names, ", ")
	return errors.New("next: \"" + short(next) + "\" is not a branch of the manifest (" + known + ")")
}

func readAnswer(v engine.Value) (Answer, error) {
	var err error
	o := readObject("output", v, &err)
	a := Answer{Outputs: readObject("outputs", v.Get("outputs"), &err).v}
	if err == nil && a.Outputs.IsNull() {
		err = errors.New("outputs: missing")
	}
	a.Next = o.text("next")
	artifacts := o.member("artifacts", engine.KindList)
	for i := range artifacts.Len() {
		artifact := readObject("output.artifacts", artifacts.At(i), &err)
		a.Artifacts = append(a.Artifacts, Artifact{
			Name: artifact.text("name"), MIME: artifact.text("mime"), Ref: artifact.text("ref"),
		})
	}
	citations := o.member("citations", engine.KindList)
	for i := range citations.Len() {
		c := readObject("output.citations", citations.At(i), &err)
		a.Citations = append(a.Citations, Citation{
			ID: c.text("id"), Title: c.text("title"), URL: c.text("url"), Content: c.text("content"),
		})
		if err == nil && a.Citations[i].ID == "" {
			err = errors.New("output.citations: id is missing")
		}
	}
	if usage := o.object("usage"); usage != nil {
		a.Usage = readUsage(usage)
	}
	return a, err
}

// readUsage reads {prompt_tokens, completion_tokens} or {total_tokens}.
func readUsage(o *object) engine.Usage {
	tokens := func(name string) int {
		n, _ := o.member(name, engine.KindNumber).Float()
		return int(min(max(n, 0), math.MaxInt32))
	}
	u := engine.Usage{Prompt: tokens("prompt_tokens"), Completion: tokens("completion_tokens")}
	if u.Prompt+u.Completion == 0 {
		u.Prompt = tokens("total_tokens")
	}
	return u
}

// checkExtent refuses a message with too many outputs, levels or values.
func checkExtent(v engine.Value) error {
	for _, name := range [...]string{"outputs", "artifacts", "citations"} {
		if n := v.Get(name).Len(); n > MaxOutputs {
			return Errorf(OutputTooLarge, "%d %s, allowed are %d", n, name, MaxOutputs)
		}
	}
	left := MaxOutputValues
	switch extent(v, 0, &left) {
	case tooDeep:
		return Errorf(OutputTooLarge, "output is nested more than %d deep", MaxOutputDepth)
	case tooMany:
		return Errorf(OutputTooLarge, "output holds more than %d values", MaxOutputValues)
	}
	return nil
}

type excess int

const (
	fits excess = iota
	tooDeep
	tooMany
)

func extent(v engine.Value, depth int, left *int) excess {
	if *left -= v.Len(); *left < 0 {
		return tooMany
	}
	if v.Len() > 0 && depth == MaxOutputDepth {
		return tooDeep
	}
	for i := range v.Len() {
		if x := extent(v.At(i), depth+1, left); x != fits {
			return x
		}
	}
	return fits
}

// Unmarked returns a value without the mark of a call, which schemas and readers must not see.
func Unmarked(v engine.Value, mark string) engine.Value {
	if mark == "" || !holds(v, mark) {
		return v
	}
	return v.MapStrings(func(s string) string { return engine.UnmarkSecrets(s, mark) })
}

// holds reports whether a string in v contains mark.
func holds(v engine.Value, mark string) bool {
	for i := range v.Len() {
		if holds(v.At(i), mark) {
			return true
		}
	}
	return strings.Contains(v.Str(), mark)
}
