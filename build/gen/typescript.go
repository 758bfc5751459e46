package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
)

// typescript returns the vocabulary as types.
func typescript() []byte {
	var b bytes.Buffer
	b.WriteString("// Generated from the engine by go run ./build/gen; do not edit.\n")
	var codes []engine.Term
	for _, g := range engine.Codes() {
		codes = append(codes, g.Codes...)
	}
	union(&b, "Status", "is the status of a run or of an execution of a node.", engine.Statuses())
	union(&b, "Severity", "is the severity of a diagnostic.", severities())
	union(&b, "Code", "is a stable word for one kind of error or diagnostic.", codes)
	union(&b, "EventType", "is the type of an event.", eventsFor(engine.AudienceOwn))
	union(&b, "Category", "groups components by purpose.", engine.Categories())
	union(&b, "Group", "is a heading of a palette; they are in its order.", engine.Groups())
	union(&b, "Role", "restricts the position of a component in a canvas.", engine.Roles())
	union(&b, "Section", "is a part of a form.", engine.Sections())
	union(&b, "Widget", "is the editor of a param.", engine.Widgets())
	union(&b, "OperatorSet", "names a set of operators.", operatorSets())
	union(&b, "Icon", "names an icon of a component.", icons())
	b.WriteString("\n/** wireEvents are the types of events that RAGFlow's clients know. */\n")
	b.WriteString("export const wireEvents: readonly EventType[] = [\n")
	for _, t := range eventsFor(engine.AudienceWire) {
		fmt.Fprintf(&b, "  %q,\n", t.Word)
	}
	b.WriteString("];\n")
	b.WriteString("\n/** canceledText is the output of a canceled run. */\n")
	fmt.Fprintf(&b, "export const canceledText = %q;\n", engine.CanceledText)
	object(&b, "Diagnostic", "is one finding of `validate`.", reflect.TypeFor[engine.Diagnostic](),
		map[string]string{"severity": "Severity", "code": "Code"})
	usage(&b)
	return b.Bytes()
}

func severities() []engine.Term {
	return []engine.Term{
		{Word: string(engine.SeverityError), Doc: "some run fails"},
		{Word: string(engine.SeverityWarning), Doc: "it may be meant"},
	}
}

// icons lists the icons of the built-in components, with the components.
func icons() []engine.Term {
	return used(func(described engine.Value, note func(word, user string)) {
		note(described.Get("icon").Str(), described.Get("name").Str())
	})
}

// operatorSets lists the sets of operators, with their words.
func operatorSets() []engine.Term {
	var list []engine.Term
	for _, set := range component.OperatorSets() {
		var words []string
		for _, o := range set.Operators {
			words = append(words, o.Word)
		}
		list = append(list, engine.Term{Word: set.Name, Doc: strings.Join(words, ", ")})
	}
	return list
}

// generated begins a file of the page that uses a type of the engine's package.
func generated(uses string) *bytes.Buffer {
	return bytes.NewBufferString("// Generated from the engine by go run ./build/gen; do not edit.\n\n" +
		"import type { " + uses + " } from \"@easel/engine\";\n")
}

// operators returns the tables of operators for forms.
func operators() ([]byte, error) {
	b := generated("OperatorSet")
	b.WriteString("\n/** Operator is one operator: the word that documents store, and what a form shows. */\n")
	b.WriteString("export interface Operator {\n  word: string;\n  label: string;\n")
	b.WriteString("  /** Other words that mean it, in lower case. */\n  synonyms: readonly string[];\n")
	b.WriteString("  /** Types of the left side that it fits; empty for all. */\n  types: readonly string[];\n")
	b.WriteString("  right: \"value\" | \"list\" | \"number\" | \"reference\" | \"none\";\n}\n")
	b.WriteString("\n/** operatorSets are the operators by set. */\n")
	b.WriteString("export const operatorSets: Readonly<Record<OperatorSet, readonly Operator[]>> = {\n")
	for _, set := range component.OperatorSets() {
		fmt.Fprintf(b, "  %s: [\n", set.Name)
		for _, o := range set.Operators {
			fmt.Fprintf(b, "    {\n      word: %q, label: %q, right: %q,\n", o.Word, o.Label, o.Right)
			fmt.Fprintf(b, "      synonyms: [%s],\n      types: [%s],\n    },\n", quoted(o.Synonyms), quoted(o.Types))
		}
		b.WriteString("  ],\n")
	}
	b.WriteString("};\n")
	return b.Bytes(), nil
}

