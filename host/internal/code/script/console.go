package script

import (
	"errors"
	"strings"
	"sync"

	"github.com/dop251/goja"
)

// prepare defines the globals of the script: console, timers, module, and a require that throws an
// explanation.
func (m *machine) prepare() error {
	console := m.vm.NewObject()
	module := m.vm.NewObject()
	exports := m.vm.NewObject()
	return errors.Join(
		console.Set("log", m.printTo(&m.out)), console.Set("info", m.printTo(&m.out)),
		console.Set("debug", m.printTo(&m.out)), console.Set("warn", m.printTo(&m.errs)),
		console.Set("error", m.printTo(&m.errs)),
		m.vm.Set("console", console),
		module.Set("exports", exports), m.vm.Set("module", module), m.vm.Set("exports", exports),
		m.vm.Set("setTimeout", m.timers.set(m.vm)), m.vm.Set("clearTimeout", m.timers.clear),
		m.vm.Set("require", func(name string) (goja.Value, error) {
			text := "require(" + name +
				"): scripts run without modules; only the language, console and setTimeout are there"
			failed, err := m.vm.New(m.vm.Get("Error"), m.vm.ToValue(text))
			if err != nil {
				return nil, err
			}
			panic(failed)
		}),
	)
}

// printTo returns a function that prints values separated by spaces: strings unquoted, objects as
// JSON.
func (m *machine) printTo(p *printer) func(goja.FunctionCall) goja.Value {
	return func(call goja.FunctionCall) goja.Value {
		parts := make([]string, len(call.Arguments))
		for i, a := range call.Arguments {
			parts[i] = m.show(a)
		}
		p.line(strings.Join(parts, " "))
		return goja.Undefined()
	}
}

func (m *machine) show(v goja.Value) string {
	if s, ok := v.(*goja.Symbol); ok {
		return "Symbol(" + s.String() + ")"
	}
	if o, ok := v.(*goja.Object); ok && o.ClassName() != "Error" {
		if _, callable := goja.AssertFunction(v); !callable {
			if j, err := m.export(v); err == nil {
				return j.Text()
			}
		}
	}
	return v.String()
}

// printer collects output up to a limit. It may be read while the script is still printing.
type printer struct {
	mu        sync.Mutex
	text      strings.Builder
	remaining int
}

const cutNote = "[output cut]\n"

func (p *printer) line(s string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.remaining < 0:
	case len(s) >= p.remaining:
		p.remaining = -1
		p.text.WriteString(cutNote)
	default:
		p.remaining -= len(s) + 1
		p.text.WriteString(s + "\n")
	}
}

func (p *printer) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}
