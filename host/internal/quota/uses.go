package quota

import "github.com/easel-canvas/easel/host/internal/store"

// useDays is for how many days the usage of models by canvas is kept.
const useDays = 400

// Use is the usage of a model by one call.
type Use struct {
	Tenant, Canvas, Model string
	Input, Output         int64 // tokens
	Cost                  int64 // millionths of the currency of the price table
}

// useKey is the key by which unwritten uses are summed.
type useKey struct {
	tenant, canvas, model string
	day                   int64
}

// Record counts a call for the usage by day, canvas and model. It does not block.
func (m *Meter) Record(u Use) {
	if m.cfg.Uses == nil {
		return
	}
	_, day, _ := m.today()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.addUse(&store.ModelUse{
		Tenant: u.Tenant, Day: day, Canvas: u.Canvas, Model: u.Model,
		Calls: 1, Input: atMost(u.Input), Output: atMost(u.Output), Cost: atMost(u.Cost),
	})
}

func atMost(n int64) int64 { return min(max(n, 0), store.MostTokens) }

// addUse adds to the unwritten uses. The caller holds mu.
func (m *Meter) addUse(u *store.ModelUse) {
	key := useKey{u.Tenant, u.Canvas, u.Model, u.Day}
	sum := m.uses[key]
	if sum == nil {
		m.uses[key] = u
		return
	}
	sum.Calls, sum.Input = atMost(sum.Calls+u.Calls), atMost(sum.Input+u.Input)
	sum.Output, sum.Cost = atMost(sum.Output+u.Output), atMost(sum.Cost+u.Cost)
}

// flushUses writes the uses. After an error they are kept for the next write.
func (m *Meter) flushUses() error {
	m.mu.Lock()
	uses := make([]store.ModelUse, 0, len(m.uses))
	for _, u := range m.uses {
		uses = append(uses, *u)
	}
	clear(m.uses)
	m.mu.Unlock()
	if len(uses) == 0 {
		return nil
	}
	err := m.cfg.Uses.Add(m.ctx, uses)
	if err != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		for i := range uses {
			m.addUse(&uses[i])
		}
	}
	return err
}
