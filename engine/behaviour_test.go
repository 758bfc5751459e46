package engine_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

func TestStreams(t *testing.T) {
	lines := []string{`begin Begin -> q`, `q Ask {"prompt":"{sys.query}"} -> m`, `m Tell {"content":"A:{q@content}!"}`}
	tests := []struct {
		name   string
		pieces []string
		want   string
		err    string
	}{{
		name: "pieces are said as they come", pieces: []string{"one ", "two"},
		want: `start +begin -begin +q +m msg_A: msg_one_ msg_two msg_! msg_end -q -m end_{"content":"A:one_two!"}`,
	}, {
		name: "reasoning is marked and not kept", pieces: []string{"<think>let me</think>", " see</think>", "yes"},
		want: `start +begin -begin +q +m msg_A: msg_ msg_let_me msg__see msg_ msg_yes msg_! msg_end -q -m ` +
			`end_{"content":"A:yes!"}`,
	}, {
		name: "tags may come in halves", pieces: []string{"<thi", "nk>hm</thi", "nk>yes"},
		want: `start +begin -begin +q +m msg_A: msg_ msg_hm msg_ msg_yes msg_! msg_end -q -m end_{"content":"A:yes!"}`,
	}, {
		name: "an error ends the text and the run", pieces: []string{"one ", "!"},
		want: `start +begin -begin +q +m msg_A: msg_one_ msg_end -q!the_model_is_down -m`, err: "the model is down",
	}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := load(t, lines...)
			got, err := story(t, c, c.State(), engine.Input{}, model(tt.pieces...))
			if tt.err == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, tt.err)
			}
			require.Equal(t, tt.want, flat(got))
		})
	}
}

func TestUnreadStream(t *testing.T) {
	c := load(t, `begin Begin -> q`, `q Ask {"prompt":"x"} -> m`, `m Tell {"content":"hello"}`)
	got, err := story(t, c, c.State(), engine.Input{}, model("unheard"))
	require.NoError(t, err)
	require.Equal(t, `start +begin -begin +q +m msg_hello msg_end -m -q end_{"content":"hello"}`, flat(got))
}

func TestErrors(t *testing.T) {
	tests := []struct {
		name, node, want, err string
	}{
		{"no handler", `a Odd {"mode":"fail"} -> m`, `start +begin -begin +a -a!it_broke`, "node a (Odd): it broke"},
		{
			"a panic is an error of its node", `a Odd {"mode":"panic"} -> m`,
			`start +begin -begin +a -a!panic:_it_fell_over`,
			"it fell over",
		},
		{
			"goto runs other nodes", `a Odd {"mode":"fail","exception_method":"goto","exception_goto":["g"]} -> m`,
			`start +begin -begin +a -a!it_broke +g msg_went msg_end -g end_{"content":"went"}`, "",
		},
		{
			"an outdated goto is ignored", `a Odd ` +
				`{"mode":"fail","exception_method":"comment","exception_default_value":"d","exception_goto":["g"]} ` +
				`-> m`,
			`start +begin -begin +a -a +m msg_d msg_end -m end_{"content":"d"}`, "",
		},
		{
			"a node that hangs is stopped", `a Late {"mode":"hang"} -> m`,
			`start +begin -begin +a -a!no_answer_within_50ms:_context_deadline_exceeded`, "no answer within 50ms",
		},
		{
			"a node that ignores its context is abandoned", `a Late {"mode":"stubborn"} -> m`,
			`start +begin -begin +a -a!no_answer_within_50ms:_context_deadline_exceeded`, "no answer within 50ms",
		},
		{
			"an unknown reference is an error of the reading node", `a Text {"script":"{nope@x}"} -> m`,
			`start +begin -begin +a -a!reference_to_nothing:_Can't_find_variable:_'nope@x'`, "nope@x",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := load(t, `begin Begin -> a`, tt.node, `m Say {"content":"{a@result}"}`, `g Say {"content":"went"}`)
			got, err := story(t, c, c.State(), engine.Input{}, engine.Options{})
			if tt.err == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, tt.err)
			}
			require.Equal(t, tt.want, flat(got))
			if strings.Contains(tt.node, "stubborn") {
				stubborn <- struct{}{} // it ends after all
			}
		})
	}
}

func TestRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := load(t, `begin Begin -> a`, `a Odd {"mode":"fail","max_retries":2,"delay_after_error":0.01}`)
		start := time.Now()
		_, err := story(t, c, c.State(), engine.Input{}, engine.Options{})
		require.ErrorContains(t, err, "it broke")
		require.Equal(t, 20*time.Millisecond, time.Since(start))
	})
}

func TestStepCap(t *testing.T) {
	c := load(t, `begin Begin -> a`, `a Text {"script":"x"} -> b`, `b Text {"script":"y"} -> a`)
	_, err := story(t, c, c.State(), engine.Input{}, engine.Options{MaxSteps: 50})
	require.ErrorIs(t, err, engine.ErrLimit)
	require.ErrorContains(t, err, "MaxSteps")
}

