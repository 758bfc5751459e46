package component

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/template"
)

// wording is a text with references that may also be a Jinja template.
//
// It is a template only if Jinja syntax, {% or {{, remains without the references. References
// become variables of the template, bound to the texts of their values by position, so that nothing
// in a value or in the text is mistaken for a placeholder. A condition on a false value does not
// hold, though its text is shown.
type wording struct {
	text  *engine.Text
	tmpl  *template.Template // nil for a plain text
	names []string           // variable of each reference
	err   error              // why the template does not parse; returned when it is used
}

// newWording compiles a text. A template that does not parse is an error of the node that uses it,
// not of the canvas.
func newWording(text *engine.Text) *wording {
	w := &wording{text: text}
	if !isJinja(text) {
		return w
	}
	s := &jinjaScan{prefix: "ref"}
	for strings.Contains(text.Source, s.prefix) {
		s.prefix += "_"
	}
	for lit, ref := range text.Parts {
		if ref < 0 {
			s.literal(lit)
		} else {
			s.reference(ref)
		}
	}
	for i := range text.Refs() {
		w.names = append(w.names, s.name(i))
	}
	w.tmpl, w.err = template.Parse(string(s.out))
	return w
}

// isTemplate reports whether the text is more than a text with references.
func (w *wording) isTemplate() bool { return w.tmpl != nil || w.err != nil }

// fill returns the text with its references replaced. It calls read once for each: for the value
// and its text.
func (w *wording) fill(call *engine.Call, read func(r *engine.Ref) (engine.Value, string, error)) (string, error) {
	values := make([]engine.Value, 0, len(w.text.Refs()))
	texts, err := readAll(w.text, func(r *engine.Ref) (string, error) {
		v, text, err := read(r)
		values = append(values, v)
		return text, err
	})
	switch {
	case err != nil:
		return "", err
	case w.err != nil:
		return "", w.err
	case w.tmpl != nil:
		return w.render(call, values, texts)
	}
	return fillText(call, w.text, texts)
}

// render fills in a template.
func (w *wording) render(call *engine.Call, values []engine.Value, texts []string) (string, error) {
	most := call.TextLimit()
	text, err := w.tmpl.RenderTexts(template.Limits{Output: int(min(most, math.MaxInt)), Made: call.MadeMeter()},
		w.vars(values, texts))
	switch {
	case errors.Is(err, template.ErrOutput):
		err = fmt.Errorf("%w (%w)", &engine.LimitError{Kind: engine.ErrTextTooLarge, Size: most + 1, Limit: most}, err)
	case errors.Is(err, template.ErrLimit):
		err = fmt.Errorf("%w: %w", engine.ErrLimit, err)
	}
	return text, err
}

// fillText returns the text with its references replaced, within the limit of a text.
func fillText(call *engine.Call, text *engine.Text, texts []string) (string, error) {
	if err := call.CheckText(text.FilledLen(texts)); err != nil {
		return "", err
	}
	return text.Fill(texts), nil
}

// readAll returns the texts of all references.
func readAll(text *engine.Text, read func(r *engine.Ref) (string, error)) ([]string, error) {
	refs := text.Refs()
	texts := make([]string, len(refs))
	for i := range refs {
		s, err := read(&refs[i])
		if err != nil {
			return nil, err
		}
		texts[i] = s
	}
	return texts, nil
}

// spoken returns a text without the leading reasoning of a model's answer.
func spoken(text string) string {
	if strings.HasPrefix(text, engine.ThinkOpen) && strings.Contains(text, engine.ThinkClose) {
		return engine.WithoutReasoning(text)
	}
	return text
}

// vars binds the references, under their own variables and under the names authors know from
// RAGFlow, where {begin@city} can be written begin_city inside a tag.
func (w *wording) vars(values []engine.Value, texts []string) template.Texts {
	return func(name string) (engine.Value, string, bool) {
		i := slices.Index(w.names, name)
		if i < 0 {
			i = slices.IndexFunc(w.text.Refs(), func(r engine.Ref) bool { return plainName(r.Expr) == name })
		}
		if i < 0 {
			return engine.Null, "", false
		}
		return values[i], texts[i], true
	}
}

var plainNames = strings.NewReplacer("@", "_", ":", "_", ".", "_")

func plainName(expr string) string { return plainNames.Replace(expr) }

// secretMark starts a secret's placeholder, which looks like Jinja but is not.
const secretMark = "{{secret:"

func isJinja(text *engine.Text) bool {
	for lit := range text.Parts {
		if strings.Contains(lit, "{%") || strings.Count(lit, "{{") > strings.Count(lit, secretMark) {
			return true
		}
	}
	return false
}
