// Package schema checks the bodies and queries of requests against a description.
//
// An [Object] lists the fields of a request with their types, limits and defaults. [Object.Body]
// checks JSON strictly, [Object.Query] reads texts. Problems are worded as pydantic words them,
// since clients and tests compare these texts. A description is read-only after it is made and may
// be used by any number of requests at once.
package schema

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/easel-canvas/easel/engine"
)

// Type is the type of a field.
type Type uint8

// Types of fields.
const (
	String Type = iota
	Integer
	Number
	Boolean
	List   // of Field.Items
	Map    // an object with any members
	Model  // an object with the members of Field.Object
	Choice // one of Field.Values
)

// Field describes a member of a request.
type Field struct {
	Name     string
	Type     Type
	Null     bool // null is accepted and stays null
	Required bool
	Trim     bool // white space around a text is removed first
	// Least and Most bound numbers, and the length of texts and lists. nil means unbounded.
	Least, Most *float64
	Values      []string     // of a Choice
	Items       *Field       // of a List
	Object      *Object      // of a Model
	Default     engine.Value // of a member that is left out
	// Before changes the input before it is checked; nil leaves it.
	Before func(input engine.Value) engine.Value
	// After checks a value that fits its type, or changes it. problem is "" when it is accepted.
	After func(value engine.Value) (changed engine.Value, problem string)
	// Wrong, unless empty, is the problem of an input that does not fit in any way.
	Wrong string
}

// Object describes a request, or an object within one.
type Object struct {
	Name   string // of the type, for problems
	Fields []Field
	// Loose ignores members that are not described; others are refused.
	Loose bool
	// Check looks at the whole object after all members fit. problem is "" when it is accepted.
	Check func(in *Input) (problem string)
}

// Input is a request that fits its description.
type Input struct {
	engine.Value              // all members, with the defaults of those that were left out
	Given        engine.Value // only those that were sent
}

// Has reports whether a member was sent, null among them.
func (in *Input) Has(name string) bool {
	_, ok := in.Given.Lookup(name)
	return ok
}

// Bound is a bound of a field.
func Bound(n float64) *float64 { return &n }

// Problem describes an invalid member.
type Problem struct {
	Path    []string
	Message string
	Input   engine.Value
}

// Problems lists the invalid members of a request. It is an error.
type Problems []Problem

// longestInput bounds the part of an input that a problem repeats, in characters.
const longestInput = 128

// Error has a line for each problem.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, one := range p {
		input := []rune(pythonText(one.Input))
		if len(input) > longestInput {
			input = append(input[:longestInput-3], []rune("...")...)
		}
		path := strings.Join(one.Path, ".")
		lines[i] = fmt.Sprintf("Field: <%s> - Message: <%s> - Value: <%s>", path, one.Message, string(input))
	}
	return strings.Join(lines, "\n")
}

// Body checks the JSON of a request. Errors: [Problems].
func (o *Object) Body(v engine.Value) (*Input, error) { return o.run(v, false) }

// Query checks the parameters of a query, which are all texts. Errors: [Problems].
func (o *Object) Query(v engine.Value) (*Input, error) { return o.run(v, true) }

func (o *Object) run(v engine.Value, texts bool) (*Input, error) {
	c := checker{texts: texts}
	in := c.object(o, v, nil)
	if len(c.problems) > 0 {
		return nil, c.problems
	}
	return in, nil
}

// checker collects the problems of one request.
type checker struct {
	texts    bool // inputs are texts of a query
	problems Problems
}

func (c *checker) fail(path []string, input engine.Value, message string) {
	c.problems = append(c.problems, Problem{append([]string(nil), path...), message, input})
}

func (c *checker) object(o *Object, v engine.Value, path []string) *Input {
	all, given := engine.NewObject(len(o.Fields)), engine.NewObject(v.Len())
	before := len(c.problems)
	for i := range o.Fields {
		f := &o.Fields[i]
		at := append(path[:len(path):len(path)], f.Name)
		input, ok := v.Lookup(f.Name)
		switch {
		case !ok && f.Required:
			c.fail(at, v, "Field required")
		case !ok:
			all.Set(f.Name, f.Default)
		default:
			filled, sent := c.field(f, input, at)
			all.Set(f.Name, filled)
			given.Set(f.Name, sent)
		}
	}
	if !o.Loose {
		for name, input := range v.Fields() {
			if !o.has(name) {
				c.fail(append(path[:len(path):len(path)], name), input, "Extra inputs are not permitted")
			}
		}
	}
	in := &Input{all.Value(), given.Value()}
	if o.Check != nil && len(c.problems) == before {
		if problem := o.Check(in); problem != "" {
			c.fail(path, v, problem)
		}
	}
	return in
}

func (o *Object) has(name string) bool {
	for i := range o.Fields {
		if o.Fields[i].Name == name {
			return true
		}
	}
	return false
}

