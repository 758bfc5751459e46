package enginetest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/easel-canvas/easel/engine"
)

// ExerciseCode checks a Code port with one of its languages, python or javascript.
func ExerciseCode(ctx context.Context, c engine.Code, language string) []error {
	k := &kit{port: "code"}
	script, ok := codeScripts[language]
	if !ok {
		k.fail("language %q: expected python or javascript", language)
		return k.errs
	}
	run := func(text string, args engine.Value) (engine.CodeResult, error) {
		return c.RunCode(ctx, &engine.CodeCall{Language: language, Script: text, Arguments: args})
	}
	k.rule("values go in and come out", func() {
		args := engine.Object("x", engine.Object("n", 1, "t", "é", "l", engine.List(engine.Bool(true), engine.Null)))
		got, err := run(script.echo, args)
		if err != nil || !engine.Equal(got.Value, args.Get("x")) {
			k.fail("main gives its argument back: expected %s, saw %s (%v)", args.Get("x"), got.Value, err)
		}
	})
	k.rule("what is printed comes back", func() {
		got, err := run(script.print, engine.Object("x", "said"))
		if err != nil || !strings.Contains(got.Stdout, "said") {
			k.fail("a script prints: expected the text in Stdout, saw %q (%v)", got.Stdout, err)
		}
	})
	k.rule("what is thrown comes back", func() {
		got, err := run(script.throw, engine.Object("x", "thrown"))
		if err == nil && !strings.Contains(got.Stderr, "thrown") {
			k.fail("a script throws: expected the text in Stderr or an error, saw %q", got.Stderr)
		}
	})
	k.rule("scripts share nothing", func() {
		first, err1 := run(script.count, engine.Object("x", 0))
		second, err2 := run(script.count, engine.Object("x", 0))
		if err := errors.Join(err1, err2); err != nil || !engine.Equal(first.Value, second.Value) {
			k.fail("a script run twice: expected the same value, saw %s and %s (%v)", first.Value, second.Value, err)
		}
	})
	return k.errs
}

// codeScripts are the scripts of ExerciseCode by language.
var codeScripts = map[string]struct{ echo, print, throw, count string }{
	"python": {
		echo:  "def main(x):\n    return x\n",
		print: "def main(x):\n    print(x)\n    return x\n",
		throw: "def main(x):\n    raise ValueError(x)\n",
		count: "n = 0\ndef main(x):\n    global n\n    n += 1\n    return n\n",
	},
	"javascript": {
		echo:  "function main({x}) { return x; }",
		print: "function main({x}) { console.log(x); return x; }",
		throw: "function main({x}) { throw new Error(x); }",
		count: "globalThis.n = (globalThis.n || 0) + 1; function main() { return globalThis.n; }",
	},
}

// ExerciseVoice checks a Voice.
func ExerciseVoice(ctx context.Context, s engine.Voice) []error {
	k := &kit{port: "voice"}
	k.rule("a text sounds", func() {
		if sound, err := s.Speak(ctx, "Hello there."); err != nil || len(sound) == 0 {
			k.fail("expected a sound, saw %d bytes (%v)", len(sound), err)
		}
	})
	k.rule("an ended context is an error", func() {
		if _, err := s.Speak(ended(ctx), "Hello there."); err == nil {
			k.fail("an ended context: expected its error, saw none")
		}
	})
	return k.errs
}

// ExerciseCancel checks a Cancel port; stop cancels a task.
func ExerciseCancel(c engine.Cancel, stop func(taskID string)) []error {
	k := &kit{port: "cancel"}
	closed := func(ch <-chan struct{}) bool {
		select {
		case <-ch:
			return true
		case <-time.After(time.Second):
			return false
		}
	}
	open := func(ch <-chan struct{}) bool {
		select {
		case <-ch:
			return false
		default:
			return true
		}
	}
	k.rule("only the task that was stopped ends", func() {
		one, other := c.Canceled("exercise one"), c.Canceled("exercise other")
		if !open(one) || !open(other) {
			k.fail("a task that is not canceled: expected an open channel, saw a closed one")
		}
		stop("exercise one")
		if !closed(one) {
			k.fail("a stopped task: expected its channel to close within a second")
			return
		}
		if !open(other) {
			k.fail("stopping one task closed the channel of another")
		}
		if !closed(c.Canceled("exercise one")) {
			k.fail("a stopped task asked for again: expected a closed channel")
		}
		stop("exercise one")
	})
	return k.errs
}

// ExerciseClock checks a Clock.
func ExerciseClock(ctx context.Context, c engine.Clock) []error {
	k := &kit{port: "clock"}
	k.rule("time goes forward", func() {
		before := c.Now()
		if err := c.Sleep(ctx, time.Millisecond); err != nil {
			k.fail("Sleep: %w", err)
		}
		if now := c.Now(); now.Before(before.Add(time.Millisecond)) {
			k.fail("after a sleep of 1ms: expected at least that much, saw %v", now.Sub(before))
		}
	})
	k.rule("an ended context ends the sleep", func() {
		if err := c.Sleep(ended(ctx), time.Hour); !errors.Is(err, context.Canceled) {
			k.fail("an ended context: expected its error, saw %v", err)
		}
	})
	return k.errs
}

// ExerciseIDs checks an IDs port: 32 hex digits, never the same twice, also when many ask at once.
func ExerciseIDs(ids engine.IDs) []error {
	k := &kit{port: "ids"}
	k.rule("ids are unique", func() {
		var (
			all  sync.WaitGroup
			mu   sync.Mutex
			seen = map[string]bool{}
		)
		for range 8 {
			all.Go(func() {
				for range 200 {
					id := ids.NewID()
					mu.Lock()
					twice := seen[id]
					seen[id] = true
					mu.Unlock()
					if twice {
						k.fail("id %q was given twice", id)
						return
					}
					if len(id) != 32 || strings.Trim(id, "0123456789abcdef") != "" {
						k.fail("id %q: expected 32 hex digits", id)
						return
					}
				}
			})
		}
		all.Wait()
	})
	return k.errs
}

// ExerciseMemory checks a Memory port with a memory that exists.
func ExerciseMemory(ctx context.Context, m engine.Memory, memoryID string) []error {
	k := &kit{port: "memory"}
	entry := &engine.Remembered{
		MemoryIDs: []string{memoryID}, UserID: "user", AgentID: "agent", SessionID: "session",
		UserInput: "Hello", AgentResponse: "Hello there.",
	}
	k.rule("an exchange is kept", func() {
		if err := m.Remember(ctx, entry); err != nil {
			k.fail("memory %q: %w", memoryID, err)
		}
	})
	k.rule("an ended context is an error", func() {
		if err := m.Remember(ended(ctx), entry); err == nil {
			k.fail("an ended context: expected its error, saw none")
		}
	})
	return k.errs
}
