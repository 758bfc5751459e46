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
		code := a.NewSignInCode("ann")
		_, err := a.TakeSignInCode("x" + code)
		require.ErrorIs(t, err, ErrNotFound)
		user, err := a.TakeSignInCode(code)
		require.NoError(t, err)
		require.Equal(t, "ann", user)
		_, err = a.TakeSignInCode(code)
		require.ErrorIs(t, err, ErrNotFound, "a code is valid once")

		late := a.NewSignInCode("ann")
		time.Sleep(SignInLasts + time.Second)
		_, err = a.TakeSignInCode(late)
		require.ErrorIs(t, err, ErrNotFound)
		a.NewSignInCode("bob")
		a.NewSignInCode("bob")
		require.Len(t, a.codes.list, 2, "expired codes are removed")
	})
}
