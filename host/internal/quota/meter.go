package quota

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/easel-canvas/easel/host/internal/store"
)

// Records stores token counts of all hosts; [store.Tokens] implements it.
type Records interface {
	State(ctx context.Context, tenant, caller string, day int64) (store.TokenState, error)
	Add(ctx context.Context, uses []store.TokenUse) (totals []int64, err error)
	Forget(ctx context.Context, day int64) error
}

// Uses stores what was used of models, of all hosts; a [store.ModelUses] implements it.
type Uses interface {
	Add(ctx context.Context, uses []store.ModelUse) error
	Forget(ctx context.Context, day int64) error
}

// Config configures a meter. Store is required.
type Config struct {
	Store Records
	// Uses stores what [Meter.Record] receives; nil drops it.
	Uses Uses
	// PerDay is the daily quota, in tokens, of callers without their own; 0 means unlimited. It
	// does not apply to tenants.
	PerDay int64
	// Used is called with the tokens used and Refused for each refused call, for metrics; either
	// may be nil.
	Used    func(tenant string, tokens int64)
	Refused func(tenant string)
	// Now returns the time; nil means time.Now.
	Now func() time.Time
	// Log receives warnings for the operator; nil means slog.Default.
	Log *slog.Logger
}

const (
	// writeEvery is the interval between writes.
	writeEvery = time.Second
	// lookEvery is the maximum age of the cached state of the store.
	lookEvery = 2 * time.Second
	// lookTime bounds a refresh of cached state.
	lookTime = time.Second
	// keepFor is the time for which cached state outlives its last use, so that an unavailable
	// store does not stop active runs.
	keepFor = time.Hour
	// closeTime bounds the last write on Close.
	closeTime = 5 * time.Second
)

// Meter counts tokens on one host. It is safe for concurrent use.
type Meter struct {
	cfg Config

	mu    sync.Mutex
	list  map[subject]*tally
	dirty bool                       // there are unwritten tokens
	uses  map[useKey]*store.ModelUse // unwritten

	writing  sync.Mutex      // held during a write
	ctx      context.Context // context of writes
	cancel   context.CancelFunc
	flushNow chan struct{}
	quit     chan struct{}
	last     chan error // result of the last write
	close    func() error
}

// subject is a counted unit: a caller, or its tenant if caller is empty, on one day.
type subject struct {
	tenant, caller string
	day            int64
}

// tally is the cached count of a subject.
type tally struct {
	quota   int64     // 0 means unlimited
	stored  int64     // total of all hosts at the last read or write
	sent    int64     // being written
	waiting int64     // not written yet
	readAt  time.Time // time of the last read; zero before the first
	writes  int       // number of completed writes
}

func (t *tally) used() int64 { return min(t.stored+t.sent+t.waiting, store.MostTokens) }

// New starts a meter. Call [Meter.Close] to stop it.
func New(cfg Config) *Meter {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	m := &Meter{
		cfg: cfg, list: map[subject]*tally{}, uses: map[useKey]*store.ModelUse{},
		flushNow: make(chan struct{}, 1), quit: make(chan struct{}), last: make(chan error, 1),
	}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	m.close = sync.OnceValue(m.stop)
	go m.work()
	return m
}

// today returns the current time and day, and the start of the next day.
func (m *Meter) today() (now time.Time, day int64, next time.Time) {
	const secondsPerDay = 24 * 60 * 60
	now = m.cfg.Now().UTC()
	day = now.Unix() / secondsPerDay
	return now, day, time.Unix((day+1)*secondsPerDay, 0).UTC()
}

// Account counts for a caller of a tenant, or only for the tenant if the caller is empty.
type Account struct {
	meter          *Meter
	tenant, caller string
}

// Of returns the account of a caller.
func (m *Meter) Of(tenant, caller string) *Account { return &Account{m, tenant, caller} }

// Allow returns a [*UsedUp] if the quota is used up. Errors of the store are returned only if there
// is no cached state yet.
func (a *Account) Allow(ctx context.Context) error {
	now, day, next := a.meter.today()
	for _, s := range a.subjects(day) {
		state, err := a.meter.look(ctx, s, now)
		if err != nil {
			return err
		}
		if state.Quota > 0 && state.Used >= state.Quota {
			if a.meter.cfg.Refused != nil {
				a.meter.cfg.Refused(a.tenant)
			}
			return &UsedUp{Tenant: s.caller == "", Quota: state.Quota, Until: next, After: next.Sub(now)}
		}
	}
	return nil
}

// Spend counts the tokens of a call. It does not block.
func (a *Account) Spend(tokens int64) {
	if tokens <= 0 {
		return
	}
	m := a.meter
	tokens = min(tokens, store.MostTokens)
	_, day, _ := m.today()
	m.mu.Lock()
	for _, s := range a.subjects(day) {
		t := m.tally(s)
		t.waiting = min(t.waiting+tokens, store.MostTokens)
	}
	m.dirty = true
	m.mu.Unlock()
	if m.cfg.Used != nil {
		m.cfg.Used(a.tenant, tokens)
	}
}

// subjects returns the counted units of the account: the tenant and the caller.
func (a *Account) subjects(day int64) []subject {
	out := []subject{{a.tenant, "", day}}
	if a.caller != "" {
		out = append(out, subject{a.tenant, a.caller, day})
	}
	return out
}

// State returns the quota and today's use of a caller, or of the tenant if caller is empty, and the
// start of the next day.
func (m *Meter) State(ctx context.Context, tenant, caller string) (state store.TokenState, next time.Time, err error) {
	now, day, next := m.today()
	state, err = m.look(ctx, subject{tenant, caller, day}, now)
	return state, next, err
}

// Today returns the current day, in days since 1970-01-01.
func (m *Meter) Today() int64 {
	_, day, _ := m.today()
	return day
}

// tally returns the tally of a subject and creates it if missing. The caller holds mu.
func (m *Meter) tally(s subject) *tally {
	t := m.list[s]
	if t == nil {
		t = &tally{}
		m.list[s] = t
	}
	return t
}

// look returns the state of a subject, at most lookEvery old.
func (m *Meter) look(ctx context.Context, s subject, now time.Time) (store.TokenState, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tally(s)
	known, age := !t.readAt.IsZero(), now.Sub(t.readAt)
	if !known || age < 0 || age >= lookEvery {
		writes, sent := t.writes, t.sent > 0
		if known {
			t.readAt = now // concurrent calls use the cached state
			refresh, done := context.WithTimeout(ctx, lookTime)
			defer done()
			ctx = refresh
		}
		m.mu.Unlock()
		read, err := m.cfg.Store.State(ctx, s.tenant, s.caller, s.day)
		m.mu.Lock()
		switch {
		case err != nil && !known:
			return read, err
		case err != nil:
		case !known, writes == t.writes && !sent && t.sent == 0:
			t.quota, t.stored, t.readAt = read.Quota, max(t.stored, read.Used), now
		default:
			t.quota = read.Quota // a concurrent write has newer totals
		}
	}
	quota := t.quota
	if quota == 0 && s.caller != "" {
		quota = m.cfg.PerDay
	}
	return store.TokenState{Quota: quota, Used: t.used()}, nil
}
