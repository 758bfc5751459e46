package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/easel-canvas/easel/host/internal/limit/memlimit"
	"github.com/easel-canvas/easel/host/internal/runs"
)

// runMemory is the memory of active runs: the engine reserves the memory of each, and a guard also
// checks that the process stays below its limit.
type runMemory struct {
	budget *memlimit.Budget
	limit  int64 // of the process
	usage  func() memlimit.Usage
	file   string // of the note for the next process; "" means none

	mu       sync.Mutex
	accounts map[string]*runAccount // of runs that hold memory
	calm     chan struct{}          // closed when the process is no longer short of memory; nil if it is not
	noted    bool                   // there is a note on the disk

	suspects map[string]bool // runs that most likely ended the previous process of this data directory
}

func newRunMemory(budget *memlimit.Budget, limit int64) *runMemory {
	budget.Reserve(reserveFor(budget.Size()), smallRun)
	return &runMemory{budget: budget, limit: limit, usage: memlimit.Used, accounts: map[string]*runAccount{}}
}

// runAccount is an [engine.Budget] for one run.
type runAccount struct {
	memory *runMemory
	run    string
	held   *memlimit.Account
}

// open makes the account of a run.
func (m *runMemory) open(run string) *runAccount {
	return &runAccount{memory: m, run: run, held: m.budget.Open()}
}

// weight is the number of bytes of memory per byte that a run holds: itself, its event, and the
// records on their way to the log and to clients. Measured with texts of megabytes.
const weight = 5

const (
	// smallRun is the size up to which a run waits for memory and may use the reserve: more than a
	// usual canvas takes at its start.
	smallRun = 256 << 10 * weight
	// memoryPatience bounds how long a small run waits for memory before it fails.
	memoryPatience = 2 * time.Second
)

// reserveFor returns the part of a budget of size bytes that only small runs may use, so that
// growing runs never prevent others from starting.
func reserveFor(size int64) int64 { return size / 8 }

// Grow reserves n bytes more, or releases -n. A small run waits for up to memoryPatience; a larger
// one fails immediately, since runs that wait for each other free nothing.
func (a *runAccount) Grow(n int64) error {
	n *= weight
	if n < 0 {
		a.shrink(-n)
		return nil
	}
	err := a.reserve(n)
	if err == nil {
		a.memory.add(a)
	}
	return err
}

func (a *runAccount) reserve(n int64) error {
	if a.held.Held()+n > smallRun {
		if a.memory.shortage() != nil {
			return errShort
		}
		return a.held.Grow(n)
	}
	ctx, done := context.WithTimeoutCause(context.Background(), memoryPatience, memlimit.ErrFull)
	defer done()
	if short := a.memory.shortage(); short != nil {
		select {
		case <-short:
		case <-ctx.Done():
			return errShort
		}
	}
	err := a.held.Wait(ctx, n)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("waited %s: %w", memoryPatience, context.Cause(ctx))
	}
	return err
}

func (a *runAccount) shrink(n int64) {
	m := a.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	a.held.Shrink(n)
	if a.held.Held() == 0 {
		delete(m.accounts, a.run)
	}
}

// add lists an account of a run that holds memory.
func (m *runMemory) add(a *runAccount) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.accounts[a.run] = a
}

// shortage returns nil unless the process is short of memory; it is closed when that is over.
func (m *runMemory) shortage() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calm
}

// errShort is the error of Grow while the process is short of memory.
var errShort = errors.New("the process is close to its memory limit")

// Full returns nil unless the process is short of memory.
func (m *runMemory) Full() error {
	if m.shortage() != nil {
		return fmt.Errorf("%w: %w", runs.ErrMemory, errShort)
	}
	return nil
}

// Suspect reports whether a run most likely ended the previous process of this data directory.
func (m *runMemory) Suspect(run string) bool { return m.suspects[run] }

const (
	watchEvery = 250 * time.Millisecond
	// Live data above guardAt of the limit is too much, because the collector needs room; below
	// calmAt runs start again.
	guardAt, calmAt = 0.75, 0.6
	// noteAt is the share from which a note names the runs that hold most.
	noteAt = 0.5
	// A death at resident memory above deathAt of the limit counts as one of memory.
	deathAt = 0.8
	// heavy is the least memory of a run that may have ended its host.
	heavy = 1 << 20
)

