package limit

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// bench records the calls that a limiter starts, in order.
type bench struct {
	t       *testing.T
	limiter *Limiter

	mu      sync.Mutex // guards what follows while calls start
	started []string
	turns   map[string]*Turn
}

func newBench(t *testing.T, cfg Config) *bench {
	l, err := New(cfg)
	require.NoError(t, err)
	return &bench{t: t, limiter: l, turns: map[string]*Turn{}}
}

// enter starts a goroutine in which a call enters; it is in its queue when enter returns.
func (b *bench) enter(name string, c Call) {
	go func() {
		turn, err := b.limiter.Enter(b.t.Context(), c)
		b.mu.Lock()
		defer b.mu.Unlock()
		if err != nil {
			b.started = append(b.started, name+" failed")
			return
		}
		b.turns[name] = turn
		b.started = append(b.started, name)
	}()
	synctest.Wait()
}

func (b *bench) turn(name string) *Turn {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.turns[name]
}

func (b *bench) leave(name string, tokens int64) {
	b.turn(name).Leave(tokens)
	synctest.Wait()
}

// take returns the calls started since the last take.
func (b *bench) take() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.started
	b.started = nil
	return out
}

func TestRunWithManyCallsDoesNotStarveOneWithFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Config{Model: Limits{Concurrency: 1}})
		many := Call{Tenant: "t", Run: "many", Model: "m"}
		for i := range 100 {
			b.enter(fmt.Sprint("many", i), many)
		}
		b.enter("few", Call{Tenant: "t", Run: "few", Model: "m"})
		require.Equal(t, []string{"many0"}, b.take())
		b.leave("many0", 0)
		b.leave("many1", 0)
		require.Equal(t, []string{"many1", "few"}, b.take(), "after one more call of the other run")
		b.leave("few", 0)
		require.Equal(t, []string{"many2"}, b.take(), "in the order of the run")
	})
}

func TestRunsThatComeBackDoNotStarveOneThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Config{Model: Limits{Concurrency: 1}})
		call := func(run string) Call { return Call{Tenant: "t", Run: run, Model: "m"} }
		b.enter("a0", call("a"))
		for i := range 20 {
			b.enter(fmt.Sprint("many", i), call("many"))
		}
		b.enter("b0", call("b"))
		started := b.take()
		for i := range 30 { // a and b have one call at a time, and always the next one
			last := started[len(started)-1]
			b.leave(last, 0)
			if last[0] != 'm' {
				b.enter(fmt.Sprint(last[:1], i+1), call(last[:1]))
			}
			started = append(started, b.take()...)
		}
		served := 0
		for _, name := range started {
			if name[0] == 'm' {
				served++
			}
		}
		require.GreaterOrEqual(t, served, 9, "a third of %v", started)
	})
}

func TestTenantWithManyRunsDoesNotStarveAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Config{Model: Limits{Concurrency: 1}})
		for i := range 50 {
			b.enter(fmt.Sprint("big", i), Call{Tenant: "big", Run: fmt.Sprint(i), Model: "m"})
		}
		b.enter("small", Call{Tenant: "small", Run: "r", Model: "m"})
		b.leave("big0", 0)
		b.leave("big1", 0)
		require.Equal(t, []string{"big0", "big1", "small"}, b.take())
	})
}

func TestScopesBoundCallsAtOnce(t *testing.T) {
	for name, cfg := range map[string]Config{
		"run":    {Run: Limits{Concurrency: 2}},
		"tenant": {Tenant: Limits{Concurrency: 2}},
		"model":  {Model: Limits{Concurrency: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, cfg)
				same := Call{Tenant: "t", Run: "r", Model: "m"}
				b.enter("1", same)
				b.enter("2", same)
				b.enter("3", same)
				b.enter("other", Call{Tenant: "t2", Run: "r2", Model: "m2"})
				require.Equal(t, []string{"1", "2", "other"}, b.take())
				b.leave("2", 0)
				require.Equal(t, []string{"3"}, b.take())
			})
		})
	}
}

func TestCallToAnotherModelPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Config{})
		slow := Call{Tenant: "t", Run: "r", Model: "slow", Limits: Limits{Concurrency: 1}}
		b.enter("slow1", slow)
		b.enter("slow2", slow)
		b.enter("fast", Call{Tenant: "t", Run: "r", Model: "fast"})
		require.Equal(t, []string{"slow1", "fast"}, b.take())
	})
}

func TestRequestsOfAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Config{Model: Limits{Requests: 3}})
		call := Call{Tenant: "t", Run: "r", Model: "m"}
		for i := range 3 {
			b.enter(fmt.Sprint(i), call)
			time.Sleep(10 * time.Second)
		}
		b.turn("0").Retry() // at 30 s; counts like a fourth request
		b.leave("0", 0)
		b.enter("3", call)
		b.enter("4", call)
		require.Equal(t, []string{"0", "1", "2"}, b.take())
		time.Sleep(30*time.Second - 1)
		require.Empty(t, b.take(), "four requests in the last minute")
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		require.Empty(t, b.take(), "the retry still counts")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.Equal(t, []string{"3"}, b.take(), "a minute after the second one")
		require.Equal(t, 40*time.Second, b.turn("3").Waited())
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.Equal(t, []string{"4"}, b.take())
	})
}

func TestTokensOfAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Config{Tenant: Limits{Tokens: 1000}})
		call := func(tokens int64) Call { return Call{Tenant: "t", Run: "r", Model: "m", Tokens: tokens} }
		b.enter("1", call(600))
		b.enter("2", call(300))
		b.enter("3", call(200))
		require.Equal(t, []string{"1", "2"}, b.take())
		b.leave("1", 450) // it used fewer than estimated
		require.Equal(t, []string{"3"}, b.take())
		time.Sleep(time.Second)
		b.leave("2", 900) // it used more
		b.enter("4", call(1))
		time.Sleep(59*time.Second - 1)
		require.Empty(t, b.take())
		time.Sleep(time.Nanosecond) // the estimates of the first second are a minute ago, the 600 more are not
		synctest.Wait()
		require.Equal(t, []string{"4"}, b.take())
	})
}

func TestRequestBeyondTheTokensOfAMinuteStartsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Config{Model: Limits{Tokens: 100}})
		b.enter("small", Call{Run: "a", Model: "m", Tokens: 10})
		b.enter("large", Call{Run: "b", Model: "m", Tokens: 500})
		b.enter("next", Call{Run: "c", Model: "m", Tokens: 10})
		require.Equal(t, []string{"small"}, b.take(), "what came later does not take the room of the large one")
		time.Sleep(minute)
		synctest.Wait()
		require.Equal(t, []string{"large"}, b.take())
		time.Sleep(minute)
		synctest.Wait()
		require.Equal(t, []string{"next"}, b.take())
	})
}

func TestPauseHoldsAllRunsOfTheModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Config{})
		b.enter("told", Call{Tenant: "t", Run: "a", Model: "m"})
		b.turn("told").Pause(20 * time.Second)
		b.enter("same run", Call{Tenant: "t", Run: "a", Model: "m"})
		b.enter("other tenant", Call{Tenant: "u", Run: "b", Model: "m"})
		b.enter("other model", Call{Tenant: "t", Run: "a", Model: "n"})
		require.Equal(t, []string{"told", "other model"}, b.take())
		require.Equal(t, 20*time.Second, b.turn("told").Paused())
		time.Sleep(20 * time.Second)
		synctest.Wait()
		require.ElementsMatch(t, []string{"same run", "other tenant"}, b.take())
		require.Equal(t, 20*time.Second, b.turn("same run").Waited())
	})
}

func TestLongPauseFailsCallsInPlaceOfKeepingThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Config{Model: Limits{Concurrency: 1}})
		call := Call{Tenant: "t", Run: "a", Model: "m"}
		b.enter("told", call)
		b.enter("waiting", call)
		b.turn("told").Pause(time.Hour)
		synctest.Wait()
		_, err := b.limiter.Enter(t.Context(), call)
		var paused *PausedError
		require.ErrorAs(t, err, &paused)
		require.Equal(t, []string{"told", "waiting failed"}, b.take())
		time.Sleep(maxPause)
		b.leave("told", 0)
		b.enter("later", call)
		require.Equal(t, []string{"later"}, b.take())
	})
}

