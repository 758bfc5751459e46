package host

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/code/script"
	"github.com/easel-canvas/easel/host/internal/limit/memlimit"
)

// budgets are the shares of the host's memory for work of untrusted size. The collector lets the
// heap grow to about twice the live data, and the run log and the database need a part: together
// the shares stay well below half of the limit. Scripts run in separate processes, whose bound and
// that of the host add up to the limit.
type budgets struct {
	limit     int64            // of the process
	requests  *memlimit.Budget // bodies and what is decoded from them, until the response is sent
	small     *memlimit.Budget // the same of bodies up to 16 KiB, such as logins
	documents *memlimit.Budget // uploads while their text is read
	runs      *memlimit.Budget // state of runs at work
	canvases  *memlimit.Budget // documents of runs at work
	scripts   *memlimit.Budget // processes that run scripts
	plans     int64            // bytes of the cache of compiled canvases
}

// newBudgets divides limit bytes; 0 means the limit of the process.
func newBudgets(limit int64) budgets {
	if limit <= 0 {
		limit = memlimit.Process()
	}
	return budgets{
		limit:     limit,
		requests:  memlimit.New("requests", limit/16),
		small:     memlimit.New("small requests", limit/64),
		documents: memlimit.New("documents", limit/8),
		runs:      memlimit.New("runs", limit/8),
		canvases:  memlimit.New("canvases of runs", limit/12),
		scripts:   memlimit.New("scripts", script.Share(limit)),
		plans:     limit / 32,
	}
}

// list returns the budgets and their usage, by the names of their labels.
func (b budgets) list() []app.Budget {
	var out []app.Budget
	for _, one := range b.named() {
		out = append(out, app.Budget{Name: one.name, Size: one.Size(), Used: one.Used()})
	}
	return out
}

type namedBudget struct {
	name string
	*memlimit.Budget
}

func (b budgets) named() []namedBudget {
	return []namedBudget{
		{"requests", b.requests},
		{"small_requests", b.small},
		{"documents", b.documents},
		{"runs", b.runs},
		{"run_canvases", b.canvases},
		{"scripts", b.scripts},
	}
}

// register adds the sizes and the usage of the budgets to the metrics of the host.
func (b budgets) register(numbers *prometheus.Registry) {
	for _, budget := range b.named() {
		labels := prometheus.Labels{"budget": budget.name}
		numbers.MustRegister(
			prometheus.NewGaugeFunc(prometheus.GaugeOpts{
				Name: "easel_memory_budget_bytes", Help: "Memory that this kind of work may hold together.",
				ConstLabels: labels,
			}, func() float64 { return float64(budget.Size()) }),
			prometheus.NewGaugeFunc(prometheus.GaugeOpts{
				Name: "easel_memory_used_bytes", Help: "Memory of the budget that is reserved now.",
				ConstLabels: labels,
			}, func() float64 { return float64(budget.Used()) }),
		)
	}
}
