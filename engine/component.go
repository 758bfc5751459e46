package engine

import (
	"context"
	"strings"
	"time"
)

// Component is one step of a canvas, compiled from the params of one node. It is immutable after
// loading and shared by every run of the canvas, at the same time; what belongs to one execution
// lives in the Call.
//
// The exported fields of a component's struct are its params (see Spec). Run reads its inputs and
// writes its outputs through call. An error becomes that node's error; a panic too.
type Component interface {
	Run(ctx context.Context, call *Call) error
}

// Optional abilities of a component are small interfaces, which are probed once when the canvas is
// loaded. The loop names no component.
type (
	// Initializer checks params against each other and compiles what Run needs. Its errors refuse
	// the canvas.
	Initializer interface{ Init(s *Setup) error }

	// Brancher names its own successors: Run calls Call.Next with the nodes of one of these
	// choices. Choices is nil for a component that does not choose with its present settings.
	Brancher interface{ Choices() [][]string }

	// Container holds a body: nodes whose parent_id is the container's id, entered through an Item
	// among them.
	Container interface {
		// Progresses reports whether every turn brings the container closer to its end, so that its
		// turns do not use up the step cap.
		Progresses() bool
		// Breaks reports whether an ExitLoop in the body may end it.
		Breaks() bool
	}

	// Item opens each turn of its container's body. Run decides whether there is a further turn,
	// through Call.Turn and Call.EndBody.
	Item interface{ Item() }

	// Fitter is an Item that can open the bodies of some containers only.
	Fitter interface{ Fits(c Container) bool }

	// Exit ends the container around it, if that Breaks.
	Exit interface{ Exit() }

	// Form waits for a person: the run pauses until its fields are answered.
	Form interface {
		// Ask returns the fields to show, by name, and a text above them.
		Ask(ctx context.Context, call *Call) (fields Value, tips string, err error)
	}

	// Streamer produces a text piece by piece: the stream that Run announced with Call.Defer. Run
	// rendered request, perhaps in another process, so it must hold everything that is needed.
	Streamer interface {
		Stream(ctx context.Context, call *Call, request Value, emit func(piece string) error) error
	}

	// Speaker is called after the last event of its message, to add to the end of the message.
	Speaker interface {
		Finish(ctx context.Context, call *Call, said *Said) error
	}

	// Inliner decides by its params whether Run is short and does not block; it overrides
	// Spec.Inline.
	Inliner interface{ Inline() bool }

	// Former describes its own input form; without it the form has one line per reference.
	Former interface{ InputForm() Value }

	// Referrer names references that are not in fields of type Ref, Text or Expr.
	Referrer interface{ References() []Ref }

	// Writer names the variables, and the outputs of other nodes, that a component changes.
	Writer interface{ Writes() []Ref }

	// Requirer names what a component requires of its host besides ports, such as the interpreter
	// of a language. Requires is for the present settings, MayRequire for all settings.
	Requirer interface {
		Requires() []string
		MayRequire() []string
	}

	// Warner reports settings that load but will keep the component from working where it runs. A
	// diagnostic without a severity is a warning. Validate lists them with the node; Code, Message
	// and, if it fits, Param describe the problem.
	Warner interface{ Warnings() []Diagnostic }

	// Namer lists the objects of a host that its params name, without references; see
	// [NamedIn].
	Namer interface{ Names() []Named }

	// Suspender may wait for a person in the middle of its execution, see [Suspension].
	Suspender interface{ MaySuspend() bool }

	// Resetter is called at the end of a run, to release resources of the run.
	Resetter interface{ Reset(runID string) }
)

