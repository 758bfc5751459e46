package engine

import (
	"fmt"
	"strings"
)

// Severity is the severity of a diagnostic.
type Severity string

// An error makes some run fail; a warning may be intended.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Diagnostic reports a problem of a canvas, or something in it to check. Its JSON is the same in
// the HTTP API, in the npm package, on the page and in the output of programs.
type Diagnostic struct {
	Severity Severity `json:"severity" jsonschema:"error or warning"`
	Code     string   `json:"code" jsonschema:"a stable word for the kind of diagnostic"`
	Message  string   `json:"message" jsonschema:"what is wrong, for people"`
	Node     string   `json:"node,omitempty" jsonschema:"component id; left out for the document"`
	Param    string   `json:"param,omitempty" jsonschema:"parameter with its path, such as conditions[0].to"`
	Name     string   `json:"-"` // display name of the node
}

// String returns the diagnostic on one line, without its code.
func (d Diagnostic) String() string {
	where := "canvas"
	if d.Node != "" {
		where = d.Node
		if d.Name != "" && d.Name != d.Node {
			where += " (" + d.Name + ")"
		}
	}
	if d.Param != "" {
		where += ", " + d.Param
	}
	return fmt.Sprintf("%s: %s: %s", d.Severity, where, d.Message)
}

// Value returns the diagnostic as its JSON has it.
func (d Diagnostic) Value() Value {
	b := NewObject(5).Set("severity", String(string(d.Severity)))
	b.Set("code", String(d.Code)).Set("message", String(d.Message))
	if d.Node != "" {
		b.Set("node", String(d.Node))
	}
	if d.Param != "" {
		b.Set("param", String(d.Param))
	}
	return b.Value()
}

// diagnosticOf turns an error of loading into a diagnostic.
func diagnosticOf(err error) Diagnostic {
	d := Diagnostic{Severity: SeverityError, Code: CodeOf(err)}
	if e, ok := err.(*ParamError); ok {
		d.Node, d.Name, d.Param = e.Node, e.Name, e.Param
		d.Message = strings.TrimSpace(e.Value + " " + e.Problem)
		if d.Code == "" {
			d.Code = CodeBadParam
		}
		return d
	}
	d.Message = strings.TrimPrefix(err.Error(), "canvas: ")
	if e, ok := err.(*settingError); ok {
		d.Param, d.Message = strings.TrimSuffix("settings."+e.name, "."), e.problem
	}
	if d.Code == "" {
		d.Code = CodeBadCanvas
	}
	return d
}
