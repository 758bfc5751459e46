package v2_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/quota"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

func TestUsage(t *testing.T) {
	s := apitest.New(t, func(c *apitest.Config) { c.Priced, c.Currency = true, "EUR" })
	canvas := s.Canvas("Shop", apitest.Echo)
	s.Quota.Record(quota.Use{Tenant: "one", Canvas: canvas, Model: "m@P", Input: 1000, Output: 100, Cost: 1_500_000})
	s.Quota.Record(quota.Use{Tenant: "one", Canvas: "deleted", Model: "m@P", Input: 10, Output: 1, Cost: 250_000})
	s.Quota.Record(quota.Use{Tenant: "one", Model: "n@P", Input: 1, Output: 1})
	s.Quota.Record(quota.Use{Tenant: "two", Canvas: "theirs", Model: "secret@Q", Input: 77, Output: 7, Cost: 9})
	day := apitest.CountedDay.Format("2006-01-02")

	byDay := s.As("one", "GET", "/api/v2/usage", "", 200)
	require.JSONEq(t, `[{"day":"`+day+`","calls":3,"input_tokens":1011,"output_tokens":102,"cost":1.75}]`,
		byDay.Get("items").JSON())
	require.JSONEq(t, `{"calls":3,"input_tokens":1011,"output_tokens":102,"cost":1.75}`, byDay.Get("total").JSON())
	require.Equal(t, day, byDay.Get("to").Str())
	require.True(t, byDay.Get("priced").True())
	require.Equal(t, "EUR", byDay.Get("currency").Str())

	require.JSONEq(t, `[
		{"canvas":"`+canvas+`","title":"Shop","calls":1,"input_tokens":1000,"output_tokens":100,"cost":1.5},
		{"canvas":"deleted","calls":1,"input_tokens":10,"output_tokens":1,"cost":0.25},
		{"calls":1,"input_tokens":1,"output_tokens":1,"cost":0}]`,
		s.As("one", "GET", "/api/v2/usage?by=canvas", "", 200).Get("items").JSON())
	require.JSONEq(t, `[
		{"model":"m@P","calls":2,"input_tokens":1010,"output_tokens":101,"cost":1.75},
		{"model":"n@P","calls":1,"input_tokens":1,"output_tokens":1,"cost":0}]`,
		s.As("one", "GET", "/api/v2/usage?by=model", "", 200).Get("items").JSON())

	earlier := s.As("one", "GET", "/api/v2/usage?from=2026-01-01&to=2026-01-31", "", 200)
	require.Zero(t, earlier.Get("items").Len())
	require.Equal(t, 1, s.As("two", "GET", "/api/v2/usage", "", 200).Get("items").Len())
	for _, bad := range []string{"by=week", "from=yesterday", "to=2026-13-01", "from=2026-02-01&to=2026-01-01"} {
		s.As("one", "GET", "/api/v2/usage?"+bad, "", 400)
	}
	limited := store.Key{Tenant: "one", User: "one", Scopes: []string{app.ScopeRead}}
	_, key, err := s.Store.Keys.Create(t.Context(), limited, "")
	require.NoError(t, err)
	s.As(key, "GET", "/api/v2/usage", "", 403)
}

func TestHealth(t *testing.T) {
	status := func() app.Status {
		memory := []app.Budget{{Name: "runs", Size: 10, Used: 3}}
		return app.Status{Version: "1.2.3", Log: "embedded NATS", Memory: memory}
	}
	s := apitest.New(t, func(c *apitest.Config) { c.Status = status })
	a := s.As("one", "GET", "/api/v2/health", "", 200)
	require.True(t, a.Get("ok").True(), a.JSON())
	require.Equal(t, "1.2.3", a.Get("version").Str())
	require.JSONEq(t, `[{"name":"runs","size":10,"used":3}]`, a.Get("memory").JSON())
	s.As("two", "GET", "/api/v2/health", "", 403)

	damaged := apitest.New(t, func(c *apitest.Config) { c.LogDamaged = func() bool { return true } })
	a = damaged.As("one", "GET", "/api/v2/health", "", 200)
	require.False(t, a.Get("ok").True())
	require.Contains(t, a.Get("parts").At(2).Get("detail").Str(), "damaged")

	found := func() error { return errors.New("3 pages") }
	pages := apitest.New(t, func(c *apitest.Config) { c.DatabaseDamage = found })
	a = pages.As("one", "GET", "/api/v2/health", "", 200)
	require.False(t, a.Get("ok").True())
	require.Equal(t, "3 pages", a.Get("parts").At(3).Get("detail").Str())
	require.Contains(t, pages.As("one", "GET", "/readyz", "", 200).JSON(), `"db_files":"damaged"`)
	require.Contains(t, pages.As("one", "GET", "/api/v1/system/status", "", 200).JSON(), `"status":"yellow"`)
}

func TestValidateDocument(t *testing.T) {
	s := apitest.New(t)
	a := s.As("one", "POST", "/api/v2/validate", `{"dsl":{"components":{}}}`, 200)
	require.Equal(t, "error", a.Get("diagnostics").At(0).Get("severity").Str())
	require.Zero(t, s.As("one", "POST", "/api/v2/validate", `{"dsl":`+apitest.Echo+`}`, 200).Get("diagnostics").Len())
	s.As("one", "POST", "/api/v2/validate", `{}`, 422)
}
