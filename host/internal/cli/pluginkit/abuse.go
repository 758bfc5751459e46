package pluginkit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/plugins/contract"
)

// fresh is the number of instances that must agree.
const fresh = 3

// play runs a case on fresh instances, each in a separate host.
func (k *kit) play(ctx context.Context, c Case) error {
	var first *outcome
	name := "case " + c.Name
	for range fresh {
		b, err := k.bench(ctx)
		if err != nil {
			return err
		}
		b.world.set(c, nil, 0)
		m, err := b.load(ctx)
		if err != nil {
			b.close()
			k.report.add(name, Failed, "%v", err)
			return nil
		}
		o := b.run(ctx, m, c, "a", 0)
		b.close()
		if first == nil {
			first = o
			logs := len(k.report.Checks)
			defer func() { k.report.Checks[logs].Log = o.answer.Logs }()
			if err := c.check(o); err != nil {
				k.report.add(name, Failed, "%v", err)
				return nil
			}
			continue
		}
		if codeOf(o.err) != codeOf(first.err) || !engine.Equal(o.answer.Outputs, first.answer.Outputs) ||
			o.emitted.String() != first.emitted.String() {
			k.report.add(name, Failed, "two fresh instances gave different answers")
			return nil
		}
		if o.answer.Fuel != first.answer.Fuel {
			k.report.add(name, Failed, "two fresh instances burnt %d and %d units of fuel", first.answer.Fuel, o.answer.Fuel)
			return nil
		}
	}
	k.first[c.Name] = first
	k.report.Fuel[c.Name], k.report.Memory[c.Name] = first.answer.Fuel, first.answer.Memory
	k.report.add(name, OK, "%d units of fuel, %d KB of memory, %d emits", first.answer.Fuel, first.answer.Memory>>10, first.emits)
	return nil
}

// faults are codes that cost an instance: an honest plugin returns an error with another code
// instead.
var faults = []contract.Code{
	contract.Trap, contract.Panic, contract.Exit, contract.StackOverflow, contract.OutOfMemory,
	contract.OutOfFuel, contract.Timeout, contract.OutputTooLarge, contract.TooManyCalls,
}

func faulty(err error) error {
	for _, code := range faults {
		if errors.Is(err, code) {
			return err
		}
	}
	return nil
}

// badInput hands over what no host would.
func (k *kit) badInput(ctx context.Context, b *bench, m *plugin.Module) {
	b.world.set(Case{}, nil, 0)
	for _, c := range []struct{ name, input string }{
		{"empty input", ""},
		{"input that is no JSON", "{"},
		{"input that is no UTF-8", "{\"abi\":1,\"params\":{},\"arguments\":{\"\xff\":\"\xfe\"}}"},
		{"input beyond ASCII", `{"abi":1,"call":{"id":"1"},"params":{"ß":"Ångström 🌍"},"arguments":{"ß":"\ud83c\udf0d"}}`},
		{"input with unknown fields", `{"abi":1,"colour":"red","call":{"id":"1","shade":{}},"params":{"x":[1]},"arguments":{"y":null}}`},
		{"a megabyte of input", `{"abi":1,"call":{"id":"1"},"params":{},"arguments":{"x":"` + strings.Repeat("å", 1<<19) + `"}}`},
		{"deeply nested input", `{"abi":1,"params":{"x":` + strings.Repeat("[", 150) + strings.Repeat("]", 150) + `}}`},
	} {
		var fault error
		for _, about := range m.Manifest().Nodes() {
			_, err := m.Call(ctx, plugin.CallRequest{
				Export: about.Export(), Input: []byte(c.input),
			})
			fault = cmp.Or(fault, faulty(err))
		}
		k.report.verdict(c.name, fault)
	}
}

// mostCancels bounds the canceled emits of a case; patience is the time that a plugin has to end
// afterwards, less than a host allows before it stops it; tries bounds how often it may be late.
const (
	mostCancels = 20
	patience    = 200 * time.Millisecond
	tries       = 10
)

