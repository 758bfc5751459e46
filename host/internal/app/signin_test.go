package app

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSignInCode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a Accounts
		ended := 0
		code := a.NewSignInCode("ann", func() { ended++ })
		_, err := a.TakeSignInCode("x" + code)
		require.ErrorIs(t, err, ErrNotFound)
		user, err := a.TakeSignInCode(code)
		require.NoError(t, err)
		require.Equal(t, "ann", user)
		require.Equal(t, 1, ended)
		_, err = a.TakeSignInCode(code)
		require.ErrorIs(t, err, ErrNotFound, "a code is valid once")

		late := a.NewSignInCode("ann", func() { ended++ })
		a.NewSignInCode("bob", nil)
		time.Sleep(SignInLasts + time.Second)
		require.Equal(t, 2, ended, "an expired code")
		_, err = a.TakeSignInCode(late)
		require.ErrorIs(t, err, ErrNotFound)
		require.Empty(t, a.codes.list)
		require.Equal(t, 2, ended)
	})
}