// Spec describes a component once: load checks, JSON Schema, forms, the docs page and the tool
// definition shown to models are derived from it and from the tags of the component's struct.
//
// Tags of a params field: json:"name" is the key in params; label:"..." is its name in a form,
// doc:"..." describes it there, shape:"..." describes its JSON; default:"..." is its default as
// JSON or plain text; options:"asc=Rising|desc=Falling" lists the accepted values with their
// labels, and accept:"asc=up" further values with the same meaning; min:"0" and max:"1" bound
// numbers; check:"nonempty" refuses empty values; format:"code" marks a program. Fields of type
// Ref, Text and Expr hold references. Settings have the same tags.
//
// For the form only: section:"..." is the part that shows it, see [Sections], and widget:"..." the
// editor, see [Widgets]; by default that of the type. offer:"..." lists options without refusing
// others. show:"mode=Webhook&items" hides it unless all conditions hold, see [Conditions].
// ops:"switch,of=cpn_id" is a set of operators and the param whose type selects among them;
// right:"x" is the param whose operator decides what is compared, by:"x" the param that is constant
// or variable as the value is. enable:"x" names a boolean param which decides whether the value
// counts; alias:"x" an earlier name; hidden:"true" keeps it out of forms. unit, step and zero, the
// label of 0, belong to numbers, output:"type" to names of outputs whose type is in the param type,
// members:"status:integer=Status" to objects, kind to models.
// example:"a|b" are examples, hint is a text below the editor, want the problem of an empty value.
type Spec struct {
	Name    string           // component_name
	Aliases []string         // other names that load as this component
	Title   string           // display name; "" derives it from Name
	Search  []string         // further words under which a palette finds it, in any language
	First   string           // param that a form focuses first; "" is the first one
	Doc     string           // what it does, one or two sentences
	New     func() Component // a fresh component; the loader fills in defaults and params
	Renamed bool             // its aliases are earlier names; documents that have one get Name in its place
	// Upgrade changes params that a document has under an earlier name to those in use now;
	// nil keeps them.
	Upgrade func(earlier string, params Value) Value
	// FromForm converts a form of RAGFlow's editor to params, for documents that have only a graph;
	// nil keeps it.
	FromForm func(form Value, edges DrawnEdges) Value

	Category Category // what it is for, in palettes
	Group    Group    // heading in a palette; "" follows from the category
	Icon     string   // name of a drawing of the page; "" is a box
	Role     Role     // where it can stand; "" takes the role that its interfaces give it
	Label    string   // on an item in a drawing, instead of the name of the node
	// Short names outputs of an item for texts of its body: {item} there is {IterationItem:A@item}.
	Short    map[string]string
	Branches []Branch // the params with its branches, if it chooses among them
	StandIn  StandIn  // answers in a preview instead of the outside; nil for none

	Declares Declares // outputs that a node declares
	Inputs   []Field  // what it reads besides references in its params
	Outputs  []Field  // what it writes

	Waits    bool          // its texts are scanned for references, and it waits for their sources
	Inline   bool          // Run is short, does not block and may use the run's own goroutine
	Retries  bool          // an error is tried again max_retries times
	Timeout  time.Duration // longest Run; 0 means none
	Thoughts string        // what node_started shows; free text
	Tool     *ToolSpec     // set when an agent may call it
	Missing  string        // why a component that loads cannot run here; "" when it can
	Params   Value         // JSON Schema of the params, for components without a struct of them
	Settings []string      // more params: tags, with type:"integer", "boolean", "any" or "expr"; only a port reads them
	Hidden   bool          // left out of tables and palettes: for tests
	AnyCase  bool          // its name is accepted in any case
	Tells    bool          // a default value for errors is said to the user, as a tool's is; else it is the output "result"
	Pipeline bool          // a step of ingestion pipelines
	Ignores  []string      // params of the original's documents that have no effect here
}

// DrawnEdges are the ids of the nodes to which the edges of a node lead, by the handle at which
// they begin.
type DrawnEdges map[string][]string

// ErrorHandle is the handle of the edges that lead where an error does.
const ErrorHandle = "agentException"

// Field describes one input or output. Type json is an object or a list.
type Field struct {
	Name     string // "*" means any name
	Type     string // string, number, boolean, object, list, json, any; integer for arguments of tools
	Doc      string
	Required bool
	Enum     []string // what is accepted; empty is anything
}

// Accepts reports whether values of a kind fit the Type. Null fits every type, and an unknown type
// accepts every kind.
func (f *Field) Accepts(k Kind) bool {
	switch f.Type {
	case "string", "number", "boolean", "object", "list":
		return k == KindNull || k.String() == f.Type
	case "json":
		return k == KindNull || k == KindObject || k == KindList
	}
	return true
}

