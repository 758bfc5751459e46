package engine

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// CanceledText is the error of a cancelled run and of its unfinished nodes on the wire.
const CanceledText = "Task has been canceled"

var (
	// ErrCanceled ends a canceled run; start a new run to continue.
	ErrCanceled = errors.New(CanceledText) //lint:ignore ST1005 clients know exactly this text
	// ErrUnknownComponent means the registry has no component of that name; correct component_name
	// or add the component.
	ErrUnknownComponent = errors.New("unknown component")
	// ErrRef means a reference names a node or variable that does not exist; correct the reference.
	ErrRef = errors.New("reference to nothing")
	// ErrLimit means a limit of the run was reached; the message names the option that raises it.
	ErrLimit = errors.New("limit reached")
	// ErrNoPort means a component needs something from outside that this host does not offer; set
	// that port.
	ErrNoPort = errors.New("not available here")
	// ErrNoRetry means that trying again cannot help; an error of a port that wraps it ends the
	// retries of its node.
	ErrNoRetry = errors.New("trying again cannot help")
	// ErrToolsRefused means that a model does not accept tools in a request; plan in text, or
	// choose another model.
	ErrToolsRefused = errors.New("the model does not accept tools")
	// ErrState means a saved state does not fit the canvas; start a fresh run or load the canvas it
	// was saved with.
	ErrState = errors.New("saved state does not fit")
)

// NodeError is the error of a node.
type NodeError struct {
	Node string // canvas id, e.g. "Switch:Tidy"
	Kind string // component name, e.g. "Switch"
	Err  error
}

func (e *NodeError) Error() string {
	return fmt.Sprintf("node %s (%s): %v", brief(e.Node), brief(e.Kind), e.Err)
}

// Unwrap returns the cause.
func (e *NodeError) Unwrap() error { return e.Err }

// ParamError is the error of a parameter of a component, with the accepted values.
type ParamError struct {
	Node    string // component id
	Name    string // display name, may be empty
	Kind    string // component name
	Param   string // parameter, with a path for nested ones: conditions[0].to
	Value   string // the value as JSON, shortened; "" when it does not matter
	Problem string // what is wrong and what is accepted
	Err     error  // the cause, may be nil; Problem has its text
}

// Unwrap returns the cause.
func (e *ParamError) Unwrap() error { return e.Err }

func (e *ParamError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "component %q", brief(e.Node))
	if e.Name != "" && e.Name != e.Node {
		fmt.Fprintf(&b, " (%s)", brief(e.Name))
	}
	if e.Kind != "" {
		fmt.Fprintf(&b, ", %s", brief(e.Kind))
	}
	if e.Param != "" {
		fmt.Fprintf(&b, ", parameter %s", brief(e.Param))
	}
	b.WriteString(": ")
	if e.Value != "" {
		b.WriteString(e.Value + " ")
	}
	b.WriteString(e.Problem)
	return b.String()
}

// settingError is a problem of one setting of a canvas.
type settingError struct {
	name    string // "" for all of them
	problem string
}

func (e *settingError) Error() string {
	if e.name == "" {
		return "settings: " + e.problem
	}
	return "settings: " + e.name + ": " + e.problem
}

// quotedMost is the number of bytes of a value that an error message quotes.
const quotedMost = 120

// brief returns a value of a document as an error message quotes it.
func brief(s string) string { return shorten(s, quotedMost) }

// shorten cuts a text for an error message at a rune, and adds its length.
func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	end := most
	for end > 0 && s[end]&0xC0 == 0x80 {
		end--
	}
	return s[:end] + "... (" + strconv.Itoa(len(s)) + " bytes)"
}
