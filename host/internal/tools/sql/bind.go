package sql

import (
	"crypto/rand"
	"errors"
	"strconv"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// values are the values of a template. In the text of the statements each has a mark, a random
// word for each execution, so that no other text contains it. Splitting and reading move
// marks with the text around them; they become parameters of the database at last.
type values struct {
	mark string // start of each mark; "" without values
	list []string
}

// assemble returns the text of statements with marks, and their values: those of a template, or sql
// without values if there is no template.
func assemble(sql string, template engine.Value) (string, values, error) {
	if template.IsNull() {
		return sql, values{}, nil
	}
	v := values{mark: "easel_" + rand.Text() + "_"}
	var b strings.Builder
	for _, part := range template.Elements() {
		if part.Kind() == engine.KindString {
			b.WriteString(part.Str())
			continue
		}
		value := part.Get("value")
		if value.Kind() != engine.KindString {
			return "", values{}, errors.New("template: expected a list of texts and of {value: text}")
		}
		if strings.ContainsRune(value.Str(), 0) {
			return "", values{}, errors.New("a value for sql has a NUL character, which databases refuse")
		}
		b.WriteString(v.mark + strconv.Itoa(len(v.list)) + "_")
		v.list = append(v.list, value.Str())
	}
	return b.String(), v, nil
}

// fill returns a statement with parameters of the database for its marks, and their values.
func (v *values) fill(statement string, k kind) (text string, args []any) {
	if v.mark == "" {
		return statement, nil
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(statement, v.mark)
		b.WriteString(before)
		if !found {
			return b.String(), args
		}
		number, rest, _ := strings.Cut(after, "_")
		at, _ := strconv.Atoi(number) // written by assemble
		args = append(args, v.list[at])
		if k == postgreSQL {
			b.WriteString("$" + strconv.Itoa(len(args)))
		} else {
			b.WriteString("?")
		}
		statement = rest
	}
}