// ToolSpec describes a component to a model, as a tool.
type ToolSpec struct {
	Function    string  // function name; the agent adds the tool's position: search_my_dateset_0
	Description string  // used when the node's own description is empty
	Args        []Field // arguments of the model
	Schema      Value   // JSON Schema of the arguments, instead of Args; null derives it from Args
	Result      string  // the output that goes back to the model
	Files       string  // the output with the files that it made, as in ToolAnswer; "" is none
}

// Setup describes its node to an Initializer.
type Setup struct {
	NodeID   string
	Name     string      // display name
	Kind     string      // component name
	Params   Value       // as in the document
	Outputs  Value       // declared outputs: name -> {type, value, ...}
	Exprs    []NamedExpr // settings of type expr, in their order
	Registry *Registry
	owner    *node
}

// IsTool reports whether the component is a tool of an Agent, which a model calls with arguments.
func (s *Setup) IsTool() bool { return s.owner != nil && s.owner.isTool }

// Fail returns an error that names the node and one of its parameters.
func (s *Setup) Fail(param string, value Value, problem string) error {
	text := ""
	if !value.IsNull() {
		text = brief(value.JSON())
	}
	return &ParamError{Node: s.NodeID, Name: s.Name, Kind: s.Kind, Param: param, Value: text, Problem: problem}
}

// Common are the params every component has.
type Common struct {
	MaxRetries        int     `json:"max_retries" label:"Retries" doc:"how often a failed step is tried again" section:"fail" min:"0"`
	DelayAfterError   float64 `json:"delay_after_error" label:"Wait between retries" doc:"pause before each new try" section:"fail" widget:"duration" show:"max_retries" default:"2.0" min:"0"`
	ExceptionMethod   string  `json:"exception_method" label:"If it still fails" doc:"what happens when the step fails after all retries" shape:"goto, comment or empty" section:"fail" widget:"select" offer:"=Stop the run|comment=Use a fallback|goto=Go to another step"`
	ExceptionDefault  Value   `json:"exception_default_value" label:"Fallback" doc:"used as the output if the step fails" section:"fail" widget:"value" show:"exception_method=comment" want:"Enter what to use if the step fails."`
	ExceptionGoto     Value   `json:"exception_goto" label:"Then run" doc:"steps that run after an error" shape:"list of node ids" section:"fail" widget:"targets" show:"exception_method=goto" want:"Choose the step that runs after an error."`
	Approval          bool    `json:"approval" label:"Ask a person first" doc:"a person sees what goes in, may change it, and lets the step run" section:"advanced"`
	Expires           string  `json:"expires" label:"Waits at most" doc:"how long an answer is waited for; 168h if empty" shape:"hours or minutes, such as 72h" section:"advanced" show:"approval"`
	OnExpiry          string  `json:"on_expiry" label:"Without an answer" doc:"what happens without an answer in time" shape:"default, no, fail or empty" section:"advanced" show:"approval" widget:"select" offer:"=Cancel the run|default=Go on with the values of the form|no=Refuse the step"`
	Description       string  `json:"description" label:"What it is good for" doc:"tells an agent when to use this step" section:"tools" widget:"prompt" show:"@tool"`
	HistoryWindowSize Value   `json:"message_history_window_size" label:"Earlier turns sent" doc:"turns of the conversation that the model also sees" section:"prompt" widget:"number" unit:"turns"`
}

// maxExpiry is the longest time that a node may set.
const maxExpiry = 366 * 24 * time.Hour

// Values of the param on_expiry.
const (
	expiryFail    = "fail"
	expiryDefault = "default"
	expiryNo      = "no"
)

// checkExpiry refuses a time that cannot be read, and a way on that does not exist.
func (c *Common) checkExpiry(s *Setup) error {
	if c.Expires != "" {
		d, err := time.ParseDuration(c.Expires)
		if err != nil || d <= 0 || d > maxExpiry {
			return s.Fail("expires", String(c.Expires), "is not a time; expected up to 8784h, such as 72h or 90m")
		}
	}
	switch c.OnExpiry {
	case "", expiryFail, expiryDefault, expiryNo:
		return nil
	}
	return s.Fail("on_expiry", String(c.OnExpiry), "is not supported; it should be one of fail, default, no")
}

