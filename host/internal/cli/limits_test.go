package cli

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

func TestLimitFlag(t *testing.T) {
	var l limits
	require.NoError(t, l.Set("text=64MiB, state=-1"))
	require.NoError(t, l.Set("model_calls=20"))
	require.Equal(t, engine.Limits{Text: 64 << 20, State: -1, ModelCalls: 20}, l.Limits)
	require.Equal(t, "text=64MiB, state=-1,model_calls=20", l.String())
	for text, want := range map[string]string{
		"text":                  `"text": expected NAME=N, such as text=64MiB`,
		"text=big":              `text: "big": not a number such as 1000, 64MiB or -1`,
		"text=-2":               `text: "-2": not a number such as 1000, 64MiB or -1`,
		"text=9999999999999GiB": `text: "9999999999999GiB": not a number such as 1000, 64MiB or -1`,
		"texts=1": `unknown limit "texts" (one of [text output state event events model_calls tokens ` +
			`cost tool_calls rounds seconds repeated_calls tool_seconds])`,
		"text=1,,":                `"": expected NAME=N, such as text=64MiB`,
		"text=100000000000000000": "",
	} {
		err := l.Set(text)
		if want == "" {
			require.NoError(t, err, text)
			continue
		}
		require.EqualError(t, err, want, text)
	}
}

func TestConcurrencyAndStepsReachTheEngine(t *testing.T) {
	args := []string{"--concurrency=3", "--max-steps=7"}
	w, fs := &world{}, flag.NewFlagSet("run", flag.ContinueOnError)
	w.flags(fs)
	require.NoError(t, fs.Parse(args))
	opt, err := w.options(withEnv(t, &servertest.Output{}, &servertest.Output{}, nil))
	require.NoError(t, err)
	require.Equal(t, 3, opt.Concurrency)
	require.Equal(t, 7, opt.MaxSteps)

	s, fs := &server{}, flag.NewFlagSet("serve", flag.ContinueOnError)
	s.define(fs)
	require.NoError(t, fs.Parse(args))
	require.NoError(t, s.configure(withEnv(t, &servertest.Output{}, &servertest.Output{}, nil)))
	require.Equal(t, 3, s.cfg.Concurrency)
	require.Equal(t, 7, s.cfg.MaxSteps)
}

func TestPricesNameTheirCurrency(t *testing.T) {
	file := filepath.Join(t.TempDir(), "prices.json")
	set := func(text string) (prices, error) {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		var p prices
		err := p.Set(file)
		return p, err
	}
	p, err := set(`{"currency": "EUR", "m": {"input": 1, "output": 2}}`)
	require.NoError(t, err)
	require.Equal(t, "EUR", p.currency)
	require.Len(t, p.Prices, 1)
	p, err = set(`{"currency": {"input": 1, "output": 2}}`)
	require.NoError(t, err)
	require.Empty(t, p.currency, "a model may have the name")
	require.Len(t, p.Prices, 1)
	_, err = set(`{"currency": "euros"}`)
	require.ErrorContains(t, err, `currency is "euros"; expected a code of three letters, such as USD`)
}
