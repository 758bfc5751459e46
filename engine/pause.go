package engine

import "slices"

// pauses stops before a batch with forms nobody has answered: the forms are asked together, and
// what stood beside them waits. It is true when the run ends here.
func (r *run) pauses(batch []nodeIndex) bool {
	if r.asked {
		r.asked = false
		return false
	}
	isForm := func(n nodeIndex) bool { return r.c.nodes[n].form != nil }
	if !slices.ContainsFunc(batch, isForm) || r.pinnedForms(batch) {
		return false
	}
	st := r.st
	st.waiting = st.waiting[:0]
	for _, form := range [...]bool{true, false} {
		for _, n := range batch {
			if isForm(n) == form {
				st.waiting = append(st.waiting, n)
			}
		}
	}
	r.answers = Null
	fields, tips, err := r.ask(nil)
	if err != nil {
		st.waiting = nil
		r.failed = err
		r.endFailed()
		return true
	}
	r.pauseWith(fields, tips)
	return true
}

// pinnedForms reports whether every form of the batch has its answers pinned.
func (r *run) pinnedForms(batch []nodeIndex) bool {
	for _, n := range batch {
		if r.c.nodes[n].form != nil && !r.pinned(&r.c.nodes[n]) {
			return false
		}
	}
	return true
}

// ask collects the fields of all waiting forms; keep, if given, says which of them.
func (r *run) ask(keep func(name string, field Value) bool) (fields Value, tips string, err error) {
	b := NewObject(8)
	for _, i := range r.st.waiting {
		n := &r.c.nodes[i]
		if n.form == nil || r.sched.IsPending(i) { // a form that waits for sources is not asked yet
			continue
		}
		call := r.newCall(n)
		r.step-- // asking is no execution
		f, t, err := func() (f Value, t string, err error) {
			defer recovered(&err)
			return n.form.Ask(r.work(), call)
		}()
		if err != nil {
			return Null, "", r.nodeError(n, err)
		}
		if t != "" {
			tips = t
		}
		for name, field := range formFields(f).Fields() {
			if keep == nil || keep(name, field) {
				b.Set(name, field)
			}
		}
	}
	return b.Value(), tips, nil
}

// pauseWith asks and ends the run; the state keeps everything a later turn goes on with. Nodes that
// wait for sources are told as waiting too.
func (r *run) pauseWith(fields Value, tips string) {
	for _, n := range r.st.waiting { // what was about to run is scheduled anew
		r.sched.Withdraw(n)
	}
	for _, p := range r.sched.Pending {
		if !slices.Contains(r.st.waiting, p.Node) {
			r.st.waiting = append(r.st.waiting, p.Node)
		}
	}
	kept := r.progress.clone()
	kept.bytes = 0 // the answers begin a new execution
	kept.unread = elements(r.streamsValue(r.c))
	kept.pending, kept.streams = nil, nil
	r.st.progress = kept
	r.emitUserInputs(fields, tips)
	r.lastSnapshot()
}

// resume takes the answers of a paused run and schedules what waited. It is false when required
// answers are still missing and the run pauses again.
func (r *run) resume() bool {
	st := r.st
	if kept := st.progress; kept != nil {
		r.takeOver(kept)
	}
	given := NewObject(8)
	for _, from := range [...]Value{r.answers, r.in.Inputs} {
		for name, v := range from.Fields() {
			given.Set(name, v)
		}
	}
	r.in.Inputs, r.answers = given.Value(), given.Value()
	missing, tips, err := r.ask(func(name string, field Value) bool {
		return !field.Get("optional").True() && answer(r.in.Inputs, name).IsNull()
	})
	if err != nil {
		r.failed = err
		r.endFailed()
		return false
	}
	if missing.Len() > 0 {
		r.pauseWith(missing, tips)
		return false
	}
	waiting := st.waiting
	st.waiting, st.progress = nil, nil
	for _, n := range waiting {
		r.sched.Schedule(n) // nodes that wait for sources are on their way already
	}
	r.asked = true
	return true
}

// formFields is a form whose fields say in one way whether they may be left out: a field may have
// "required" in place of "optional", which is what clients look at.
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

// answer is the value given for a field, bare or wrapped.
func answer(inputs Value, name string) Value {
	v := inputs.Get(name)
	if x, ok := v.Lookup("value"); ok {
		return x
	}
	return v
}
