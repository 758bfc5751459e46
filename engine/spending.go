package engine

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"
)

// spending is the usage of models and tools by a run, including active nodes, against its Limits.
// It is safe for concurrent use.
type spending struct {
	mu      sync.Mutex
	changed chan struct{} // closed when a model call ends; nil while none waits for that
	run     allowance
	inner   int       // executions of the runs inside of this one
	outer   *spending // of the run that this one is a node of; nil for others
}

// allowance is the limits and the usage of one run or one agent.
type allowance struct {
	of       string // id of the agent; "" for the run
	limits   *Limits
	used     Usage
	tools    int64
	rounds   int64
	inFlight int              // model calls that have not ended
	reserved Usage            // the most that those may use
	repeats  map[string]int64 // tool calls by agent, name and arguments, also of agents inside
	images   int64            // see CountImages
}

// totals returns the usage of the run.
func (s *spending) totals() Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run.used
}

// restore sets the usage of the run at the time it was saved.
func (s *spending) restore(u Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run.used = u
}

// exceeded returns the error of a limit that n is beyond.
func (a *allowance) exceeded(kind error, n, limit int64) error {
	if n <= limit {
		return nil
	}
	return &LimitError{Kind: kind, Size: n, Limit: limit, Of: a.of}
}

// admits returns nil when one more model call may begin. wait means that it may not begin yet,
// because active calls could use up the rest: so an allowance is never exceeded by more than one
// answer.
func (a *allowance) admits(most Usage) (wait bool, err error) {
	l := a.limits
	if err := a.exceeded(ErrTooManyModelCalls, int64(a.used.Calls)+1, l.ModelCalls); err != nil {
		return false, err
	}
	if n := a.used.Tokens(); n >= l.Tokens {
		return false, &LimitError{Kind: ErrTooManyTokens, Size: n, Limit: l.Tokens, Of: a.of}
	}
	if n := a.used.Cost; n >= l.Cost {
		return false, &LimitError{Kind: ErrTooExpensive, Size: n, Limit: l.Cost, Of: a.of}
	}
	if a.inFlight == 0 {
		return false, nil
	}
	left := l.Tokens - a.used.Tokens() - a.reserved.Tokens()
	money := l.Cost - a.used.Cost - a.reserved.Cost
	return left < most.Tokens() || money < most.Cost, nil
}

// allowances returns those of the agents around an execution, of its run and of the runs around it,
// the innermost first.
func (c *execution) allowances() []*allowance {
	var list []*allowance
	for e := c; ; e = &e.parent.execution {
		if e.allowance != nil {
			list = append(list, e.allowance)
		}
		if e.parent == nil {
			break
		}
	}
	list = append(list, &c.run.spending.run)
	if c.run.opt.around != nil {
		list = append(list, c.run.opt.around.allowances()...)
	}
	return list
}

// shared returns the spending that guards all allowances: the spending of the outermost run.
func (s *spending) shared() *spending {
	for s.outer != nil {
		s = s.outer
	}
	return s
}

