package node_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/host/internal/plugin/node"
	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/wattest"
)

// counter answers with how often its instance was called.
var counter = wattest.Must(`(module
	(import "easel:host/v1" "output_write" (func $output_write (param i32 i32)))
	(memory (export "memory") 1) (global $n (mut i32) (i32.const 48))
	(data (i32.const 0) "{\"outputs\":{\"n\":0}}")
	(func (export "easel_invoke") (result i32)
		global.get $n i32.const 1 i32.add global.set $n
		i32.const 16 global.get $n i32.store8
		i32.const 0 i32.const 19 call $output_write i32.const 0))`)

// TestInstanceOfARun has two nodes of one run share an instance, and the next run get another.
func TestInstanceOfARun(t *testing.T) {
	s := newShop(t, node.Config{})
	s.add(counter, `{"state": "run"}`)
	for range 2 {
		got := s.play(t.Context(), engine.Ports{}, "begin Begin -> P", "P plugin:sample@1 -> R", "R plugin:sample@1")
		require.NoError(t, got.err)
		require.Equal(t, "1", got.outputs["P"].Get("n").Text())
		require.Equal(t, "2", got.outputs["R"].Get("n").Text())
	}
}

func TestTenantsAreDistinguished(t *testing.T) {
	tenant := "a"
	s := newShop(t, node.Config{
		Tenant: func(*engine.Call) string { return tenant },
		Grant: func(tenant string) *contract.Permissions {
			if tenant == "b" {
				return &contract.Permissions{}
			}
			return nil
		},
	})
	s.add(counter, `{"state": "tenant"}`)
	count := func() string {
		got := s.play(t.Context(), engine.Ports{}, "begin Begin -> P", "P plugin:sample@1")
		require.NoError(t, got.err)
		return got.outputs["P"].Get("n").Text()
	}
	require.Equal(t, "1", count())
	require.Equal(t, "2", count())
	tenant = "b"
	require.Equal(t, "1", count())

	s.add(ask(`{"op":"var.get","args":{"name":"sys.query"}}`), everything)
	got := s.play(t.Context(), engine.Ports{}, "begin Begin -> P", "P plugin:sample@1")
	require.Equal(t, "denied", got.outputs["P"].Get("answer").Get("error").Get("code").Text(), "a tenant's grant cuts the plugin's")
}

// TestRunKeepsItsVersion replaces a plugin in the middle of a run, which continues with the module
// it began with; the next run has the new one.
func TestRunKeepsItsVersion(t *testing.T) {
	s := newShop(t, node.Config{})
	old := s.add(guest(`say "old"`), "")
	c, err := engine.Load(s.registry(), canvas(t, "begin Begin -> P", "P plugin:sample@1 -> Q",
		"Q plugin:sample@1 -> M",
		`M Message {"content": ["{P@text} {Q@text}"]}`))
	require.NoError(t, err)
	run := func(between func()) (said string) {
		options := engine.Options{Seed: 1, TaskID: "task"}
		for e, err := range c.Run(t.Context(), c.State(), engine.Input{}, options) {
			require.NoError(t, err)
			if e.Type == engine.EventNodeFinished && e.Node == "P" {
				between()
			}
			if e.Type == engine.EventMessage {
				said += e.Data().Get("content").Str()
			}
		}
		return said
	}
	replaced, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, "old old", run(func() {
		s.add(guest(`say "new"`), `{"version": "1.1.0"}`)
		require.ErrorIs(t, old.Close(replaced), context.Canceled, "the run holds it")
	}))
	require.Equal(t, "new new", run(func() {}))
	require.Eventually(t, func() bool {
		_, err := old.Call(t.Context(), plugin.CallRequest{})
		return errors.Is(err, contract.Closed)
	}, 2*time.Minute, time.Millisecond, "the end of the run lets the module go")
}
