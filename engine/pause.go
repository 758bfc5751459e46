package engine

import (
	"errors"
	"slices"
)

// forms pauses the run for input: forms that are due are asked together, and the state keeps the
// position at which the run continues with the answers.
type forms struct{ *journal }

// due reports whether a batch has unanswered forms, at which the run pauses.
func (f *forms) due(batch []nodeIndex) bool {
	if f.asked {
		f.asked = false
		return false
	}
	named := len(f.suspended)+len(f.opt.Approval) > 0
	for _, n := range batch {
		if f.c.nodes[n].asks || named && f.isForm(n) {
			return !f.pinnedForms(batch)
		}
	}
	return false
}

// isForm reports whether a person is asked before a node runs, or continues.
func (f *forms) isForm(n nodeIndex) bool {
	return f.c.nodes[n].asks ||
		len(f.suspended) > 0 && f.suspendedAt(n) != nil ||
		len(f.opt.Approval) > 0 && f.opt.needsApproval(&f.c.nodes[n])
}

// answered returns the nodes of a batch that may run after the answers: nodes that need an approval
// that was not requested yet are left to the next batch.
func (f *forms) answered(batch []nodeIndex) []nodeIndex {
	kept := batch[:0]
	for _, n := range slices.Clone(batch) { // Withdraw moves the nodes of the batch
		node := &f.c.nodes[n]
		if node.form == nil && f.opt.needsApproval(node) && f.suspendedAt(n) == nil && !f.opt.pinned(node) {
			f.sched.Withdraw(n)
			f.sched.Schedule(n)
			continue
		}
		kept = append(kept, n)
	}
	if len(kept) == 0 {
		f.asked = false
	}
	return kept
}

// pause shows the forms of a batch together; the other nodes of the batch wait.
func (f *forms) pause(batch []nodeIndex, newCall func(*node) *Call) error {
	st := f.st
	st.waiting = st.waiting[:0]
	for _, form := range [...]bool{true, false} {
		for _, n := range batch {
			if f.isForm(n) == form {
				st.waiting = append(st.waiting, n)
			}
		}
	}
	f.answers = Null
	fields, tips, err := f.ask(newCall, nil)
	if err != nil {
		st.waiting = nil
		return err
	}
	f.pauseWith(fields, tips)
	return nil
}

// pinnedForms reports whether every form of the batch has its answers pinned.
func (f *forms) pinnedForms(batch []nodeIndex) bool {
	for _, n := range batch {
		if f.isForm(n) && !f.opt.pinned(&f.c.nodes[n]) {
			return false
		}
	}
	return true
}

// ask collects the fields of all waiting forms; keep, if given, selects them.
func (f *forms) ask(
	newCall func(*node) *Call, keep func(name string, field Value) bool,
) (fields Value, tips string, err error) {
	b := NewObject(8)
	for _, i := range f.st.waiting {
		n := &f.c.nodes[i]
		if f.sched.IsPending(i) || !f.isForm(i) { // a form that waits for sources is not asked yet
			continue
		}
		if n.form == nil {
			s := f.suspendedAt(i)
			if s == nil {
				s = f.askNode(n)
				f.suspended = append(f.suspended, *s)
			}
			tips = s.tips
			for name, field := range s.fields.Fields() {
				if keep == nil || keep(name, field) {
					b.Set(name, field)
				}
			}
			continue
		}
		call := newCall(n)
		f.step-- // asking is no execution
		asked, t, err := func() (asked Value, t string, err error) {
			defer recovered(&err)
			return n.form.Ask(f.work(), call)
		}()
		if err != nil {
			return Null, "", f.nodeError(n, err)
		}
		if t != "" {
			tips = t
		}
		for name, field := range formFields(asked).Fields() {
			if keep == nil || keep(name, field) {
				b.Set(name, field)
			}
		}
	}
	return b.Value(), tips, nil
}

// pauseWith emits the form and ends the run; the state holds all that a later turn needs to
// continue. Nodes that wait for sources are also reported as waiting.
func (f *forms) pauseWith(fields Value, tips string) {
	for _, n := range f.st.waiting { // what was about to run is scheduled again
		f.sched.Withdraw(n)
	}
	for _, p := range f.sched.Pending {
		if !slices.Contains(f.st.waiting, p.Node) {
			f.st.waiting = append(f.st.waiting, p.Node)
		}
	}
	kept := f.progress.clone()
	kept.spent, kept.bytes = Usage{}, 0 // the answers begin a new execution
	kept.unread = elements(f.streamsValue(f.c))
	kept.pending, kept.streams = nil, nil
	f.st.progress = kept
	f.emitUserInputs(fields, tips)
	f.lastSnapshot()
}

// resume takes the answers of a paused run and schedules the waiting nodes. resumed is false if
// required answers are still missing and the run pauses again.
func (f *forms) resume(newCall func(*node) *Call) (resumed bool, err error) {
	st := f.st
	if f.in.Visitor && !f.c.settings.visitors {
		f.in.Inputs = f.withoutApprovals()
	}
	given := NewObject(8)
	for _, from := range [...]Value{f.answers, f.in.Inputs} {
		for name, v := range from.Fields() {
			given.Set(name, v)
		}
	}
	var problems []error
	f.in.Inputs, f.answers = given.Value(), given.Value()
	missing, tips, err := f.ask(newCall, func(name string, field Value) bool {
		if answer(f.in.Inputs, name).IsNull() {
			return !field.Get("optional").True()
		}
		problem := approvalProblem(name, field, f.in.Inputs)
		problems = append(problems, problem)
		return problem != nil
	})
	if problem := errors.Join(problems...); problem != nil {
		tips = problem.Error()
	}
	if err != nil {
		return false, err
	}
	if missing.Len() > 0 {
		f.pauseWith(missing, tips)
		return false, nil
	}
	waiting := st.waiting
	st.waiting, st.progress = nil, nil
	for _, n := range waiting {
		f.sched.Schedule(n) // nodes that wait for sources are on their way already
	}
	f.asked = true
	return true, nil
}

// withoutApprovals returns the inputs without answers to the approvals that are asked.
func (f *forms) withoutApprovals() Value {
	inputs := f.in.Inputs
	for i := range f.suspended {
		fields := f.suspended[i].fields
		for at := range fields.Len() {
			if name := fields.Key(at); !fields.At(at).Get("approval").IsNull() {
				inputs = inputs.Without(name).Without(name + ArgumentsSuffix)
			}
		}
	}
	return inputs
}

// formFields returns a form whose fields all have "optional", which clients read: a field of the
// canvas may have "required" instead.
func formFields(form Value) Value {
	b := NewObject(form.Len())
	for name, field := range form.Fields() {
		if r := field.Get("required"); r.Kind() == KindBool && field.find("optional") < 0 {
			field = field.With("optional", Bool(!r.True()))
		}
		b.Set(name, field)
	}
	return b.Value()
}

// answer returns the value given for a field, bare or wrapped.
func answer(inputs Value, name string) Value {
	v := inputs.Get(name)
	if x, ok := v.Lookup("value"); ok {
		return x
	}
	return v
}