// beginModelCall waits until the model may be called with a request, and counts the call. done must
// be called at its end.
func (c *CallOutputs) beginModelCall(ctx context.Context, req *ModelRequest) (done func(), err error) {
	most, err := mostOfAny(ctx, c, req)
	if err != nil {
		return nil, c.overLimit(err)
	}
	s, levels := c.run.spending.shared(), c.allowances()
	for {
		changed, err := s.reserve(levels, most)
		if err != nil {
			return nil, c.overLimit(err)
		}
		if changed == nil {
			c.addUsage(Usage{Calls: 1}) // now: a canceled run ends before its calls do
			return func() { s.release(levels, most) }, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// reserve counts a model call, or returns a channel that is closed when a retry may succeed.
func (s *spending) reserve(levels []*allowance, most Usage) (<-chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	waits := false
	for _, a := range levels {
		wait, err := a.admits(most)
		if err != nil {
			return nil, err
		}
		waits = waits || wait
	}
	if waits {
		if s.changed == nil {
			s.changed = make(chan struct{})
		}
		return s.changed, nil
	}
	for _, a := range levels {
		a.used.Calls++
		a.inFlight++
		a.reserved.Prompt += most.Prompt
		a.reserved.Cost += most.Cost
	}
	return nil, nil
}

// release returns the reservation of a model call that has ended.
func (s *spending) release(levels []*allowance, most Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range levels {
		a.inFlight--
		a.reserved.Prompt -= most.Prompt
		a.reserved.Cost -= most.Cost
	}
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// unbounded means an answer of unknown length.
const unbounded = math.MaxInt32

// mostOfAny returns the most that a call can use: each of its fallback models may be the one that
// answers. Those without a price are left out, because their answers end the run.
func mostOfAny(ctx context.Context, c *CallOutputs, req *ModelRequest) (Usage, error) {
	most, err := c.mostOf(ctx, req.LLM)
	if err != nil || most == (Usage{}) {
		return most, err
	}
	fallback := req.Fallback
	if m, ok := c.run.opt.Ports.Model.(ModelInfo); ok {
		fallback = slices.Concat(fallback, m.ModelInfo(ctx, req.LLM).Fallback)
	}
	for _, llm := range fallback {
		other, err := c.mostOf(ctx, llm)
		if err == nil {
			most.Prompt, most.Cost = max(most.Prompt, other.Prompt), max(most.Cost, other.Cost)
		}
	}
	return most, nil
}

// mostOf returns the most that one call of a model can use, if a limit of the run requires it: its
// context window, if the model port reports it. With a limit on cost the model must have a price.
func (c *CallOutputs) mostOf(ctx context.Context, llm string) (Usage, error) {
	tokens, money := false, false
	for _, a := range c.allowances() {
		tokens = tokens || a.limits.Tokens < math.MaxInt64
		money = money || a.limits.Cost < math.MaxInt64
	}
	if !tokens && !money {
		return Usage{}, nil
	}
	most := Usage{Prompt: unbounded}
	if m, ok := c.run.opt.Ports.Model.(ModelInfo); ok {
		if n := m.ModelInfo(ctx, llm).Context; n > 0 {
			most.Prompt = n
		}
	}
	if money {
		price, ok := c.price(ctx, llm)
		if !ok {
			return most, fmt.Errorf("%w for model %q: add it to the prices, or one for \"*\"", ErrNoPrice, llm)
		}
		most.Cost = price.most(most.Prompt)
	}
	return most, nil
}

// price returns the price of an llm_id: that of the port which comes first, its own, that of the
// model it stands for, such as the default model, that of all others, the one that the port knows,
// or that of the canvas.
func (c *CallOutputs) price(ctx context.Context, llm string) (Price, bool) {
	prices := c.run.opt.Prices
	var info Info
	if m, ok := c.run.opt.Ports.Model.(ModelInfo); ok {
		info = m.ModelInfo(ctx, llm)
	}
	if info.OwnPrice && info.Price != nil {
		return *info.Price, true
	}
	if price, ok := prices.named(llm); ok {
		return price, ok
	}
	if price, ok := prices.Of(info.Model); ok {
		return price, ok
	}
	if info.Price != nil {
		return *info.Price, true
	}
	if price, ok := c.run.opt.assumed.named(llm); ok {
		return price, ok
	}
	return c.run.opt.assumed.Of(info.Model)
}

// Count adds usage of models by a component outside Generate.
func (c *CallOutputs) Count(u Usage) { c.count("", u, u, time.Time{}) }

// countModel adds the usage of a model's answer to a call that began at start; the call itself is
// counted already.
func (c *CallOutputs) countModel(ctx context.Context, llm string, u Usage, start time.Time) {
	if price, ok := c.price(ctx, llm); ok {
		u.Cost = price.Cost(u)
	}
	made := u
	made.Calls = 1
	c.count(llm, u, made, start)
}

// addUsage adds to the usage of the node and the nodes around it.
func (c *CallOutputs) addUsage(u Usage) {
	add := func(call *execution) {
		call.mu.Lock()
		defer call.mu.Unlock()
		call.usage.add(u)
	}
	add(c.root())
	for e := c.run.opt.around; e != nil; e = e.run.opt.around {
		add(e.root())
	}
}

// count adds used to the allowances and made to the node, and logs it with the duration of the
// call.
func (c *CallOutputs) count(llm string, used, made Usage, start time.Time) {
	s, root := c.run.spending.shared(), c.root()
	s.mu.Lock()
	for _, a := range c.allowances() {
		a.used.add(used)
	}
	root.used.add(made)
	for e := c.run.opt.around; e != nil; e = e.run.opt.around {
		e.root().used.add(made)
	}
	node, run := root.used, c.run.spending.run.used
	s.mu.Unlock()
	c.addUsage(used)
	entry := Object("component_id", root.id, "path", c.tracePath(), "model", llm)
	for name, v := range made.Value().Fields() {
		entry = entry.With(name, v)
	}
	if !start.IsZero() {
		entry = c.timed(entry, start)
	}
	c.Log(EventUsage, entry.With("node", node.Value()).With("run", run.Value()))
}

// AllowRound returns nil if an agent may begin a further round of tool calls.
func (c *CallOutputs) AllowRound() error {
	s := c.run.spending.shared()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range c.allowances() {
		if err := a.exceeded(ErrTooManyRounds, a.rounds+1, a.limits.Rounds); err != nil {
			return c.overLimit(err)
		}
	}
	for _, a := range c.allowances() {
		a.rounds++
	}
	return nil
}

// AllowTool returns nil when an agent may call a tool with these arguments. An error that wraps
// [ErrLimit] ends the agent; [ErrRepeatedCall] is reported to the model, so that it tries another
// call. The agent ends if the model repeats the same call as often again.
func (c *CallOutputs) AllowTool(exposed string, args Value) error {
	s := c.run.spending.shared()
	s.mu.Lock()
	defer s.mu.Unlock()
	levels := c.allowances()
	for _, a := range levels {
		if err := a.exceeded(ErrTooManyToolCalls, a.tools+1, a.limits.ToolCalls); err != nil {
			return c.overLimit(err)
		}
	}
	key := c.id + "\x00" + exposed + "\x00" + args.JSON()
	for _, a := range levels {
		if err := a.repeat(key, exposed, a == levels[0]); err != nil {
			return c.overLimit(err)
		}
	}
	for _, a := range levels {
		a.tools++
	}
	return nil
}

// innerRepeats multiplies the bound of equal calls for all agents inside of one: each execution of
// an inner agent does not see what the one before it has called.
const innerRepeats = 10

// repeat counts a tool call with its arguments, by the agent itself or by one inside of it. Equal
// calls by others than agents are not bounded.
func (a *allowance) repeat(key, exposed string, own bool) error {
	most := a.limits.RepeatedCalls
	switch {
	case own:
	case a.of == "":
		return nil
	case most > math.MaxInt64/innerRepeats:
		return nil
	default:
		most *= innerRepeats
	}
	if a.repeats == nil {
		a.repeats = map[string]int64{}
	}
	a.repeats[key]++
	switch n := a.repeats[key]; {
	case n <= most:
		return nil
	case n/2 >= most:
		return &LimitError{Kind: ErrTooManyRepeats, Size: n, Limit: most, Of: a.of}
	}
	return fmt.Errorf("%w: %s was called %d times with these arguments; use what it gave, or other arguments",
		ErrRepeatedCall, exposed, most)
}

// CountImages adds to the bytes of images in the requests of an agent and of the agents around it.
// An agent that ends takes back what it has added. The result is the most that one of them has,
// with those of the agents inside of it.
func CountImages(c *Call, n int64) (most int64) {
	s := c.run.spending.shared()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range c.allowances() {
		if a.of != "" {
			a.images += n
			most = max(most, a.images)
		}
	}
	return most
}

// Allow limits this execution and the tools it calls, besides the limits of the run. Fields that
// are zero bound nothing. The context ends with the time; end must be called.
func (c *CallOutputs) Allow(ctx context.Context, l Limits) (_ context.Context, end func()) {
	for _, k := range limitKinds {
		if n := k.field(&l); *n <= 0 {
			*n = math.MaxInt64
		}
	}
	l.RepeatedCalls = min(l.RepeatedCalls, c.run.opt.Limits.RepeatedCalls)
	c.allowance = &allowance{of: c.id, limits: &l}
	if l.Seconds == math.MaxInt64 {
		return ctx, func() {}
	}
	over := &LimitError{Kind: ErrTooSlow, Size: l.Seconds, Limit: l.Seconds, Of: c.id}
	return context.WithTimeoutCause(ctx, time.Duration(l.Seconds)*time.Second, over)
}

// ToolTime returns the time limit of a tool; 0 is no limit.
func (c *CallOutputs) ToolTime() time.Duration {
	least := c.run.opt.Limits.ToolSeconds
	for _, a := range c.allowances() {
		least = min(least, a.limits.ToolSeconds)
	}
	if least > math.MaxInt64/int64(time.Second) {
		return 0
	}
	return time.Duration(least) * time.Second
}

// ToolTooSlow returns the error of a tool that took longer than ToolTime, which is logged.
func (c *CallOutputs) ToolTooSlow(exposed string) error {
	n := int64(c.ToolTime() / time.Second)
	return c.overLimit(fmt.Errorf("tool %s: %w", exposed, &LimitError{Kind: ErrToolTooSlow, Size: n, Limit: n}))
}

// Overdue returns the limit on time that ended ctx, which is logged, or else err.
func (c *CallOutputs) Overdue(ctx context.Context, err error) error {
	over, ok := context.Cause(ctx).(*LimitError)
	if !ok || err == nil {
		return err
	}
	return c.overLimit(over)
}

// overLimit logs the error of a limit, with its code.
func (c *CallOutputs) overLimit(err error) error {
	c.Log(EventLimitReached, Object("component_id", c.root().id, "path", c.tracePath(), "code", CodeOf(err),
		"message", err.Error()))
	return err
}
