package host

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// mostTenantLabels bounds the series of a metric with the label tenant.
const mostTenantLabels = 100

// otherTenants is the label of the tenants beyond that.
const otherTenants = "other"

// tenantCounter counts by tenant. The first tenants that are counted have a series each, the others
// share one.
type tenantCounter struct {
	counter *prometheus.CounterVec
	mu      sync.Mutex
	own     map[string]bool
}

func newTenantCounter(r *prometheus.Registry, name, help string) *tenantCounter {
	c := &tenantCounter{own: map[string]bool{}, counter: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: name, Help: help + " Tenants beyond the first 100 are reported together, as other.",
	}, []string{"tenant"})}
	c.counter.WithLabelValues(otherTenants) // so that the series exists from the start
	r.MustRegister(c.counter)
	return c
}

func (c *tenantCounter) add(tenant string, n float64) {
	c.mu.Lock()
	if !c.own[tenant] {
		if len(c.own) < mostTenantLabels {
			c.own[tenant] = true
		} else {
			tenant = otherTenants
		}
	}
	c.mu.Unlock()
	c.counter.WithLabelValues(tenant).Add(n)
}
