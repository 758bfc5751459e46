package component_test

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
)

// tagged is a param with its tags.
type tagged struct {
	path string
	tag  reflect.StructTag
	next []string // names of the params next to it
}

// knownTags are the tags that a param may have.
var knownTags = []string{
	"json", "type", "label", "doc", "shape", "section", "widget", "options", "offer", "accept", "ops", "show", "alias",
	"right", "by", "output", "enable", "kind", "hidden", "members", "unit", "zero", "step", "example", "hint", "want",
	"default", "min", "max", "check", "format",
}

// taggedParams lists the params of a component, with those in rows.
func taggedParams(s engine.Spec) []tagged {
	t := reflect.TypeOf(s.New())
	if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		return nil
	}
	list := taggedFields(t.Elem(), s.Name)
	for _, text := range s.Settings {
		tag := reflect.StructTag(text)
		list = append(list, tagged{path: s.Name + "." + tag.Get("json"), tag: tag})
	}
	var names []string
	for name := range s.Schema().Get("properties").Fields() {
		names = append(names, name)
	}
	for i := range list {
		if list[i].next == nil {
			list[i].next = names
		}
	}
	return list
}

// taggedFields lists the params of a struct; rows have separate names.
func taggedFields(t reflect.Type, path string) (list []tagged) {
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" || !f.IsExported() {
			continue
		}
		at := path + "." + name
		list = append(list, tagged{path: at, tag: f.Tag})
		inner := f.Type
		if inner.Kind() == reflect.Slice {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct && inner.NumField() > 0 && inner.Field(0).Tag.Get("json") != "" {
			rows := taggedFields(inner, at)
			for i := range rows {
				if rows[i].next == nil {
					rows[i].next = fieldNames(inner)
				}
			}
			list = append(list, rows...)
		}
	}
	return list
}

func fieldNames(t reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}

func words(terms []engine.Term) (list []string) {
	for _, term := range terms {
		list = append(list, term.Word)
	}
	return list
}

// TestForms checks that every param of every component has what its form shows.
func TestForms(t *testing.T) {
	widgets, sections := words(engine.Widgets()), words(engine.Sections())
	var sets []string
	for _, set := range component.OperatorSets() {
		sets = append(sets, set.Name)
	}
	for _, s := range component.Builtin() {
		t.Run(s.Name, func(t *testing.T) {
			require.NotEmpty(t, s.Title)
			if s.First != "" {
				_, ok := s.Schema().Get("properties").Lookup(s.First)
				require.True(t, ok, "first names no param: %s", s.First)
			}
			for _, p := range taggedParams(s) {
				for _, problem := range formProblems(p, widgets, sections, sets) {
					t.Errorf("%s: %s", p.path, problem)
				}
			}
			described(t, s.Name, s.Schema())
		})
	}
}

// formProblems returns what the tags of a param lack, or have of words that mean nothing.
func formProblems(p tagged, widgets, sections, sets []string) (list []string) {
	fail := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	for key := range tagKeys(p.tag) {
		if !slices.Contains(knownTags, key) {
			fail("unknown tag %s", key)
		}
	}
	label, doc := p.tag.Get("label"), p.tag.Get("doc")
	if label == "" {
		fail("no label")
	}
	if doc == "" || len(doc) > 120 || strings.ContainsAny(doc, "{}") || strings.Contains(doc, "->") {
		fail("a doc has 1 to 120 characters and no JSON: %q", doc)
	}
	if w := p.tag.Get("widget"); w != "" && !slices.Contains(widgets, w) {
		fail("unknown widget %s", w)
	}
	if s := p.tag.Get("section"); s != "" && !slices.Contains(sections, s) {
		fail("unknown section %s", s)
	}
	if set, of, _ := strings.Cut(p.tag.Get("ops"), ","); set != "" && !slices.Contains(sets, set) {
		fail("unknown operators %s", set)
	} else if of != "" && !slices.Contains(p.next, strings.TrimPrefix(of, "of=")) {
		fail("ops names no param: %s", of)
	}
	for _, c := range engine.Conditions(p.tag.Get("show")) {
		if c.Param != "@tool" && !slices.Contains(p.next, c.Param) {
			fail("show names no param: %s", c.Param)
		}
	}
	for _, key := range []string{"alias", "enable", "right", "by", "output"} {
		if name := p.tag.Get(key); name != "" && !slices.Contains(p.next, name) {
			fail("%s names no param: %s", key, name)
		}
	}
	for _, key := range []string{"step", "min", "max"} {
		if text := p.tag.Get(key); text != "" {
			if _, err := strconv.ParseFloat(text, 64); err != nil {
				fail("%s is not a number: %s", key, text)
			}
		}
	}
	kinds := []string{"", "chat", "embed", "rerank", "speech", "vision"}
	if kind := p.tag.Get("kind"); !slices.Contains(kinds, kind) {
		fail("unknown kind %s", kind)
	}
	if hidden := p.tag.Get("hidden"); hidden != "" && hidden != "true" {
		fail("hidden is true or absent: %s", hidden)
	}
	return list
}

// tagKeys lists the keys of a struct tag.
func tagKeys(tag reflect.StructTag) map[string]bool {
	keys := map[string]bool{}
	for text := string(tag); text != ""; {
		key, rest, ok := strings.Cut(strings.TrimSpace(text), ":")
		if !ok {
			break
		}
		keys[key] = true
		value, err := strconv.QuotedPrefix(rest)
		if err != nil {
			keys["malformed after "+key] = true
			break
		}
		text = rest[len(value):]
	}
	return keys
}

// described checks that every property of a schema has an editor, and that options have labels.
func described(t *testing.T, path string, schema engine.Value) {
	for name, p := range schema.Get("properties").Fields() {
		at, form := path+"."+name, p.Get("x-easel")
		if form.Get("widget").Str() == "" {
			t.Errorf("%s has no widget", at)
		}
		for _, o := range form.Get("options").Elements() {
			if o.Get("label").Str() == "" {
				t.Errorf("%s: option %q has no label", at, o.Get("value").Str())
			}
		}
		described(t, at, p)
		described(t, at, p.Get("items"))
	}
}

// TestConditions checks how the tag show is read.
func TestConditions(t *testing.T) {
	require.Equal(t, []engine.Condition{
		{Param: "method", Values: []string{"nth", "head"}},
		{Param: "db_type", Values: []string{"sqlite"}, Not: true},
		{Param: "items"},
		{Param: "more", Not: true},
		{Param: "@tool"},
	}, engine.Conditions("method=nth,head&db_type!=sqlite&items&!more&@tool"))
	require.Empty(t, engine.Conditions(""))
}
