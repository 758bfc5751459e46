// Package memlimit bounds the memory that requests, documents and runs use in one process.
//
// [Process] reads the memory limit of the process. A [Budget] is a share of it. Code that is about
// to hold data of an untrusted size opens an [Account] and grows it before allocating. Sizes are
// estimates of live bytes; a budget adds them up and never measures the heap.
package memlimit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// ErrFull means that the budget is exhausted: refuse the work, or retry when other work has
// finished.
var ErrFull = errors.New("memory budget exhausted")

// ErrTooLarge means that a request exceeds the whole budget: waiting does not help.
var ErrTooLarge = errors.New("larger than the memory budget")

// Budget is a number of bytes shared by accounts. It is safe for concurrent use.
type Budget struct {
	name    string
	size    int64
	reserve int64 // part of size for accounts of at most small bytes
	small   int64

	mu      sync.Mutex
	used    int64
	freed   chan struct{} // closed and replaced when bytes are released, or the queue changes
	waiting []*Account    // empty accounts that wait, in the order of arrival
}

// New returns a budget of size bytes. Errors contain name, such as "requests".
func New(name string, size int64) *Budget {
	return &Budget{name: name, size: size, freed: make(chan struct{})}
}

// Reserve sets n bytes of the budget aside for accounts of at most small bytes, so that large
// accounts cannot keep small ones from starting. Call it before the first account is opened.
func (b *Budget) Reserve(n, small int64) { b.reserve, b.small = n, small }

// room returns the number of bytes available in total to accounts of held bytes.
func (b *Budget) room(held int64) int64 {
	if held > b.small {
		return b.size - b.reserve
	}
	return b.size
}

// Size returns the size of the budget in bytes.
func (b *Budget) Size() int64 { return b.size }

// Used returns the number of reserved bytes.
func (b *Budget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// Open returns an empty account. Close it to release its bytes.
func (b *Budget) Open() *Account { return &Account{budget: b} }

// take reserves n more bytes for an account of held bytes, or returns a channel that is closed when
// a retry may succeed.
func (b *Budget) take(held, n int64) (freed <-chan struct{}, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > b.room(held+n)-b.used {
		return b.freed, false
	}
	b.used += n
	return nil, true
}

// takeInTurn is take for an empty account, which joins the queue and succeeds only at its head.
func (b *Budget) takeInTurn(a *Account, n int64) (freed <-chan struct{}, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	place := slices.Index(b.waiting, a)
	if n <= b.room(n)-b.used && (place == 0 || len(b.waiting) == 0) {
		b.used += n
		b.dequeue(place)
		return nil, true
	}
	if place < 0 {
		b.waiting = append(b.waiting, a)
	}
	return b.freed, false
}

// abandon removes an account from the queue.
func (b *Budget) abandon(a *Account) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dequeue(slices.Index(b.waiting, a))
}

// dequeue removes the entry at an index of the queue and wakes the waiters; a negative index is
// ignored.
func (b *Budget) dequeue(index int) {
	if index >= 0 {
		b.waiting = slices.Delete(b.waiting, index, index+1)
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

// Account is the reservation of one piece of work. A nil account is unbounded. It is safe for
// concurrent use.
type Account struct {
	budget *Budget

	mu     sync.Mutex
	held   int64
	closed bool
}

// Grow reserves n more bytes without waiting.
//
// Errors: [ErrTooLarge] if the account would exceed the whole budget, [ErrFull] if other accounts
// hold too much.
func (a *Account) Grow(n int64) error {
	_, err := a.grow(n, a.take)
	return err
}

// Wait is like Grow but waits until other accounts release enough bytes. Empty accounts are served
// in the order of arrival; an account that holds bytes bypasses the queue, since the queue may wait
// for those bytes.
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
			a.budget.abandon(a)
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

// grow reserves n more bytes with take.
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

// Shrink releases n bytes.
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

// Held returns the number of bytes the account has reserved.
func (a *Account) Held() int64 {
	if a == nil {
		return 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.held
}

// Close releases all bytes. A closed account reserves nothing more.
func (a *Account) Close() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.budget.release(a.held)
	a.budget.abandon(a)
	a.held, a.closed = 0, true
}
