package component

import (
	"maps"
	"slices"
)

// Operator describes one operator for a form.
type Operator struct {
	Word     string // as documents store it
	Label    string
	Synonyms []string // other words that mean it
	Types    []string // types of the left side that it fits; empty is all
	Right    string   // what stands on its right: value, list, number, reference or none
}

// OperatorSet lists the operators of a setting.
type OperatorSet struct {
	Name      string // as the tag ops names it
	Operators []Operator
}

// OperatorSets returns all sets, for editors.
func OperatorSets() []OperatorSet {
	return []OperatorSet{
		setOf("switch", switchOperators, switchTypes), setOf("loop", loopOperators, loopTypes),
		setOf("filter", filterOperators, anyType), setOf("metadata", metadataOperators, anyType),
		setOf("assign", assignOperators, assignTypes), setOf("logic", logicOperators, anyType),
	}
}

// metadataOperators are the operators of a filter by metadata, which the host evaluates.
var metadataOperators = operators{
	"=", "≠", ">", "<", "≥", "≤", "contains", "not contains", "start with", "end with", "in", "not in", "empty",
	"not empty",
}

func setOf(name string, words operators, types func(word string) []string) OperatorSet {
	s := OperatorSet{Name: name}
	for _, word := range words {
		s.Operators = append(s.Operators, Operator{
			Word: word, Label: operatorLabel(name, word), Synonyms: words.synonymsOf(word), Types: types(word),
			Right: rightSide(word),
		})
	}
	return s
}

// synonymsOf returns the other words that stored changes to word, sorted.
func (o operators) synonymsOf(word string) (list []string) {
	for _, other := range slices.Sorted(maps.Keys(synonyms)) {
		if other != word && o.stored(other) == word {
			list = append(list, other)
		}
	}
	return list
}

func operatorLabel(set, word string) string {
	if set == "logic" {
		return map[string]string{"and": "all", "or": "any"}[word]
	}
	return map[string]string{
		"=": "equals", "≠": "is not", "is": "equals", "is not": "is not", ">": "greater than", "<": "less than",
		"≥": "at least", "≤": "at most", "contains": "contains", "not contains": "does not contain",
		"start with": "starts with", "end with": "ends with", "in": "is one of", "not in": "is none of",
		"empty": "is empty", "not empty": "is not empty", "overwrite": "replace with", "set": "set to",
		"clear": "empty it", "append": "add to list", "extend": "add all of", "remove_first": "remove first",
		"remove_last": "remove last", "+=": "add", "-=": "subtract", "*=": "multiply by", "/=": "divide by",
	}[word]
}

func rightSide(word string) string {
	switch word {
	case "empty", "not empty", "clear", "remove_first", "remove_last":
		return "none"
	case "in", "not in":
		return "list"
	case "overwrite", "append", "extend":
		return "reference"
	case "+=", "-=", "*=", "/=":
		return "number"
	}
	return "value"
}

func anyType(string) []string { return nil }

func switchTypes(word string) []string {
	switch word {
	case ">", "<", "≥", "≤":
		return []string{"number", "string"}
	case "contains", "not contains":
		return []string{"string", "list"}
	case "start with", "end with":
		return []string{"string"}
	}
	return nil
}

func loopTypes(word string) []string {
	switch word {
	case "=", "≠":
		return []string{"number", "boolean"}
	case ">", "<", "≥", "≤":
		return []string{"number"}
	case "is", "is not":
		return []string{"string", "list", "boolean"}
	}
	return switchTypes(word)
}

func assignTypes(word string) []string {
	switch word {
	case "set":
		return []string{"string", "number", "boolean", "object"}
	case "append", "extend", "remove_first", "remove_last":
		return []string{"list"}
	case "+=", "-=", "*=", "/=":
		return []string{"number"}
	}
	return nil
}