// cancel cancels at each emit of a case in turn.
func (k *kit) cancel(ctx context.Context, b *bench, m *plugin.Module, c Case) {
	b.world.set(c, nil, 0)
	whole := b.run(ctx, m, c, "a", 0)
	for at := 1; at <= min(whole.emits, mostCancels); at++ {
		var o *outcome
		for range tries { // the machine may be busy with something else
			b.world.set(c, nil, 0)
			if o = b.run(ctx, m, c, "a", at); o.went <= patience {
				break
			}
		}
		switch {
		case o.went > patience:
			k.report.add("cancel", Failed, "%s to end after emit %d; look at what emit returns", o.went.Round(time.Millisecond), at)
			return
		case faulty(o.err) != nil:
			k.report.add("cancel", Failed, "%v", o.err)
			return
		}
	}
	k.report.add("cancel", OK, "at each of %d emits", min(whole.emits, mostCancels))
}

// services lets the world fail in turn.
func (k *kit) services(ctx context.Context, b *bench, m *plugin.Module, c Case) {
	asked := m.Manifest().Permissions
	if asked.HTTP == nil && asked.LLM == nil && asked.KV == nil && asked.Variables == nil && asked.Embed == nil {
		return
	}
	try := func(name string, broken error, status int, grant *contract.Permissions, c Case) {
		b.world.set(c, broken, status)
		in, err := b.world.invocation(ctx, m.Manifest(), c, "a", func(contract.Emission) error { return nil })
		if err == nil {
			in.Grant = grant
			_, err = m.Invoke(ctx, in)
		}
		k.report.verdict(name, faulty(err))
	}
	if asked.HTTP != nil {
		for _, status := range []int{204, 401, 404, 429, 500} {
			try(fmt.Sprintf("web services answer %d", status), nil, status, nil, c)
		}
	}
	try("services are out of order", errors.New("out of order"), 0, nil, c)
	try("nothing is granted", nil, 0, &contract.Permissions{}, c)
	if len(asked.Secrets) > 0 {
		bare := c
		bare.Secrets = nil
		try("secrets are missing", nil, 0, nil, bare)
	}
}

// neighbours wants another tenant to see nothing of an earlier call, and a call after an error to
// be as good as new. Instances are shared as much as a host may. A plugin that declares a state may
// answer a second call of a tenant in another way.
func (k *kit) neighbours(ctx context.Context, c Case) error {
	b, err := k.benchWith(ctx, -1)
	if err != nil {
		return err
	}
	defer b.close()
	m, err := b.load(ctx)
	if err != nil {
		return err
	}
	answer := func(tenant string) *outcome {
		b.world.set(c, nil, 0)
		return b.run(ctx, m, c, tenant, 0)
	}
	same := func(a, b *outcome) bool {
		return codeOf(a.err) == codeOf(b.err) && engine.Equal(a.answer.Outputs, b.answer.Outputs)
	}
	first := answer("a")
	about, err := m.Manifest().ByName(c.Component)
	if err != nil {
		return err
	}
	_, failure := m.Call(ctx, plugin.CallRequest{
		Export: about.Export(), Input: []byte("{"), Tenant: "a", Run: "kit",
	})
	again, other := answer("a"), answer("b")
	state := m.Manifest().State
	stateful := state == contract.StateTenant || state == contract.StateRun
	if !stateful && !same(first, again) || faulty(again.err) != nil {
		k.report.add("a call after an error", Failed, "another answer than before; the error was %v", failure)
	} else {
		k.report.add("a call after an error", OK, "")
	}
	if same(first, other) || stateful && faulty(other.err) == nil {
		k.report.add("another tenant", OK, "")
	} else {
		k.report.add("another tenant", Failed, "another answer; something is kept outside of keys and values")
	}
	return nil
}