// A stream whose reader waits for another call would otherwise keep that call from starting.
func TestBlockedCallFreesItsSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Config{Model: Limits{Concurrency: 1}})
		call := Call{Tenant: "t", Run: "r", Model: "m"}
		b.enter("stream", call)
		b.enter("needed", call)
		require.Equal(t, []string{"stream"}, b.take())
		require.True(t, b.turn("stream").Hold(func() bool {
			time.Sleep(restAfter - time.Nanosecond)
			synctest.Wait()
			require.Empty(t, b.take(), "a short step keeps the slot")
			time.Sleep(time.Nanosecond)
			synctest.Wait()
			require.Equal(t, []string{"needed"}, b.take())
			return true
		}))
		b.enter("next", call)
		b.leave("needed", 0)
		require.Empty(t, b.take(), "the stream has its slot again")
		b.leave("stream", 0)
		require.Equal(t, []string{"next"}, b.take())
	})
}

func TestCanceledCallLeavesTheQueueAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Config{Model: Limits{Concurrency: 1}})
		call := Call{Tenant: "t", Run: "a", Model: "m"}
		b.enter("first", call)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			_, err := b.limiter.Enter(ctx, call)
			ended <- err
		}()
		synctest.Wait()
		b.enter("behind", call)
		require.Equal(t, 2, b.limiter.Waiting())
		cancel()
		require.ErrorIs(t, <-ended, context.Canceled)
		require.Equal(t, 1, b.limiter.Waiting())
		b.leave("first", 0)
		require.Equal(t, []string{"first", "behind"}, b.take())
		_, err := b.limiter.Enter(ctx, call)
		require.ErrorIs(t, err, context.Canceled)
	})
}

func TestSlotsAreNeverLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Config{
			Model: Limits{Concurrency: 3}, Run: Limits{Concurrency: 2}, Tenant: Limits{Requests: 1000},
		})
		ended := make(chan bool)
		const calls = 300
		for i := range calls {
			go func() {
				defer func() { ended <- recover() != nil }()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if i%3 == 0 {
					time.AfterFunc(time.Duration(i)*time.Second, cancel) // some exactly when others leave
				}
				turn, err := b.limiter.Enter(ctx, Call{Tenant: "t", Run: fmt.Sprint(i % 4), Model: "m", Tokens: 5})
				if err != nil {
					return
				}
				defer turn.Leave(7)
				time.Sleep(time.Second)
				if i%5 == 0 {
					panic("a failing call")
				}
				turn.Leave(1) // the deferred one does nothing
			}()
		}
		panicked := 0
		for range calls {
			if <-ended {
				panicked++
			}
		}
		require.Positive(t, panicked)
		require.Zero(t, b.limiter.Waiting())
		for _, s := range b.limiter.scopes {
			require.Zero(t, s.active, s.key)
			require.Zero(t, s.queued, s.key)
		}
		require.Empty(t, b.limiter.tenants)
		time.Sleep(2 * minute)
		turn, err := b.limiter.Enter(t.Context(), Call{Model: "m"})
		require.NoError(t, err)
		turn.Leave(0)
		require.Len(t, b.limiter.scopes, 1, "of idle runs nothing is remembered; the last tenant has a minute to count")
	})
}

func TestNilLimiterAdmitsAll(t *testing.T) {
	var l *Limiter
	turn, err := l.Enter(t.Context(), Call{})
	require.NoError(t, err)
	turn.Retry()
	turn.Pause(time.Hour)
	turn.Leave(1)
	require.Zero(t, turn.Waited()+turn.Paused())
	require.Zero(t, l.Waiting())
}

func TestConfigNamesItsErrors(t *testing.T) {
	var c Config
	for i, name := range Names() {
		require.NoError(t, c.Set(name, int64(i+1)))
	}
	require.Equal(t, Config{Run: Limits{1, 2, 3}, Tenant: Limits{4, 5, 6}, Model: Limits{7, 8, 9}}, c)
	require.ErrorContains(t, c.Set("run.words", 1), "run.concurrency")
	require.Equal(t, Limits{1, 5, 3}, Limits{1, 0, 3}.Or(Limits{4, 5, 6}))
	_, err := New(Config{Tenant: Limits{Requests: -1}})
	require.EqualError(t, err,
		"tenant limits: requests_per_minute is -1; expected a number above 0, or 0 for no limit")
}
