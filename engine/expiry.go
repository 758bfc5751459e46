package engine

import (
	"slices"
	"time"
)

// Expiry describes the end of waiting of a paused run without an answer.
type Expiry struct {
	After  time.Duration // DefaultExpiry unless a node that waits sets it; the shortest counts
	Node   string        // the first node that waits
	Inputs Value         // what answers for the person; null cancels the run
}

// DefaultExpiry bounds how long a run waits for an answer.
const DefaultExpiry = 7 * 24 * time.Hour

// ExpiryOf returns the expiry of a paused run with fields as in its event user_inputs. Forms take
// the values of their fields and approvals are refused if all nodes that wait have that setting and
// every required field has a value.
func ExpiryOf(st *State, fields Value) Expiry {
	e := Expiry{After: DefaultExpiry}
	fails := len(st.waiting) == 0
	set := false
	for _, at := range st.waiting {
		n := &st.canvas.nodes[at]
		if !n.asks && (st.progress == nil || st.progress.suspendedAt(at) == nil) {
			continue // it only waits for its sources
		}
		if e.Node == "" {
			e.Node = n.id
		}
		common := n.expiring()
		if d, err := time.ParseDuration(common.Expires); err == nil && (!set || d < e.After) {
			e.After, set = d, true
		}
		fails = fails || common.OnExpiry == "" || common.OnExpiry == expiryFail
	}
	if !fails {
		e.Inputs = DefaultAnswers(fields)
	}
	return e
}

// expiring returns the params that decide for a node: its own, or those of its first tool that
// needs an approval and sets them.
func (n *node) expiring() *Common {
	own := &n.common
	if own.Expires != "" || own.OnExpiry != "" {
		return own
	}
	i := slices.IndexFunc(n.tools, func(t *node) bool {
		return t.common.Approval && (t.common.Expires != "" || t.common.OnExpiry != "")
	})
	if i < 0 {
		return own
	}
	return &n.tools[i].common
}

// DefaultAnswers returns the answers to fields without a person; null if a required one has no
// value.
func DefaultAnswers(fields Value) Value {
	b := NewObject(fields.Len())
	for name, field := range fields.Fields() {
		v := field.Get("value")
		switch {
		case !field.Get("approval").IsNull():
			b.Set(name, String(ApprovalNo))
		case field.Get("optional").True():
			if !v.IsNull() {
				b.Set(name, v)
			}
		case v.IsNull() || v.Kind() == KindString && v.Str() == "":
			return Null
		default:
			b.Set(name, v)
		}
	}
	return b.Value()
}

// StopWaiting makes a paused state one that waits no longer: the next run begins at the start.
func StopWaiting(st *State) { st.waiting, st.progress = nil, nil }
