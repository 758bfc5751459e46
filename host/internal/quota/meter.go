package quota

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/easel-canvas/easel/host/internal/store"
)

// Records keep what was used, for all hosts; a [store.Store] does.
type Records interface {
	TokenState(ctx context.Context, tenant, caller string, day int64) (store.TokenState, error)
	AddTokens(ctx context.Context, uses []store.TokenUse) (totals []int64, err error)
	ForgetTokens(ctx context.Context, day int64) error
}

// Config is what a meter needs. Store is required.
type Config struct {
	Store Records
	// PerDay is the quota of callers without one of their own, in tokens; 0 means
	// none. Tenants have only their own.
	PerDay int64
	// Used is called with tokens that were used, and Refused for calls that were refused,
	// for metrics; nil for none.
	Used    func(tenant string, tokens int64)
	Refused func(tenant string)
	// Now gives the time; nil means time.Now.
	Now func() time.Time
	// Log takes what an operator should know; nil means slog.Default.
	Log *slog.Logger
}

const (
	// writeEvery is how long tokens wait to be written.
	writeEvery = time.Second
	// lookEvery is how old what is known from the store may be when a call asks.
	lookEvery = 2 * time.Second
	// lookTime bounds how long a call waits for news of who is known.
	lookTime = time.Second
	// keepFor is how long what is known of somebody outlives its last use, so that
	// a store that is away for a while stops no run that is under way.
	keepFor = time.Hour
	// closeTime bounds the last write of a meter that closes.
	closeTime = 5 * time.Second
)

// Meter counts for one host. It is safe for concurrent use.
type Meter struct {
	cfg Config

	mu   sync.Mutex
	list map[subject]*tally
	open bool // something waits to be written

	writing sync.Mutex      // held by who writes
	life    context.Context // of writes
	end     context.CancelFunc
	kick    chan struct{}
	quit    chan struct{}
	last    chan error // of the last write
	close   func() error
}

// subject is what is counted: a caller, or with caller "" its tenant, on a day.
type subject struct {
	tenant, caller string
	day            int64
}

// tally is what this host knows of a subject.
type tally struct {
	quota   int64     // 0 means none
	stored  int64     // of all hosts, when the store was last asked or told
	sent    int64     // on its way to the store
	waiting int64     // to be written
	looked  time.Time // when the store was last asked; zero before
	told    int       // how often the store was told
}

func (t *tally) used() int64 { return min(t.stored+t.sent+t.waiting, store.MostTokens) }

// New makes a meter. [Meter.Close] ends it.
func New(cfg Config) *Meter {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	m := &Meter{cfg: cfg, list: map[subject]*tally{}, kick: make(chan struct{}, 1), quit: make(chan struct{}), last: make(chan error, 1)}
	m.life, m.end = context.WithCancel(context.Background())
	m.close = sync.OnceValue(m.stop)
	go m.work()
	return m
}

// today is the present day and when the next one begins.
func (m *Meter) today() (now time.Time, day int64, next time.Time) {
	const long = 24 * 60 * 60
	now = m.cfg.Now().UTC()
	day = now.Unix() / long
	return now, day, time.Unix((day+1)*long, 0).UTC()
}

// Account counts for one caller of a tenant, or with caller "" for the tenant
// only.
type Account struct {
	meter          *Meter
	tenant, caller string
}

// Of gives the account of a caller.
func (m *Meter) Of(tenant, caller string) *Account { return &Account{m, tenant, caller} }

// Allow lets a call begin, or refuses it with a [*UsedUp]. Errors of the store
// are passed on when nothing is known yet; later on, what was known counts.
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

// Spend counts the tokens of a call. It never waits.
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
	m.open = true
	m.mu.Unlock()
	if m.cfg.Used != nil {
		m.cfg.Used(a.tenant, tokens)
	}
}

// subjects are what the account counts for: the tenant and the caller.
func (a *Account) subjects(day int64) []subject {
	out := []subject{{a.tenant, "", day}}
	if a.caller != "" {
		out = append(out, subject{a.tenant, a.caller, day})
	}
	return out
}

// State is what a caller, or with "" its tenant, may use and has used today,
// and when the next day begins.
func (m *Meter) State(ctx context.Context, tenant, caller string) (state store.TokenState, next time.Time, err error) {
	now, day, next := m.today()
	state, err = m.look(ctx, subject{tenant, caller, day}, now)
	return state, next, err
}

// Today is the day that is counted now, in days since 1970-01-01.
func (m *Meter) Today() int64 {
	_, day, _ := m.today()
	return day
}

// tally finds or makes what is known of a subject; mu is held.
func (m *Meter) tally(s subject) *tally {
	t := m.list[s]
	if t == nil {
		t = &tally{}
		m.list[s] = t
	}
	return t
}

// look is what is known of a subject, not older than lookEvery.
func (m *Meter) look(ctx context.Context, s subject, now time.Time) (store.TokenState, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.tally(s)
	known, age := !t.looked.IsZero(), now.Sub(t.looked)
	if !known || age < 0 || age >= lookEvery {
		told, sent := t.told, t.sent > 0
		if known {
			t.looked = now // others go on with what is known
			late, done := context.WithTimeout(ctx, lookTime)
			defer done()
			ctx = late
		}
		m.mu.Unlock()
		read, err := m.cfg.Store.TokenState(ctx, s.tenant, s.caller, s.day)
		m.mu.Lock()
		switch {
		case err != nil && !known:
			return read, err
		case err != nil:
		case !known, told == t.told && !sent && t.sent == 0:
			t.quota, t.stored, t.looked = read.Quota, max(t.stored, read.Used), now
		default:
			t.quota = read.Quota // a write crossed the reading and knows better what is used
		}
	}
	quota := t.quota
	if quota == 0 && s.caller != "" {
		quota = m.cfg.PerDay
	}
	return store.TokenState{Quota: quota, Used: t.used()}, nil
}