// field checks an input. filled has the defaults of members that were left out, sent has not.
func (c *checker) field(f *Field, input engine.Value, path []string) (filled, sent engine.Value) {
	v := input
	if f.Before != nil {
		v = f.Before(v)
	}
	if v.IsNull() && f.Null {
		return engine.Null, engine.Null
	}
	before := len(c.problems)
	filled, sent = c.value(f, v, path)
	if len(c.problems) == before && f.After != nil {
		changed, problem := f.After(filled)
		if problem != "" {
			c.fail(path, input, problem)
		}
		if f.Type != Model {
			sent = changed
		}
		filled = changed
	}
	if f.Wrong != "" && len(c.problems) > before {
		c.problems = c.problems[:before]
		c.fail(path, input, f.Wrong)
	}
	return filled, sent
}

func (c *checker) value(f *Field, v engine.Value, path []string) (filled, sent engine.Value) {
	problem := ""
	switch f.Type {
	case String:
		v, problem = text(f, v)
	case Integer:
		v, problem = c.integer(f, v)
	case Number:
		v, problem = c.number(f, v)
	case Boolean:
		v, problem = c.boolean(v)
	case Choice:
		problem = choice(f, v)
	case Map:
		if v.Kind() != engine.KindObject {
			problem = "Input should be a valid dictionary"
		}
	case List:
		return c.list(f, v, path)
	case Model:
		if v.Kind() != engine.KindObject {
			c.fail(path, v, "Input should be a valid dictionary or instance of "+f.Object.Name)
			return v, v
		}
		in := c.object(f.Object, v, path)
		return in.Value, in.Given
	}
	if problem != "" {
		c.fail(path, v, problem)
	}
	return v, v
}

func (c *checker) list(f *Field, v engine.Value, path []string) (filled, sent engine.Value) {
	if v.Kind() != engine.KindList {
		c.fail(path, v, "Input should be a valid list")
		return v, v
	}
	all, some := make([]engine.Value, v.Len()), make([]engine.Value, v.Len())
	for i, x := range v.Elements() {
		all[i], some[i] = c.field(f.Items, x, append(path[:len(path):len(path)], strconv.Itoa(i)))
	}
	return engine.List(all...), engine.List(some...)
}

func text(f *Field, v engine.Value) (engine.Value, string) {
	if v.Kind() != engine.KindString {
		return v, "Input should be a valid string"
	}
	s := v.Str()
	if f.Trim {
		s = strings.TrimSpace(s)
	}
	n := float64(utf8.RuneCountInString(s))
	switch {
	case f.Least != nil && n < *f.Least:
		return v, "String should have at least " + characters(*f.Least)
	case f.Most != nil && n > *f.Most:
		return v, "String should have at most " + characters(*f.Most)
	}
	return engine.String(s), ""
}

func characters(n float64) string {
	if n == 1 {
		return "1 character"
	}
	return decimal(n) + " characters"
}

func decimal(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

func (c *checker) integer(f *Field, v engine.Value) (engine.Value, string) {
	if c.texts {
		n, err := strconv.ParseInt(strings.TrimSpace(v.Str()), 10, 64)
		if err != nil {
			return v, "Input should be a valid integer, unable to parse string as an integer"
		}
		v = engine.Int(n)
	}
	n, ok := v.Int()
	if v.Kind() != engine.KindNumber || !ok || strings.ContainsAny(v.Text(), ".eE") {
		return v, "Input should be a valid integer"
	}
	return v, bounds(f, float64(n))
}

func (c *checker) number(f *Field, v engine.Value) (engine.Value, string) {
	if c.texts {
		n, err := strconv.ParseFloat(strings.TrimSpace(v.Str()), 64)
		if err != nil {
			return v, "Input should be a valid number, unable to parse string as a number"
		}
		v = engine.Float(n)
	}
	n, ok := v.Float()
	if v.Kind() != engine.KindNumber || !ok || math.IsInf(n, 0) {
		return v, "Input should be a valid number"
	}
	return v, bounds(f, n)
}

func bounds(f *Field, n float64) string {
	switch {
	case f.Least != nil && n < *f.Least:
		return "Input should be greater than or equal to " + decimal(*f.Least)
	case f.Most != nil && n > *f.Most:
		return "Input should be less than or equal to " + decimal(*f.Most)
	}
	return ""
}

// truths are the texts that a query may have for true and false.
var truths = map[string]bool{
	"true": true, "t": true, "yes": true, "y": true, "on": true, "1": true,
	"false": false, "f": false, "no": false, "n": false, "off": false, "0": false,
}

func (c *checker) boolean(v engine.Value) (engine.Value, string) {
	if c.texts {
		b, ok := truths[strings.ToLower(v.Str())]
		if !ok {
			return v, "Input should be a valid boolean, unable to interpret input"
		}
		return engine.Bool(b), ""
	}
	if v.Kind() != engine.KindBool {
		return v, "Input should be a valid boolean"
	}
	return v, ""
}

func choice(f *Field, v engine.Value) string {
	if v.Kind() == engine.KindString {
		for _, one := range f.Values {
			if one == v.Str() {
				return ""
			}
		}
	}
	return OneOf(f.Values)
}

// OneOf is the problem of a value that is none of those that are accepted.
func OneOf(values []string) string {
	quoted := "'" + strings.Join(values, "', '") + "'"
	if i := strings.LastIndex(quoted, ", "); i >= 0 {
		quoted = quoted[:i] + " or " + quoted[i+2:]
	}
	return "Input should be " + quoted
}