// ErrorTargets returns the ids of the nodes that run after an error: a list in the document, or one
// id alone. The method decides; stale settings do not count.
func (c *Common) ErrorTargets() (ids []string) {
	if c.ExceptionMethod != "goto" {
		return nil
	}
	for _, id := range c.ExceptionGoto.Elements() {
		if id.Str() != "" {
			ids = append(ids, id.Str())
		}
	}
	if id := c.ExceptionGoto.Str(); id != "" {
		ids = append(ids, id)
	}
	return ids
}

// ErrorDefault returns the value that replaces a failed output, or null. It counts for the method
// comment, and for goto without targets.
func (c *Common) ErrorDefault() Value {
	counts := c.ExceptionMethod == "comment" || c.ExceptionMethod == "goto" && len(c.ErrorTargets()) == 0
	if !counts || !c.ExceptionDefault.Truthy() {
		return Null
	}
	return c.ExceptionDefault
}

// Objects that a canvas uses by name, by their kinds.
const (
	NamedDataset = "dataset"
	NamedMemory  = "memory"
	NamedCanvas  = "canvas"
	NamedServer  = "MCP server"
	NamedTool    = "MCP tool"
)

// Named is an object of a host that a node or one of its tools uses by its id or name.
type Named struct {
	Kind   string // NamedDataset, NamedMemory, NamedCanvas, NamedServer or NamedTool
	Name   string
	Server string // the server of a NamedTool
	Param  string
	// Mild means that the run continues without the object.
	Mild bool
	Node string // component id of the node; set by [NamedIn]
}

// shortNames are the names that texts of a body have for outputs of its item: {item} for
// {IterationItem:A@item}.
type shortNames struct {
	item    string            // id of the item; "" outside of bodies that have such names
	outputs map[string]string // of all items of the canvas, by short name
}

// Text cuts a text of the component into literals and references. In the body of an Iteration the
// short names of its item are references too; elsewhere they are text, which Validate notes.
// Double braces of a template with statements stay its own.
func (s *Setup) Text(text string) Text {
	short := &s.owner.short
	if len(short.outputs) == 0 || strings.Contains(text, "{%") {
		return ParseText(text)
	}
	t := parseText(text, short.outputs)
	for i := range t.refs {
		r := &t.refs[i]
		if output := short.outputs[r.Expr]; output != "" && short.item != "" {
			r.Node, r.Output = short.item, output
		} else if output != "" {
			s.owner.loose = append(s.owner.loose, r.Expr)
		}
	}
	if short.item == "" {
		return ParseText(text)
	}
	return t
}

// Expr prepares a value of the component that may hold a literal, a reference or a text; see Text.
func (s *Setup) Expr(v Value) Expr { return parseExpr(v, s.Text) }

// Lookback counts the turns and summaries of a conversation that nodes read.
type Lookback struct {
	Turns    int // the last turns; [AllTurns] for all of them
	Memories int // the last summaries
}

// AllTurns is the whole conversation, for [Setup.LookBack]; sys.history is complete then.
const AllTurns = -1

// merge makes r cover other too.
func (r *Lookback) merge(other Lookback) {
	if r.Turns != AllTurns && (other.Turns == AllTurns || other.Turns > r.Turns) {
		r.Turns = other.Turns
	}
	r.Memories = max(r.Memories, other.Memories)
}

// LookBack declares how much of the conversation the component reads with [CallInputs.History] and
// [CallInputs.Memories]. Canvases whose params name sys.history read all turns without it.
func (s *Setup) LookBack(l Lookback) {
	if s.owner != nil {
		s.owner.lookback.merge(l)
	}
}

// historyVariable holds the conversation as lines. It is null in a canvas that does not read it, if
// the turns of the conversation are stored apart: see [Join].
const historyVariable = "sys.history"