// watch checks the memory of the process once. It returns the run that has to end, or "".
func (m *runMemory) watch() (end string, err error) {
	u := m.usage()
	m.mu.Lock()
	defer m.mu.Unlock()
	live := float64(u.Live) / float64(m.limit)
	switch {
	case live > guardAt:
		if m.calm == nil {
			m.calm = make(chan struct{})
		}
		end = m.largest()
	case live < calmAt && m.calm != nil:
		close(m.calm)
		m.calm = nil
	}
	return end, m.note(u)
}

// largest returns the run that holds most, if it is enough to matter.
func (m *runMemory) largest() (run string) {
	most := int64(heavy)
	for id, a := range m.accounts {
		if n := a.held.Held(); n >= most {
			run, most = id, n
		}
	}
	return run
}

// memoryNote is the message to the next process of a data directory if this one runs out of memory.
type memoryNote struct {
	Limit    int64    `json:"limit"`
	Live     int64    `json:"live"`
	Resident int64    `json:"resident"`
	Runs     []string `json:"runs"` // that held most
}

// deadly reports whether a process that died in this condition ran out of memory.
func (n *memoryNote) deadly() bool {
	return float64(n.Live) > noteAt*float64(n.Limit) && float64(n.Resident) > deathAt*float64(n.Limit)
}

// note writes a note while the process holds much memory, and removes it afterwards.
func (m *runMemory) note(u memlimit.Usage) error {
	if m.file == "" {
		return nil
	}
	n := memoryNote{Limit: m.limit, Live: u.Live, Resident: u.Resident}
	if !n.deadly() {
		if !m.noted {
			return nil
		}
		m.noted = false
		return m.removeNote()
	}
	most := int64(0)
	for _, a := range m.accounts {
		most = max(most, a.held.Held())
	}
	for id, a := range m.accounts {
		if held := a.held.Held(); held >= heavy && held >= most/2 {
			n.Runs = append(n.Runs, id)
		}
	}
	data, err := json.Marshal(&n)
	if err != nil {
		return err
	}
	m.noted = true
	// The note is read after the end of this process, not of the machine, so it need not be synced.
	return os.WriteFile(m.file, data, 0o600)
}

// readNote takes the note of the previous process, if that ran out of memory.
func (m *runMemory) readNote() (*memoryNote, error) {
	data, err := os.ReadFile(m.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("memory note: %w", err)
	}
	var n memoryNote
	if err := json.Unmarshal(data, &n); err != nil || !n.deadly() {
		return nil, m.removeNote() // cut off in the middle of writing, or harmless
	}
	m.suspects = map[string]bool{}
	for _, id := range n.Runs {
		m.suspects[id] = true
	}
	return &n, m.removeNote()
}

func (m *runMemory) removeNote() error {
	if m.file == "" {
		return nil
	}
	if err := os.Remove(m.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("memory note: %w", err)
	}
	return nil
}

// readFormer determines whether the previous process of the data directory ran out of memory.
func (m *runMemory) readFormer(log *slog.Logger) error {
	if m.file == "" {
		return nil
	}
	n, err := m.readNote()
	if n != nil {
		log.Warn(
			"the former process of this data directory died of memory; the runs that held most are not tried again",
			"runs", n.Runs, "live", n.Live, "resident", n.Resident, "limit", n.Limit)
	}
	return err
}

// guard watches the memory of the process until done is closed, and aborts runs that hold too much.
func (m *runMemory) guard(done <-chan struct{}, working *runs.Runs, log *slog.Logger) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-done:
			if err := m.removeNote(); err != nil {
				log.Warn("memory note was not removed", "err", err)
			}
			return
		}
		run, err := m.watch()
		if err != nil {
			log.Warn("memory note was not written", "err", err)
		}
		if run != "" && working.Abort(run, fmt.Errorf("%w: %w", runs.ErrMemory, errShort)) {
			log.Error("host is short of memory; the run that holds most is aborted", "run", run, "limit", m.limit)
		}
	}
}