func TestStepCapCountsWhatIsRepeated(t *testing.T) {
	c := load(t, `begin Begin -> a`, `a Text {"script":"x"} -> b`, `b Text {"script":"y"} -> a`)
	st := c.State()
	_, err := story(t, c, st, engine.Input{}, engine.Options{MaxSteps: 50})
	require.ErrorIs(t, err, engine.ErrLimit)
	require.Len(t, st.Path(), 53, "each node once, and 50 executions more")

	c = built(t, chain(100)...)
	_, err = story(t, c, c.State(), engine.Input{}, engine.Options{MaxSteps: 1})
	require.NoError(t, err, "a chain repeats nothing")
}

func TestIterationDoesNotUseUpTheStepCap(t *testing.T) {
	c := load(t, `begin Begin -> it`, `it Each {"items_ref":"sys.query"}`, `ii Item -> s ^ it`,
		`s Text {"script":"ok"} ^ it`)
	items := make([]engine.Value, 100)
	_, err := story(t, c, c.State(), engine.Input{Query: engine.List(items...)}, engine.Options{MaxSteps: 10})
	require.NoError(t, err)
}

func TestCancel(t *testing.T) {
	chain := []string{
		`begin Begin -> q`, `q Ask {"prompt":"x"} -> m`, `m Tell {"content":"{q@content}"} -> n`,
		`n Say {"content":"never"}`,
	}
	t.Run("before the start only the end is reported", func(t *testing.T) {
		c := load(t, chain...)
		got, err := story(t, c, c.State(), engine.Input{}, engine.Options{CancelBefore: true})
		require.ErrorIs(t, err, engine.ErrCanceled)
		require.Equal(t, `end_"Task_has_been_canceled"`, flat(got))
	})
	t.Run("a stream stops where it is", func(t *testing.T) {
		c := load(t, chain...)
		opt := model("one ", "two ", "three")
		opt.CancelAfter = &engine.CancelAfter{Event: engine.EventMessage, Nth: 2}
		st := c.State()
		got, err := story(t, c, st, engine.Input{}, opt)
		require.ErrorIs(t, err, engine.ErrCanceled)
		require.Equal(t,
			`start +begin -begin +q +m msg_one_ msg_two_ -q!Task_has_been_canceled -m!Task_has_been_canceled `+
				`end_"Task_has_been_canceled"`, flat(got))
		require.Equal(t, []string{"begin", "q"}, st.Path())
	})
	t.Run("a stream that has gone quiet stops within 50 ms", func(t *testing.T) {
		c := load(t, chain...)
		best := time.Hour
		for range 20 { // a busy machine may be late, but not each time
			ctx, cancel := context.WithCancel(t.Context())
			var stopped time.Time
			for e, err := range c.Run(ctx, c.State(), engine.Input{}, model("one ", "...")) {
				if err == nil && e.Type == engine.EventMessage {
					stopped = time.Now()
					time.AfterFunc(time.Millisecond, cancel)
				}
			}
			cancel()
			if best = min(best, time.Since(stopped)); best < 50*time.Millisecond {
				break
			}
		}
		require.Less(t, best, 50*time.Millisecond)
	})
	t.Run("leaving the iteration ends the run silently", func(t *testing.T) {
		c := load(t, chain...)
		n := 0
		for range c.Run(t.Context(), c.State(), engine.Input{}, model("one ", "two")) {
			if n++; n == 3 {
				break
			}
		}
		require.Equal(t, 3, n)
	})
}

func TestForms(t *testing.T) {
	lines := []string{
		`begin Begin -> w f`, `w Text {"script":"work"} -> m`,
		`f Form {"inputs":{"city":{"type":"line"},"note":{"type":"line","optional":true}}} -> m`,
		`m Say {"content":"{f@city}/{w@result}"}`,
	}
	c := load(t, lines...)
	st := c.State()
	got, err := story(t, c, st, engine.Input{Query: engine.String("trip")}, engine.Options{})
	require.NoError(t, err)
	require.Equal(t, `start +begin -begin ask_{"city":{"type":"line"},"note":{"type":"line","optional":true}}`,
		flat(got))
	require.Equal(t, []string{"f", "w"}, st.Waiting())

	saved := c.Save(st)
	c, err = engine.Load(toys(t), saved)
	require.NoError(t, err)
	st = c.State()
	got, err = story(t, c, st, engine.Input{Inputs: engine.Object("note", engine.Object("value", "n"))},
		engine.Options{})
	require.NoError(t, err)
	require.Equal(t, `start ask_{"city":{"type":"line"}}`, flat(got), "what is missing is asked again")

	got, err = story(t, c, st, engine.Input{Inputs: engine.Object("city", "Oslo")}, engine.Options{})
	require.NoError(t, err)
	require.Equal(t, `start +f +w -f -w +m msg_Oslo/work msg_end -m end_{"content":"Oslo/work"}`, flat(got))
	note, _ := st.Output("f", "note")
	require.Equal(t, "n", note.Str(), "answers given before count")
	require.Equal(t, []string{"begin", "f", "w", "m"}, st.Path())
	require.False(t, st.Paused())
}