// settings returns the form of the settings of a canvas. The module of a page does not hold it.
func settings() ([]byte, error) {
	b := generated("Schema")
	b.WriteString("\n/** settingsSchema describes the settings of a canvas, as the params of a component. */\n")
	b.WriteString("export const settingsSchema: Schema = ")
	if err := json.Indent(b, engine.SettingsSchema().AppendJSON(nil), "", "  "); err != nil {
		return nil, err
	}
	b.WriteString(";\n")
	return b.Bytes(), nil
}

func quoted(words []string) string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = fmt.Sprintf("%q", w)
	}
	return strings.Join(list, ", ")
}

// used collects words of the built-in components' descriptions, each with its users.
func used(look func(described engine.Value, note func(word, user string))) []engine.Term {
	reg, err := engine.NewRegistry(component.Builtin()...)
	if err != nil {
		panic(err) // two built-ins of one name: no build passes its tests so
	}
	users := map[string][]string{}
	for _, s := range reg.Specs() {
		look(s.Describe(), func(word, user string) {
			if !slices.Contains(users[word], user) {
				users[word] = append(users[word], user)
			}
		})
	}
	var list []engine.Term
	for _, word := range slices.Sorted(maps.Keys(users)) {
		list = append(list, engine.Term{Word: word, Doc: strings.Join(users[word], ", ")})
	}
	return list
}

// eventsFor lists the types of events that an audience receives.
func eventsFor(audience engine.Audience) []engine.Term {
	var list []engine.Term
	for _, e := range engine.EventTypes() {
		if e.Audience <= audience {
			list = append(list, engine.Term{Word: string(e.Type), Doc: e.Doc})
		}
	}
	return list
}

// union writes a type of words, each with its comment.
func union(b *bytes.Buffer, name, doc string, words []engine.Term) {
	fmt.Fprintf(b, "\n/** %s %s */\nexport type %s =", name, doc, name)
	for _, w := range words {
		fmt.Fprintf(b, "\n%s  | %q", comment(w.Doc), w.Word)
	}
	b.WriteString(";\n")
}

// object writes an interface of the JSON of a struct. types names the types of members that are not
// plain strings.
func object(b *bytes.Buffer, name, doc string, t reflect.Type, types map[string]string) {
	fmt.Fprintf(b, "\n/** %s %s */\nexport interface %s {\n", name, doc, name)
	for i := range t.NumField() {
		f := t.Field(i)
		member, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if member == "-" || member == "" {
			continue
		}
		typ := types[member]
		if typ == "" {
			typ = "string"
		}
		optional := ""
		if strings.Contains(options, "omitempty") {
			optional = "?"
		}
		fmt.Fprintf(b, "  /** %s */\n  %s%s: %s;\n", f.Tag.Get("jsonschema"), member, optional, typ)
	}
	b.WriteString("}\n")
}

// usage writes the interface of Usage.Value: members that it always has, and optional ones.
func usage(b *bytes.Buffer) {
	b.WriteString("\n/** Usage counts tokens of model calls. */\nexport interface Usage {\n")
	always := engine.Usage{}.Value()
	for name := range (engine.Usage{Prompt: 1, Completion: 1, Calls: 1, Cost: 1}).Value().Fields() {
		optional := "?"
		if _, ok := always.Lookup(name); ok {
			optional = ""
		}
		fmt.Fprintf(b, "  %s%s: number;\n", name, optional)
	}
	b.WriteString("}\n")
}

// commentWidth is the longest line of a comment.
const commentWidth = 100

// comment writes a comment of a member, on several lines when it is long.
func comment(text string) string {
	if one := "  /** " + text + " */\n"; len(one) <= commentWidth {
		return one
	}
	var b strings.Builder
	b.WriteString("  /**")
	width := commentWidth
	for word := range strings.FieldsSeq(text) {
		if width += 1 + len(word); width > commentWidth {
			b.WriteString("\n   *")
			width = len("   * ") + len(word)
		}
		b.WriteString(" " + word)
	}
	return b.String() + "\n   */\n"
}
