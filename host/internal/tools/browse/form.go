package browse

import (
	"bytes"
	"context"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/easel-canvas/easel/engine"
)

// Bounds of the forms of a page.
const (
	mostForms  = 20
	mostFields = 100 // of a form
	mostShown  = 20  // choices of a field
)

// Form is a form of a page.
type Form struct {
	Method    string // GET or POST
	Action    string // address
	Multipart bool
	Fields    []Field
	index     int // among all forms of the page
}

// Field is a named part of a form.
type Field struct {
	Name, Type string
	Label      string   // what the page calls it
	Value      string   // the default; of a checkbox, the value when it is checked
	Checked    bool     // of a checkbox
	Choices    []Choice // of a select or of radio buttons
	Many       bool     // several choices, or files
	Chosen     []string
}

// Choice is one that a field offers.
type Choice struct{ Value, Text string }

// readForms returns the forms of a page. They are in the order of document.forms in a browser.
func readForms(doc *html.Node, base *url.URL) []Form {
	var forms []Form
	labels, index := labelsOf(doc), -1
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		if n.DataAtom == atom.Template {
			return
		}
		if n.Type == html.ElementNode && n.DataAtom == atom.Form {
			if index++; len(forms) < mostForms && !isHidden(n) {
				if f, ok := readForm(n, base, labels); ok {
					f.index = index
					forms = append(forms, f)
				}
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(doc)
	return forms
}

// labelsOf returns the texts of labels by the id that they are for.
func labelsOf(doc *html.Node) map[string]string {
	labels := map[string]string{}
	find(doc, func(n *html.Node) bool {
		if id := attribute(n, "for"); n.DataAtom == atom.Label && id != "" {
			labels[id] = oneLine(textOf(n))
		}
		return false
	})
	return labels
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func readForm(n *html.Node, base *url.URL, labels map[string]string) (Form, bool) {
	action, err := base.Parse(strings.TrimSpace(attribute(n, "action")))
	if err != nil || action.Scheme != "http" && action.Scheme != "https" {
		return Form{}, false
	}
	action.Fragment = ""
	f := Form{Method: http.MethodGet, Action: action.String()}
	if strings.EqualFold(strings.TrimSpace(attribute(n, "method")), "post") {
		f.Method = http.MethodPost
	}
	f.Multipart = strings.EqualFold(attribute(n, "enctype"), "multipart/form-data")
	find(n, func(n *html.Node) bool {
		f.add(n, labels)
		return false
	})
	return f, len(f.Fields) > 0
}

// add adds the field of an element, if it is one. Radio buttons of one name are one field, and of
// the buttons that submit the form only the first is pressed.
func (f *Form) add(n *html.Node, labels map[string]string) {
	name := attribute(n, "name")
	if len(f.Fields) == mostFields || hasAttribute(n, "disabled") {
		return
	}
	field := Field{Name: name, Value: attribute(n, "value"), Label: labels[attribute(n, "id")]}
	if field.Label == "" {
		field.Label = oneLine(attribute(n, "placeholder") + " " + attribute(n, "aria-label"))
	}
	switch n.DataAtom {
	case atom.Input:
		field.Type = strings.ToLower(attribute(n, "type"))
		field.Many = field.Type == "file" && hasAttribute(n, "multiple")
	case atom.Textarea:
		field.Type, field.Value = "textarea", textOf(n)
	case atom.Select:
		field.Type = "select"
		field.choose(n)
	case atom.Button:
		if field.Type = strings.ToLower(attribute(n, "type")); field.Type == "" {
			field.Type = "submit"
		}
		field.Label = oneLine(textOf(n))
	default:
		return
	}
	switch field.Type {
	case "":
		field.Type = "text"
	case "button", "reset":
		return
	case "image":
		field.Type = "submit"
	case "checkbox":
		field.Checked = hasAttribute(n, "checked")
		if !hasAttribute(n, "value") {
			field.Value = "on"
		}
	case "radio":
		f.addRadio(n, field)
		return
	}
	if field.Type == "submit" && slices.ContainsFunc(f.Fields, func(g Field) bool { return g.Type == "submit" }) {
		return
	}
	if name != "" || field.Type == "submit" {
		f.Fields = append(f.Fields, field)
	}
}

// addRadio adds a radio button to the field of its name.
func (f *Form) addRadio(n *html.Node, button Field) {
	at := slices.IndexFunc(f.Fields, func(g Field) bool { return g.Type == "radio" && g.Name == button.Name })
	if at < 0 {
		f.Fields, at = append(f.Fields, Field{Name: button.Name, Type: "radio"}), len(f.Fields)
	}
	group := &f.Fields[at]
	group.Choices = append(group.Choices, Choice{button.Value, button.Label})
	if hasAttribute(n, "checked") {
		group.Chosen = []string{button.Value}
	}
}

// choose reads the choices of a select.
func (f *Field) choose(n *html.Node) {
	f.Many = hasAttribute(n, "multiple")
	find(n, func(n *html.Node) bool {
		if n.DataAtom != atom.Option || hasAttribute(n, "disabled") {
			return false
		}
		c := Choice{attribute(n, "value"), oneLine(textOf(n))}
		if !hasAttribute(n, "value") {
			c.Value = c.Text
		}
		f.Choices = append(f.Choices, c)
		if hasAttribute(n, "selected") {
			f.Chosen = append(f.Chosen, c.Value)
		}
		return false
	})
	if !f.Many && len(f.Chosen) == 0 && len(f.Choices) > 0 {
		f.Chosen = []string{f.Choices[0].Value} // as a browser does
	}
}

func hasAttribute(n *html.Node, name string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
}

// String describes the form for a model. Hidden fields are left out: they are sent unchanged.
func (f *Form) String() string {
	var b strings.Builder
	b.WriteString(f.Method + " " + f.Action)
	for _, field := range f.Fields {
		if field.Type == "hidden" || field.Type == "submit" {
			continue
		}
		b.WriteString("\n- " + field.Name + " (" + field.Type)
		for i, c := range field.Choices[:min(mostShown, len(field.Choices))] {
			b.WriteString([]string{": ", ", "}[min(i, 1)] + c.Value)
			if c.Text != "" && c.Text != c.Value {
				b.WriteString(" = " + c.Text)
			}
		}
		b.WriteString(")")
		if field.Label != "" {
			b.WriteString(" " + field.Label)
		}
	}
	return b.String()
}

// entry is a name and a value that a form sends; the value of a file is its name.
type entry struct {
	name, value string
	file        *upload
}

// entries returns the entries that the form sends with the values of a model: texts, true or false
// for a checkbox, a list for several choices, the names of files.
func (f *Form) entries(given engine.Value, files uploads) ([]entry, error) {
	if err := f.check(given, files); err != nil {
		return nil, err
	}
	var list []entry
	for i := range f.Fields {
		field := &f.Fields[i]
		v, ok := given.Lookup(field.Name)
		if field.Name == "" {
			continue
		}
		var values []string
		switch {
		case field.Type == "file":
			values = namesIn(v)
		case field.Type == "checkbox":
			if !ok && field.Checked || ok && field.checkedBy(v) {
				values = []string{field.Value}
			}
		case len(field.Choices) > 0:
			values = field.Chosen
			if ok {
				values = field.chosenBy(v)
			}
		case ok:
			values = []string{v.Text()}
		default:
			values = []string{field.Value}
		}
		for _, value := range values {
			e := entry{name: field.Name, value: value}
			if field.Type == "file" {
				e.file = files.find(value)
			}
			list = append(list, e)
		}
	}
	return list, nil
}

// check refuses values for fields that the form does not have, or that it cannot take.
func (f *Form) check(given engine.Value, files uploads) error {
	for name, v := range given.Fields() {
		at := slices.IndexFunc(f.Fields, func(g Field) bool { return g.Name == name })
		if at < 0 {
			var names []string
			for _, field := range f.Fields {
				names = append(names, field.Name)
			}
			return fmt.Errorf("the form has no field %q (one of %s)", name, strings.Join(names, ", "))
		}
		field := &f.Fields[at]
		if field.Type == "file" {
			if err := files.check(v, field.Many); err != nil {
				return fmt.Errorf("field %s: %w", name, err)
			}
			continue
		}
		if len(field.Choices) > 0 && len(field.chosenBy(v)) == 0 && v.Truthy() {
			return fmt.Errorf("field %s: %.100q is not among its choices", name, v.Text())
		}
	}
	return nil
}

func (f *Field) checkedBy(v engine.Value) bool {
	switch v.Kind() {
	case engine.KindBool, engine.KindNull:
		return v.True()
	case engine.KindList:
		return slices.ContainsFunc(v.Slice(), func(e engine.Value) bool { return e.Text() == f.Value })
	}
	return v.Text() == f.Value || v.Text() == "true"
}

// chosenBy returns the values of the choices that v names by value or text.
func (f *Field) chosenBy(v engine.Value) (values []string) {
	names := []engine.Value{v}
	if v.Kind() == engine.KindList {
		names = v.Slice()
	}
	for _, name := range names {
		text := name.Text()
		at := slices.IndexFunc(f.Choices, func(c Choice) bool { return c.Value == text || c.Text == text })
		if at >= 0 {
			values = append(values, f.Choices[at].Value)
		}
	}
	return values
}

// request returns the request that submits the form.
func (f *Form) request(ctx context.Context, given engine.Value, files uploads) (*http.Request, error) {
	list, err := f.entries(given, files)
	if err != nil {
		return nil, err
	}
	var query strings.Builder
	for i, e := range list {
		if i > 0 {
			query.WriteByte('&')
		}
		query.WriteString(url.QueryEscape(e.name) + "=" + url.QueryEscape(e.value))
	}
	if f.Method == http.MethodGet {
		address, err := url.Parse(f.Action)
		if err != nil {
			return nil, err
		}
		address.RawQuery = query.String() // a browser replaces the query of the action, too
		return http.NewRequestWithContext(ctx, f.Method, address.String(), nil)
	}
	body, kind := bytes.NewBufferString(query.String()), "application/x-www-form-urlencoded"
	if f.Multipart {
		body = new(bytes.Buffer)
		w := multipart.NewWriter(body)
		for _, e := range list {
			if err := e.write(w); err != nil {
				return nil, err
			}
		}
		if err := w.Close(); err != nil {
			return nil, err
		}
		kind = w.FormDataContentType()
	}
	req, err := http.NewRequestWithContext(ctx, f.Method, f.Action, bytes.NewReader(body.Bytes()))
	if err == nil {
		req.Header.Set("Content-Type", kind)
	}
	return req, err
}
