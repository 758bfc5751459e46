package memlimit

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

func TestAccountRefusesWhatBudgetLacks(t *testing.T) {
	b := New("requests", 100)
	first, second := b.Open(), b.Open()
	require.NoError(t, first.Grow(60))
	require.ErrorIs(t, second.Grow(41), ErrFull)
	require.ErrorIs(t, second.Grow(101), ErrTooLarge)
	require.ErrorIs(t, first.Grow(math.MaxInt64), ErrTooLarge)
	require.EqualError(t, second.Grow(41), "requests: memory budget exhausted (100 bytes)")
	require.NoError(t, second.Grow(40))
	first.Shrink(10)
	require.EqualValues(t, 50, first.Held())
	require.EqualValues(t, 90, b.Used())
	first.Close()
	first.Close()
	require.NoError(t, first.Grow(1000), "a closed account reserves nothing")
	require.EqualValues(t, 40, b.Used())
	second.Shrink(1000)
	require.Zero(t, b.Used())
}

func TestNilAccountIsUnbounded(t *testing.T) {
	var a *Account
	require.NoError(t, a.Grow(math.MaxInt64))
	require.NoError(t, a.Wait(t.Context(), 1))
	a.Shrink(1)
	a.Close()
	require.Zero(t, a.Held())
}

func TestWaitContinuesAfterRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New("documents", 10)
		holder := b.Open()
		require.NoError(t, holder.Grow(10))
		waiter, done := b.Open(), make(chan error, 1)
		go func() { done <- waiter.Wait(t.Context(), 6) }()
		synctest.Wait()
		require.Empty(t, done)
		holder.Shrink(5)
		synctest.Wait()
		require.Empty(t, done, "5 bytes are not 6")
		holder.Close()
		require.NoError(t, <-done)
		require.EqualValues(t, 6, b.Used())
		require.ErrorIs(t, waiter.Wait(t.Context(), 5), ErrTooLarge)

		ctx, cancel := context.WithCancelCause(t.Context())
		go func() { done <- b.Open().Wait(ctx, 5) }()
		synctest.Wait()
		cancel(errors.New("gone"))
		require.ErrorIs(t, <-done, context.Canceled)
	})
}

func TestWaitIsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New("scripts", 10)
		holder := b.Open()
		require.NoError(t, holder.Grow(6))
		got := make(chan string, 4)
		wait := func(name string, ctx context.Context, n int64) *Account {
			a := b.Open()
			go func() {
				if a.Wait(ctx, n) == nil {
					got <- name
				}
			}()
			synctest.Wait()
			return a
		}
		ctx, cancel := context.WithCancel(t.Context())
		first := wait("first", t.Context(), 8)
		wait("gone", ctx, 8)
		third := wait("third", t.Context(), 4)
		require.Empty(t, got, "4 bytes are free, and an account that needs 8 is before the one that needs 4")
		require.NoError(t, holder.Wait(t.Context(), 1), "an account that others wait for does not wait for them")
		holder.Close()
		synctest.Wait()
		require.Equal(t, "first", <-got)
		require.Empty(t, got)
		cancel()
		synctest.Wait()
		require.Empty(t, got, "2 bytes are free")
		first.Close()
		synctest.Wait()
		require.Equal(t, "third", <-got)
		third.Close()
		require.Zero(t, b.Used())
		require.NoError(t, b.Open().Wait(t.Context(), 10), "the queue is empty")
	})
}

func TestReserveIsForSmallAccounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New("runs", 100)
		b.Reserve(20, 8)
		large, small := b.Open(), b.Open()
		require.ErrorIs(t, large.Grow(81), ErrTooLarge)
		require.EqualError(t, large.Grow(81), "runs: 81 bytes: larger than the memory budget of 80 bytes")
		require.NoError(t, large.Grow(80))
		require.ErrorIs(t, b.Open().Grow(9), ErrFull)
		require.NoError(t, small.Grow(8))
		require.ErrorIs(t, small.Grow(1), ErrFull, "the account is no longer small")
		second := b.Open()
		require.NoError(t, second.Grow(8))

		done := make(chan error, 1)
		go func() { done <- b.Open().Wait(t.Context(), 8) }()
		synctest.Wait()
		large.Shrink(4)
		require.ErrorIs(t, large.Grow(1), ErrFull, "freed bytes go to the small account that waits")
		require.NoError(t, <-done)
		require.EqualValues(t, 100, b.Used())
	})
}

func TestBudgetUnderConcurrency(t *testing.T) {
	b := New("runs", 64)
	var group sync.WaitGroup
	for range 32 {
		group.Go(func() {
			for range 200 {
				a := b.Open()
				if a.Wait(t.Context(), 20) == nil && b.Used() > b.Size() {
					t.Error("more used than there is")
				}
				a.Close()
			}
		})
	}
	group.Wait()
	require.Zero(t, b.Used())
}

func TestLimitsOfControlGroups(t *testing.T) {
	write := func(files map[string]string) string {
		root := t.TempDir()
		for name, text := range files {
			file := filepath.Join(root, name)
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
			require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		}
		return root
	}
	meminfo := "MemTotal:       24000000 kB\nMemFree: 1 kB\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"nothing known": {nil, math.MaxInt64},
		"machine":       {map[string]string{"proc/meminfo": meminfo}, 24000000 << 10},
		"version 2, limit of an outer group": {map[string]string{
			"proc/meminfo":                             meminfo,
			"proc/self/cgroup":                         "0::/pods/easel/main\n",
			"sys/fs/cgroup/pods/memory.max":            "1073741824\n",
			"sys/fs/cgroup/pods/easel/main/memory.max": "max\n",
		}, 1 << 30},
		"version 2 in a container": {map[string]string{
			"proc/self/cgroup":         "0::/\n",
			"sys/fs/cgroup/memory.max": "536870912\n",
		}, 512 << 20},
		"version 1": {map[string]string{
			"proc/self/cgroup":                           "5:cpu,cpuacct:/a\n4:memory:/docker/abc\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "2147483648\n",
		}, 2 << 30},
		"no limit set": {map[string]string{
			"proc/meminfo":     meminfo,
			"proc/self/cgroup": "4:memory:/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
		}, 24000000 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, readLimits(write(c.files)))
		})
	}
	require.Positive(t, Process())
}
