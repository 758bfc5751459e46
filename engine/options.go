package engine

import (
	"fmt"
	"slices"
	"time"
)

// Input is the input of a run. A zero field was not passed.
type Input struct {
	Query   Value  // usually a text
	UserID  string // owner of the conversation
	Inputs  Value  // form values by name: {"city": {"value": "Oslo"}} or {"city": "Oslo"}
	Files   Value  // list of upload descriptors
	Webhook Value  // {query, headers, body, input} of a web request that started the run
	// Instructions are the caller's system message. They count only if the canvas has the setting
	// caller_instructions; see [InstructionsOf].
	Instructions string
	// Visitor marks the user as anonymous: answers to approvals do not count, unless the settings
	// of the canvas say visitors_approve.
	Visitor bool
}

// Options configure a run. The zero value is usable.
type Options struct {
	Ports    Ports
	TaskID   string // names the run towards clients and the cancel port; "" makes one
	CanvasID string // what ports know the canvas by; may be ""
	TenantID string // whose run it is, for ports; may be ""
	// Principal is the authenticated principal that started the run: the value of sys.principal, an
	// object {kind, id, user, end_user}. Null means a local run. sys.user_id, by contrast, is a
	// claim of the sender.
	Principal Value

	Concurrency int // nodes at once; 0 means 5 in batches, and in eager mode all that are ready
	// Scheduling is the mode of the run; "" means that of the canvas, or batch if it has none. A
	// run with Until is always done in batches, and one that answers a form in the mode of the run
	// that asked.
	Scheduling Scheduling
	// AsCompleted emits the messages of concurrent bodies when each is done, instead of in the
	// order of the elements.
	AsCompleted bool
	// MaxSteps bounds the executions without progress, besides one of each node of the canvas; a
	// run that exceeds it ends with ErrLimit. 0 means 10,000.
	MaxSteps int
	Seed     uint64 // for random choices; 0 draws one

	From  string           // start at this node with the outputs the state holds, instead of at begin
	Until string           // stop after the batch in which this node ran
	Pins  map[string]Value // outputs, by node id, that are used instead of running the node

	Limits Limits // what the run may hold and use; a canvas can lower them
	// Approval names nodes, components and tools that may only run when a person agrees; a canvas
	// can name more.
	Approval []string
	Prices   Prices // of models, for Limits.Cost and the usage in events; those of the canvas are used for others

	Rerun       bool // Continue counts as a new execution: new message id, numbering from 1
	Checkpoints bool // log what each batch changed, so that the run can be continued elsewhere
	// a whole snapshot after this many bytes of checkpoints, or as many as the last one had; 0
	// means 256 KB
	SnapshotBytes int
	Internal      bool // hand out log entries that are not events of the wire
	Exchanges     bool // log what ports were asked and have answered, where such entries are handed out

	CancelBefore bool         // the cancel flag is set already
	CancelAfter  *CancelAfter // set the cancel flag when an event has been handed out

	assumed Prices     // those of canvases, for models that have no other price
	around  *Call      // the node that this run is
	item    *itemScope // the element whose body this run is
}

// Scheduling determines when a node with complete inputs starts.
type Scheduling string

const (
	// Batch starts the nodes that may run together and settles them together, in a fixed order.
	Batch Scheduling = "batch"
	// Eager starts each node as soon as its sources are settled and a slot is free, and opens
	// streams before they are read. Writes to shared state are ordered by settlement.
	Eager Scheduling = "eager"
	// Auto stands for the result of [OrderOf].
	Auto Scheduling = "auto"
)

// schedulings are the orders that a canvas can request.
var schedulings = []Scheduling{Batch, Eager}

// CancelAfter names an event by type, node ("" is any) and count.
type CancelAfter struct {
	Event EventType
	Node  string // "" is any
	Nth   int    // 1-based; 0 means 1
}

const (
	defaultConcurrency   = 5
	eagerConcurrency     = 1 << 10
	defaultMaxSteps      = 10_000
	defaultSnapshotBytes = 256 << 10
	// grace bounds how long the run waits for a cancelled or timed-out component to return.
	grace = 20 * time.Millisecond
)

// Check refuses options that do not fit a canvas, such as nodes that it does not have; Run does so
// too.
func (o *Options) Check(c *Canvas) error {
	there := func(option, id string) error {
		if _, err := c.node(id); err != nil {
			return fmt.Errorf("option %s: %w", option, err)
		}
		return nil
	}
	if o.Scheduling != "" && o.Scheduling != Auto && !slices.Contains(schedulings, o.Scheduling) {
		return fmt.Errorf("option Scheduling: unknown value %q (batch, eager or auto)", o.Scheduling)
	}
	if o.From != "" {
		if err := there("From", o.From); err != nil {
			return err
		}
	}
	if o.Until != "" {
		if err := there("Until", o.Until); err != nil {
			return err
		}
		if isInside(c, o.Until) {
			return fmt.Errorf("option Until: node %q is inside a group, which runs as a whole", o.Until)
		}
	}
	for id, pin := range o.Pins {
		n, err := c.node(id)
		if err != nil {
			return fmt.Errorf("option Pins: %w", err)
		}
		for name, v := range pin.Fields() {
			if err := n.checkOutput(name, unwrapped(v)); err != nil {
				return fmt.Errorf("option Pins: %w", err)
			}
		}
	}
	return nil
}

// pinned reports whether given outputs replace the execution of a node.
func (o *Options) pinned(n *node) bool {
	_, ok := o.Pins[n.id]
	return ok
}

// unwrapped returns a pinned output without the {"value": ...} of a saved document.
func unwrapped(v Value) Value {
	if x, wrapped := v.Lookup("value"); wrapped && v.Kind() == KindObject {
		return x
	}
	return v
}

// checkOutput refuses a value from outside whose type differs from that of the output.
func (n *node) checkOutput(name string, v Value) error {
	for i := range n.spec.Outputs {
		if f := &n.spec.Outputs[i]; f.Name == name && !f.Accepts(v.Kind()) {
			return fmt.Errorf("node %q: output %s is a %s; its type is %s", n.id, name, v.Kind(), f.Type)
		}
	}
	return nil
}

func (o *Options) setDefaults() {
	if o.Ports.Clock == nil {
		o.Ports.Clock = SystemClock{}
	}
	if o.Ports.IDs == nil {
		o.Ports.IDs = RandomIDs{}
	}
	o.Limits.setDefaults()
	if o.MaxSteps <= 0 {
		o.MaxSteps = defaultMaxSteps
	}
	if o.SnapshotBytes <= 0 {
		o.SnapshotBytes = defaultSnapshotBytes
	}
	if o.TaskID == "" {
		o.TaskID = o.Ports.IDs.NewID()
	}
	if o.Seed == 0 {
		o.Seed = randomSeed()
	}
}

// slots returns how many nodes run at once, once the mode is set.
func (o *Options) slots() int {
	switch {
	case o.Concurrency > 0:
		return o.Concurrency
	case o.Scheduling == Eager:
		return eagerConcurrency // the model and the host limit calls; an order of execution has no use for less
	}
	return defaultConcurrency
}

// waker sets the mode of the run, and creates the channel that wakes the owner of an eager run when
// a text grows.
func (o *Options) waker(sideBySide bool) (wake chan struct{}, wakeUp func()) {
	if o.Scheduling != Eager || o.Until != "" {
		o.Scheduling = Batch
		if !sideBySide {
			return nil, nil
		}
	}
	signal := make(chan struct{}, 1)
	return signal, func() {
		select {
		case signal <- struct{}{}:
		default:
		}
	}
}
