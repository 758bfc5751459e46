// Package memlimit bounds the memory that requests, documents and runs hold in one process.
//
// [Process] reads the memory limit of the process. A [Budget] is a share of it: whoever is about to
// hold data of a size that strangers choose opens an [Account] and grows it before allocating.
// Sizes are estimates of live bytes; a budget adds them up and never measures the heap.
package memlimit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// ErrFull means that a budget has no room left: refuse the work, or try again when other work has
// ended.
var ErrFull = errors.New("memory budget exhausted")

// ErrTooLarge means that a request exceeds the whole budget: waiting cannot help.
var ErrTooLarge = errors.New("larger than the memory budget")

// Budget is a number of bytes that accounts share. It is safe for concurrent use.
type Budget struct {
	name    string
	size    int64
	reserve int64 // of size, for accounts of at most small bytes
	small   int64

	mu      sync.Mutex
	used    int64
	freed   chan struct{} // closed and replaced when bytes are released, or the queue changes
	waiting []*Account    // accounts that hold nothing yet, in the order in which they began to wait
}

// New makes a budget of size bytes. name appears in errors, as in "requests".
func New(name string, size int64) *Budget {
	return &Budget{name: name, size: size, freed: make(chan struct{})}
}

// Reserve keeps n bytes of the budget for accounts that hold at most small bytes, so that those
// that grow beyond it cannot keep small ones from starting. Call it before the first account is
// opened.
func (b *Budget) Reserve(n, small int64) { b.reserve, b.small = n, small }

// room is the number of bytes that an account of held bytes may take part in.
func (b *Budget) room(held int64) int64 {
	if held > b.small {
		return b.size - b.reserve
	}
	return b.size
}

// Size is the number of bytes of the whole budget.
func (b *Budget) Size() int64 { return b.size }

// Used is the number of bytes that open accounts hold.
func (b *Budget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// Open makes an account that holds nothing. Close it to give its bytes back.
func (b *Budget) Open() *Account { return &Account{budget: b} }

// take reserves n more bytes for an account that holds as many as held, or returns the channel that
// is closed when it is worth another try.
func (b *Budget) take(held, n int64) (freed <-chan struct{}, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > b.room(held+n)-b.used {
		return b.freed, false
	}
	b.used += n
	return nil, true
}

// takeInTurn is take for an account that holds nothing: it stands in the queue until it is the
// first.
func (b *Budget) takeInTurn(a *Account, n int64) (freed <-chan struct{}, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	place := slices.Index(b.waiting, a)
	if n <= b.room(n)-b.used && (place == 0 || len(b.waiting) == 0) {
		b.used += n
		b.leave(place)
		return nil, true
	}
	if place < 0 {
		b.waiting = append(b.waiting, a)
	}
	return b.freed, false
}

// giveUp removes an account from the queue.
func (b *Budget) giveUp(a *Account) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.leave(slices.Index(b.waiting, a))
}

// leave removes a place of the queue, if it is one, and lets the next try.
func (b *Budget) leave(place int) {
	if place >= 0 {
		b.waiting = slices.Delete(b.waiting, place, place+1)
		b.wake()
	}
}

func (b *Budget) release(n int64) {
	if n == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= n
	b.wake()
}

func (b *Budget) wake() {
	close(b.freed)
	b.freed = make(chan struct{})
}

// Account is what one piece of work holds of a budget. A nil account is unbounded. It is safe for
// concurrent use.
type Account struct {
	budget *Budget

	mu     sync.Mutex
	held   int64
	closed bool
}

// Grow reserves n more bytes at once.
//
// Errors: [ErrTooLarge] when the account would exceed the whole budget, [ErrFull] when other
// accounts hold too much.
func (a *Account) Grow(n int64) error {
	_, err := a.grow(n, a.take)
	return err
}

// Wait is Grow that waits for other accounts to release bytes. Accounts that hold nothing get
// theirs in the order in which they began to wait; one that holds bytes does not stand behind them,
// since they may wait for its bytes.
//
// Errors: [ErrTooLarge], and the error of ctx.
func (a *Account) Wait(ctx context.Context, n int64) error {
	for {
		freed, err := a.grow(n, a.takeInTurn)
		if freed == nil {
			return err
		}
		select {
		case <-freed:
		case <-ctx.Done():
			a.budget.giveUp(a)
			return ctx.Err()
		}
	}
}

func (a *Account) take(n int64) (freed <-chan struct{}, ok bool) { return a.budget.take(a.held, n) }

func (a *Account) takeInTurn(n int64) (freed <-chan struct{}, ok bool) {
	if a.held > 0 {
		return a.budget.take(a.held, n)
	}
	return a.budget.takeInTurn(a, n)
}

// grow reserves n more bytes as take does.
func (a *Account) grow(n int64, take func(int64) (<-chan struct{}, bool)) (freed <-chan struct{}, err error) {
	if a == nil || n <= 0 {
		return nil, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, nil
	}
	b := a.budget
	if room := b.room(a.held + n); n > room-a.held {
		return nil, fmt.Errorf("%s: %d bytes: %w of %d bytes", b.name, a.held+n, ErrTooLarge, room)
	}
	freed, ok := take(n)
	if !ok {
		return freed, fmt.Errorf("%s: %w (%d bytes)", b.name, ErrFull, b.size)
	}
	a.held += n
	return nil, nil
}

// Shrink gives n bytes back.
func (a *Account) Shrink(n int64) {
	if a == nil || n <= 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	n = min(n, a.held)
	a.held -= n
	a.budget.release(n)
}

// Held is the number of bytes the account has reserved.
func (a *Account) Held() int64 {
	if a == nil {
		return 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.held
}

// Close gives everything back. An account that is closed reserves nothing more.
func (a *Account) Close() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.budget.release(a.held)
	a.budget.giveUp(a)
	a.held, a.closed = 0, true
}
