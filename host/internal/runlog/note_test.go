package runlog

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestNoteBookRemovesOnlyWhatMayGo plays notes that are sent, stored out of
// order and closed against a stream.
func TestNoteBookRemovesOnlyWhatMayGo(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		var b noteBook
		var next uint64
		stream := map[uint64]*Lease{}
		seqs := map[*Lease]uint64{}
		var sent, held []*Lease
		remove := func(all bool) {
			below, single := b.take(all)
			for seq := range stream {
				if seq < below {
					delete(stream, seq)
				}
			}
			for _, seq := range single {
				delete(stream, seq)
			}
			for _, e := range append(sent, held...) {
				if seq, ok := seqs[e]; ok {
					require.Same(t, e, stream[seq], "seed %d", seed)
				}
			}
		}
		pick := func(list *[]*Lease) *Lease {
			i := r.IntN(len(*list))
			e := (*list)[i]
			*list = append((*list)[:i:i], (*list)[i+1:]...)
			return e
		}
		for range 300 {
			switch n := r.IntN(10); {
			case n < 4:
				e := &Lease{}
				b.open(e)
				sent = append(sent, e)
				if r.IntN(4) > 0 { // the stream has it at once, its host gets the answer later
					next++
					stream[next], seqs[e] = e, next
				}
			case n < 6 && len(sent) > 0:
				e := pick(&sent)
				if seqs[e] == 0 {
					next++
					stream[next], seqs[e] = e, next
				}
				b.stored(e, seqs[e])
				held = append(held, e)
			case n < 9 && len(held) > 0:
				b.close(pick(&held))
			default:
				remove(false)
			}
		}
		for len(sent) > 0 { // ended before they were stored
			e := pick(&sent)
			b.close(e)
			if seqs[e] == 0 {
				next++
				stream[next], seqs[e] = e, next
			}
			b.stored(e, seqs[e])
		}
		for len(held) > 1 {
			b.close(pick(&held))
		}
		remove(true)
		require.Len(t, stream, len(held), "seed %d", seed)
	}
}

// TestNotesOfEndedRunsAreDeleted executes many short runs during a long one: in the end its note is
// the only one.
func TestNotesOfEndedRunsAreDeleted(t *testing.T) {
	l := openTest(t, setup{})
	end := func(id string) {
		e, err := l.Claim(t.Context(), Run{ID: id})
		require.NoError(t, err)
		require.NoError(t, e.End(context.WithoutCancel(t.Context()), rec("ev", "x")))
	}
	for i := range 10 {
		end(fmt.Sprint("before-", i))
	}
	long, err := l.Claim(t.Context(), Run{ID: "long"})
	require.NoError(t, err)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 100 {
				end(fmt.Sprint(i, "-", n))
			}
		})
	}
	all.Wait()
	require.Eventually(t, func() bool {
		notes, err := l.notes.subjects(t.Context(), "*")
		return err == nil && len(notes) == 1
	}, patience, 20*time.Millisecond)
	held, err := l.Held()
	require.NoError(t, err)
	require.Equal(t, map[string]bool{"long": true}, held)
	require.NoError(t, long.End(t.Context()))
}
