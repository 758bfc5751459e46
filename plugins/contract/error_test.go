package contract

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGuestError(t *testing.T) {
	for _, c := range []struct {
		name, raw string
		want      Error
	}{
		{"nothing", "", Error{Code: Internal, Message: "returned 7 and no error message"}},
		{"text", "boom", Error{Code: Internal, Message: "boom"}},
		{"text that is not UTF-8", "a\xff", Error{Code: Internal, Message: "a\uFFFD"}},
		{"JSON without a code", `{"message":"m"}`, Error{Code: Internal, Message: `{"message":"m"}`}},
		{"a code that is not a string", `{"code":1}`, Error{Code: Internal, Message: `{"code":1}`}},
		{"a code defined by the plugin", `{"code":"not_found","message":"m"}`, Error{Code: NotFound, Message: "m"}},
		{
			"a retryable error", `{"code":"upstream","message":"m","retryable":true}`,
			Error{Code: Upstream, Message: "m", Retryable: true},
		},
		{
			"a code of the host", `{"code":"denied","message":"m","retryable":true}`,
			Error{Code: Internal, Message: "denied: m"},
		},
		{"an unknown code", `{"code":"x","message":"m"}`, Error{Code: Internal, Message: "x: m"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, &c.want, GuestError([]byte(c.raw), 7))
		})
	}
	e := GuestError([]byte(`{"code":"rate_limited","message":"m","data":{"retry_after_ms":9007199254740993}}`), 1)
	require.Equal(t,
		`{"code":"rate_limited","message":"m","retryable":false,"data":{"retry_after_ms":9007199254740993}}`,
		e.Value().JSON())
}

func TestErrorReadsFromOutsideIn(t *testing.T) {
	cause := errors.New("cause")
	e := Errorf(Timeout, "after %d s", 3).At("weather", "easel_invoke").At("other", "step")
	e.Cause = cause
	require.EqualError(t, e, "plugin weather: easel_invoke: timeout: after 3 s")
	wrapped := fmt.Errorf("node A: %w", e)
	require.ErrorIs(t, wrapped, Timeout)
	require.ErrorIs(t, wrapped, cause)
	require.NotErrorIs(t, wrapped, Cancelled)
	require.Same(t, e, AsError(wrapped, Internal))
	require.Equal(t, Upstream, AsError(cause, Upstream).Code)
	require.True(t, AsError(cause, Upstream).Retryable)
}
