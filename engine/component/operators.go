package component

import (
	"fmt"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/nearest"
)

// operators are the words of one setting as documents of RAGFlow store them, such as the operators
// of a Switch.
type operators []string

// The operators of the components.
var (
	switchOperators = operators{
		"contains", "not contains", "start with", "end with", "empty", "not empty", "=", "≠", ">", "<", "≥", "≤",
		"in", "not in",
	}
	loopOperators = operators{
		"contains", "not contains", "start with", "end with", "is", "is not", "empty", "not empty", "=", "≠", ">", "<",
		"≥", "≤",
	}
	filterOperators = operators{
		"=", "≠", "contains", "not contains", "start with", "end with", "empty", "not empty",
	}
	assignOperators = operators{
		"overwrite", "clear", "set", "append", "extend", "remove_first", "remove_last", "+=", "-=", "*=", "/=",
	}
	logicOperators = operators{"and", "or"}
	sortMethods    = operators{"asc", "desc"}
	inputModes     = operators{constantMode, variableMode}
)

// synonyms are other words for operators, in lower case. A word counts in a set that has one of its
// meanings; "=" assigns in a VariableAssigner and compares elsewhere.
var synonyms = map[string][]string{
	"=": {"overwrite"}, "==": {"="}, "eq": {"="}, "equal": {"="}, "equals": {"="}, "is": {"="}, "is not": {"≠"},
	"!=": {"≠"}, "<>": {"≠"}, "ne": {"≠"}, "neq": {"≠"}, "not equal": {"≠"}, "not equals": {"≠"}, "not is": {"≠"},
	"gt": {">"}, "after": {">"}, "lt": {"<"}, "before": {"<"},
	">=": {"≥"}, "ge": {"≥"}, "gte": {"≥"}, "<=": {"≤"}, "le": {"≤"}, "lte": {"≤"},
	"include": {"contains"}, "includes": {"contains"}, "has": {"contains"}, "like": {"contains"},
	"not include": {"not contains"}, "!contains": {"not contains"},
	"startswith": {"start with"}, "starts with": {"start with"}, "prefix": {"start with"},
	"endswith": {"end with"}, "ends with": {"end with"}, "suffix": {"end with"},
	"oneof": {"in"}, "notin": {"not in"},
	"isempty": {"empty"}, "is empty": {"empty"}, "null": {"empty"},
	"exists": {"not empty"}, "is not empty": {"not empty"},
	":=": {"overwrite"}, "set_value": {"set"}, "reset": {"clear"},
	"push": {"append"}, "add_item": {"append"}, "concat": {"extend"},
	"shift": {"remove_first"}, "pop": {"remove_last"},
	"add": {"+="}, "plus": {"+="}, "+": {"+="}, "subtract": {"-="}, "minus": {"-="}, "-": {"-="},
	"multiply": {"*="}, "*": {"*="}, "divide": {"/="}, "/": {"/="},
	"all": {"and"}, "&&": {"and"}, "且": {"and"}, "any": {"or"}, "||": {"or"}, "任一": {"or"},
}

// stored returns the word that documents store for one in any case or of a synonym. An unknown word
// stays as it is.
func (o operators) stored(word string) string {
	folded := strings.ToLower(strings.Join(strings.Fields(word), " "))
	if slices.Contains(o, folded) {
		return folded
	}
	for _, meaning := range synonyms[folded] {
		if slices.Contains(o, meaning) {
			return meaning
		}
	}
	return word
}

// check returns an error for an unknown word. what names the setting.
func (o operators) check(what, word string) error {
	if slices.Contains(o, word) {
		return nil
	}
	hint := ""
	if meant, ok := nearest.Match(word, o); ok {
		hint = fmt.Sprintf("; did you mean %q?", meant)
	}
	last := len(o) - 1
	return fmt.Errorf("%s %q is not supported; use %s or %s%s", what, word, strings.Join(o[:last], ", "), o[last], hint)
}

// wrongOperator returns a diagnostic for an unknown word; the node fails when it comes to it.
func wrongOperator(list []engine.Diagnostic, param string, err error) []engine.Diagnostic {
	if err == nil {
		return list
	}
	return append(list, engine.Diagnostic{
		Severity: engine.SeverityError, Code: engine.CodeUnknownOperator, Param: param, Message: err.Error(),
	})
}
