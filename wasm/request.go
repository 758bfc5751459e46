package main

import (
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/stable"
)

// operation answers one kind of request: a header, and the text behind its line.
type operation func(b *bridge, header engine.Value, body string) ([]byte, error)

// operations lists the operations of load.
var operations = map[string]operation{
	"info":       (*bridge).info,
	"load":       (*bridge).open,
	"patch":      (*bridge).patch,
	"save":       (*bridge).save,
	"restore":    (*bridge).restore,
	"reset":      (*bridge).reset,
	"form":       (*bridge).form,
	"validate":   (*bridge).validate,
	"order":      (*bridge).order,
	"complete":   (*bridge).complete,
	"components": (*bridge).components,
	"stand_in":   (*bridge).standIn,
	"layout":     (*bridge).layout,
	"plugin":     (*bridge).plugin,
	"examine":    (*bridge).examine,
	"check":      (*bridge).checkCall,
}

func (b *bridge) request(text string) (answer []byte, err error) {
	defer rescue(&err)
	header, body, err := decode(text)
	if err != nil {
		return nil, err
	}
	op, ok := operations[header.Get("op").Str()]
	if !ok {
		return nil, &failure{code: codeRequest, text: fmt.Sprintf("request %s: no such op", header.Get("op").JSON())}
	}
	return op(b, header, body)
}

// decode splits a message at the first line feed into header and body.
func decode(text string) (header engine.Value, body string, err error) {
	line, body, _ := strings.Cut(text, "\n")
	header, err = engine.ParseJSONText(line)
	if err != nil {
		return engine.Null, "", &failure{code: codeRequest, text: "the first line of the message: " + err.Error()}
	}
	return header, body, nil
}

// empty answers requests without a result.
var empty = []byte("{}")

func (b *bridge) info(engine.Value, string) ([]byte, error) {
	return engine.Object("abi", abi, "version", version).AppendJSON(nil), nil
}

func (b *bridge) open(_ engine.Value, body string) ([]byte, error) {
	canvas, err := b.parse(body)
	if err != nil {
		return nil, err
	}
	return engine.Object("canvas", int(b.keep(&held{canvas: canvas, state: canvas.State()}))).AppendJSON(nil), nil
}

// parse loads a canvas.
func (b *bridge) parse(body string) (*engine.Canvas, error) {
	doc, err := engine.ParseJSON(engine.FileText([]byte(body)))
	if err != nil {
		return nil, loadFailure(err)
	}
	canvas, err := engine.LoadValue(b.registry, doc)
	if err != nil {
		return nil, loadFailure(err)
	}
	return canvas, nil
}

func (b *bridge) validate(_ engine.Value, body string) ([]byte, error) {
	found := engine.Validate(b.registry, engine.FileText([]byte(body)))
	stable.Sort(found, func(x, y engine.Diagnostic) int { return rank(x) - rank(y) })
	list := make([]engine.Value, len(found))
	for i, d := range found {
		list[i] = d.Value()
	}
	return engine.List(list...).AppendJSON(nil), nil
}

// order returns when the nodes of a canvas start in runs with the scheduling auto.
func (b *bridge) order(_ engine.Value, body string) ([]byte, error) {
	canvas, err := b.parse(body)
	if err != nil {
		return nil, err
	}
	return engine.String(string(engine.OrderOf(canvas))).AppendJSON(nil), nil
}

// complete returns a file whose canvas has components, which may have been made of its graph.
func (b *bridge) complete(_ engine.Value, body string) ([]byte, error) {
	file, err := engine.ParseJSON(engine.FileText([]byte(body)))
	if err != nil {
		return nil, loadFailure(err)
	}
	doc, err := engine.Complete(b.registry, file)
	if err != nil {
		return nil, loadFailure(err)
	}
	if _, bare := file.Lookup("components"); !bare && !file.Get("dsl").IsNull() {
		doc = file.With("dsl", doc)
	}
	return doc.AppendJSON(nil), nil
}

func rank(d engine.Diagnostic) int {
	if d.Severity == engine.SeverityError {
		return 0
	}
	return 1
}

func (b *bridge) components(engine.Value, string) ([]byte, error) {
	var list []engine.Value
	for _, s := range b.registry.Specs() {
		list = append(list, s.Describe())
	}
	list = append(list, b.describePlugins()...)
	return engine.List(list...).AppendJSON(nil), nil
}

// standIn answers for a component with outside effects.
func (b *bridge) standIn(header engine.Value, _ string) ([]byte, error) {
	name := header.Get("component").Str()
	spec, err := b.registry.Lookup(name)
	if err != nil {
		return nil, err
	}
	if spec.StandIn == nil {
		return nil, &failure{code: engine.CodeUnsupported, text: fmt.Sprintf("component %q has no stand-in", name)}
	}
	outputs, invented := spec.StandIn(header.Get("args"), header.Get("params"))
	return engine.Object("outputs", outputs, "invented", invented).AppendJSON(nil), nil
}

func (b *bridge) layout(header engine.Value, body string) ([]byte, error) {
	doc, err := engine.ParseJSONText(body)
	if err != nil {
		return nil, loadFailure(err)
	}
	if dsl := doc.Get("dsl"); dsl.Kind() == engine.KindObject {
		doc = dsl
	}
	return arrange(doc.Get("components"), header.Get("sizes")).AppendJSON(nil), nil
}
