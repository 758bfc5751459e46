package login

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/api"
)

// attempts counts the attempts that a brake admits before it makes one wait.
func attempts(t *testing.T, b *loginBrake, l loginAttempt) (n int, wait time.Duration) {
	t.Helper()
	for {
		admitted, wait, err := b.admit(t.Context(), l)
		require.NoError(t, err)
		if wait > 0 {
			return n, wait
		}
		admitted.close(false)
		n++
	}
}

func TestLoginLimiterOverTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newLoginBrake(nil)
		n, wait := attempts(t, b, loginAttempt{network: "a", account: "ann"})
		require.Equal(t, 10, n)
		require.Equal(t, 6*time.Second, wait.Round(time.Second), "the network waits for the account's minute only when it tries it again")
		time.Sleep(wait)
		n, wait = attempts(t, b, loginAttempt{network: "a", account: "ann"})
		require.Zero(t, n)
		require.Equal(t, 54*time.Second, wait.Round(time.Second))
		n, _ = attempts(t, b, loginAttempt{network: "a", account: "bob"})
		require.Equal(t, 1, n)

		day, guesses := time.Now().Add(24*time.Hour), 0
		for time.Now().Before(day) {
			for i := range 100 {
				n, _ := attempts(t, b, loginAttempt{network: fmt.Sprint("net ", i), account: "eve"})
				guesses += n
			}
			time.Sleep(10 * time.Second)
		}
		const shared, each = 20 + 24*3600/10, 5 + 24 + 1
		require.LessOrEqual(t, guesses, shared+100*each, "100 networks, one account, one day")
		n, _ = attempts(t, b, loginAttempt{network: "fresh", account: "eve"})
		require.Positive(t, n)
		n, _ = attempts(t, b, loginAttempt{network: "net 1", account: "eve", device: "hers"})
		require.Equal(t, 10, n)
	})
}

func TestSucceededLoginsCountForNothing(t *testing.T) {
	b := newLoginBrake(nil)
	l := loginAttempt{network: "office", account: "ann"}
	for range 100 {
		admitted, wait, err := b.admit(t.Context(), l)
		require.NoError(t, err)
		require.Zero(t, wait)
		admitted.close(true)
	}
	require.Len(t, b.networks.Names(), 1)
}

func TestUnknownNetworksLeaveRoomForKnownOnes(t *testing.T) {
	b := newLoginBrake(nil)
	for i := range cap(b.unknowns) {
		_, _, err := b.admit(t.Context(), loginAttempt{network: fmt.Sprint(i), account: "ann"})
		require.NoError(t, err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	_, _, err := b.admit(gone, loginAttempt{network: "one more", account: "ann"})
	require.ErrorIs(t, err, context.Canceled)
	for _, l := range []loginAttempt{{network: "n", account: "ann", device: "hers"}, {network: "n", account: "ann", known: true}} {
		_, wait, err := b.admit(gone, l)
		require.NoError(t, err)
		require.Zero(t, wait)
	}
}

func TestLoginLimiterIsBounded(t *testing.T) {
	b := newLoginBrake(nil)
	long := strings.Repeat("x", 1<<10)
	for i := range api.MaxNames * 5 / 4 {
		l := loginAttempt{network: fmt.Sprint(i), account: long + fmt.Sprint(i)}
		admitted, _, err := b.admit(t.Context(), l)
		require.NoError(t, err)
		admitted.close(false)
		b.known.add(l.pair())
	}
	for _, th := range []*api.Throttle{&b.networks, &b.accounts, &b.pairs, &b.wary, &b.devices} {
		require.LessOrEqual(t, len(th.Names()), api.MaxNames)
	}
	require.LessOrEqual(t, len(b.known.list), api.MaxNames)
	for _, name := range b.accounts.Names() {
		require.Len(t, name, 32)
	}
}