func TestFromUntilPins(t *testing.T) {
	c := load(t, `begin Begin -> a`, `a Text {"script":"A"} -> b`, `b Text {"script":"B{a@result}"} -> m`,
		`m Say {"content":"{b@result}"}`)
	st := c.State()
	got, err := story(t, c, st, engine.Input{}, engine.Options{Until: "a"})
	require.NoError(t, err)
	require.Equal(t, `start +begin -begin +a -a end_{"result":"A"}`, flat(got))

	st.SetOutput("a", "result", engine.String("edited"))
	got, err = story(t, c, st, engine.Input{}, engine.Options{From: "b"})
	require.NoError(t, err)
	require.Equal(t, `start +b -b +m msg_Bedited msg_end -m end_{"content":"Bedited"}`, flat(got))

	pins := map[string]engine.Value{"b": engine.Object("result", "pinned")}
	got, err = story(t, c, c.State(), engine.Input{}, engine.Options{Pins: pins})
	require.NoError(t, err)
	require.Equal(t, `start +begin -begin +a -a +b -b +m msg_pinned msg_end -m end_{"content":"pinned"}`, flat(got))
}

func TestSavedStateStaysReadable(t *testing.T) {
	c := load(t, `begin Begin -> a`, `a Odd {"mode":"fail"}`)
	st := c.State()
	_, err := story(t, c, st, engine.Input{Query: engine.String("q")}, engine.Options{})
	require.Error(t, err)
	again, err := engine.Load(toys(t), c.Save(st))
	require.NoError(t, err)
	v, _ := again.State().Output("a", "_ERROR")
	require.Equal(t, "it broke", v.Str())
}

func TestLoadRefuses(t *testing.T) {
	tests := []struct{ name, doc, want string }{
		{"no document", `[]`, "object with components"},
		{"broken JSON", "{\"components\": {\n  oops", "line 2, column 3"},
		{"no start", sketch.Canvas("a Text"), `no component "begin"`},
		{"an unknown type", sketch.Canvas("begin Nope"), `unknown component "Nope"`},
		{
			"a parameter of the wrong type", sketch.Canvas("begin Begin", `a Odd {"mode": 5}`),
			`component "a", Odd, parameter mode: 5 is a number; expected a string`,
		},
		{
			"a body inside itself", sketch.Canvas("begin Begin", "a Each ^ b", "b Each ^ a"),
			"leads back to the component itself",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := engine.Load(toys(t), []byte(tt.doc))
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestNodesRunConcurrentlyUpToTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var atOnce, most int
		gate := make(chan struct{}, 1)
		gate <- struct{}{}
		reg := toys(t)
		require.NoError(t, reg.Add(engine.Spec{Name: "Nap", New: func() engine.Component {
			return napper(func(ctx context.Context) error {
				<-gate
				atOnce++
				most = max(most, atOnce)
				gate <- struct{}{}
				time.Sleep(time.Second)
				<-gate
				atOnce--
				gate <- struct{}{}
				return nil
			})
		}}))
		lines := []string{`begin Begin -> n0 n1 n2 n3 n4 n5 n6 n7`}
		for _, n := range strings.Fields("n0 n1 n2 n3 n4 n5 n6 n7") {
			lines = append(lines, n+" Nap")
		}
		c, err := engine.Load(reg, sketch.Bytes(lines...))
		require.NoError(t, err)
		start := time.Now()
		_, err = story(t, c, c.State(), engine.Input{}, engine.Options{Concurrency: 3})
		require.NoError(t, err)
		require.Equal(t, 3, most, "never more at once than allowed")
		require.Equal(t, 3*time.Second, time.Since(start))
	})
}

type napper func(context.Context) error

func (n napper) Run(ctx context.Context, _ *engine.Call) error { return n(ctx) }

func TestInputsOfANode(t *testing.T) {
	c := load(t, `begin Begin -> a`, `a Text {"script":"A"} -> m`,
		`m Say {"content":"{a@result} {sys.query} {z@result} {nope@x}"}`, `z Text {"script":""}`)
	st := c.State()
	_, err := story(t, c, st, engine.Input{Query: engine.String("q")}, engine.Options{Until: "a"})
	require.NoError(t, err)
	inputs, err := c.Inputs(st, "m")
	require.NoError(t, err)
	require.Equal(t, `{"a@result":"A","sys.query":"q","z@result":null}`, inputs.JSON())
	_, err = c.Inputs(st, "gone")
	require.ErrorIs(t, err, engine.ErrRef)
}
