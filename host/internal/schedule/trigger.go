package schedule

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/plugins/contract"
)

// ErrTrigger rejects a schedule whose plugin is not a trigger or does not accept its params.
var ErrTrigger = errors.New("trigger")

// Trigger is the plugin that decides which runs of a schedule begin. The zero value means no
// plugin: each time begins a run.
type Trigger struct {
	Plugin string       `json:"plugin,omitempty"` // feed or feed@1
	Params engine.Value `json:"params,omitzero"`  // its settings in this schedule, an object
	// Hook means that the plugin is called with requests; the schedule has no times.
	Hook bool `json:"hook,omitempty"`
}

// Triggers calls the plugins of schedules.
type Triggers interface {
	// CheckTrigger returns the kind of a plugin and refuses params that it does not accept.
	CheckTrigger(ctx context.Context, tenant, plugin string, params engine.Value) (contract.TriggerKind, error)
	// CallTrigger calls a plugin once. commit writes what the plugin has stored during the call.
	CallTrigger(ctx context.Context, call TriggerCall) (
		t contract.Triggered, commit func(context.Context) error, err error,
	)
}

// TriggerCall is a call of the plugin of a schedule.
type TriggerCall struct {
	ID        string // the same for the same time of the schedule
	Tenant    string
	Plugin    string
	Params    engine.Value
	Arguments engine.Value // the request of a webhook; null for a poll
}

// checkTrigger rejects a schedule whose plugin cannot begin its runs, and sets Hook.
func (ss *Schedules) checkTrigger(ctx context.Context, s *Schedule) error {
	s.Hook = false
	if s.Plugin == "" {
		if !s.Params.IsNull() {
			return fmt.Errorf("%w: params belong to a plugin; name it", ErrTrigger)
		}
		return nil
	}
	if ss.triggers == nil {
		return fmt.Errorf("%w: plugin %s: this host runs no plugins", ErrTrigger, s.Plugin)
	}
	kind, err := ss.triggers.CheckTrigger(ctx, s.Tenant, s.Plugin, s.Params)
	switch {
	case err != nil && s.Rev != 0 && s.Paused: // a schedule can be paused even if its plugin is gone
		s.Hook = s.When == (When{})
		return nil
	case err != nil:
		return fmt.Errorf("%w: %w", ErrTrigger, err)
	case s.Job.Session != "" && !s.Job.Fresh:
		const why = "runs of a plugin have no common session; set session to new, or leave it out"
		return fmt.Errorf("%w: %s", ErrTrigger, why)
	}
	s.Hook = kind == contract.TriggerWebhook
	if s.Hook && s.When != (When{}) {
		return fmt.Errorf("%w: plugin %s is called with requests; leave every and cron out", ErrTrigger, s.Plugin)
	}
	return nil
}

// poll calls the plugin of a schedule whose time has come. A failure is recorded as a run that did
// not start; one of this host is returned, so that the call is repeated.
func (ss *Schedules) poll(ctx context.Context, s Schedule, j *runs.Job) error {
	_, err := ss.Fire(ctx, s, TriggerCall{ID: j.ID})
	if err == nil || errors.Is(err, runs.ErrClosed) || errors.Is(err, broker.ErrUnavailable) {
		return err
	}
	return ss.leaveOut(ctx, j, err.Error())
}

// Fire calls the plugin of a schedule and begins a run for each item that it returns. The caller
// sets ID and Arguments of the call.
//
// An item begins one run, whatever happens: the id of the run derives from the item, and the
// plugin's data, such as its reading position, is written after all runs are.
//
// Errors: those of [Triggers]; [runs.ErrClosed] and others of [runs.Runs.Start].
func (ss *Schedules) Fire(ctx context.Context, s Schedule, call TriggerCall) (contract.Triggered, error) {
	if ss.triggers == nil {
		return contract.Triggered{}, fmt.Errorf("%w: plugin %s: this host runs no plugins", ErrTrigger, s.Plugin)
	}
	call.Tenant, call.Plugin, call.Params = s.Tenant, s.Plugin, s.Params
	t, commit, err := ss.triggers.CallTrigger(ctx, call)
	if err != nil {
		return contract.Triggered{}, err
	}
	for i := range t.Items {
		if err := ss.begin(ctx, &s, &t.Items[i]); err != nil {
			return contract.Triggered{}, fmt.Errorf("item %q: %w", t.Items[i].ID, err)
		}
	}
	return t, commit(ctx)
}

// begin begins the run of an item, unless it has begun before.
func (ss *Schedules) begin(ctx context.Context, s *Schedule, item *contract.TriggerItem) error {
	j := runs.Named(s.Job, itemRun(s, item))
	if _, err := ss.history.Get(ctx, s.Tenant, j.ID); !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if item.Query != "" {
		j.Query = engine.String(item.Query)
	}
	if j.Inputs.IsNull() {
		j.Inputs = item.Inputs
	} else {
		for name, v := range item.Inputs.Fields() {
			j.Inputs = j.Inputs.With(name, v)
		}
	}
	if j.Fresh {
		c, err := ss.runs.Current(ctx, &j)
		if err == nil {
			err = ss.newSession(ctx, s, c, &j)
		}
		if err != nil {
			return err
		}
	}
	_, err := ss.runs.Start(ctx, j)
	if errors.Is(err, store.ErrExists) {
		return nil // begun by another call that got the same item
	}
	return err
}

// itemRun returns the id of the run of an item. It begins with the schedule, by which runs are
// found.
func itemRun(s *Schedule, item *contract.TriggerItem) string {
	id := item.ID
	if id == "" {
		id = uuid.NewString()
	}
	sum := sha256.Sum256([]byte(id))
	return s.ID + "-i" + hex.EncodeToString(sum[:16])
}
