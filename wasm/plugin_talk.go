package main

import (
	"context"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/node"
)

// dialogue serves the host calls of a plugin while the host runs it.
type dialogue struct {
	services node.Services
	emit     func(contract.Emission) error
	given    error // the reason why its output is no longer accepted
}

// converse calls the host as run.once does, and answers the host calls {"ask", "op", "args"} among
// the pieces of its answer, each with {"kind":"reply"} for the same call. It returns the last
// piece.
func (r *run) converse(ctx context.Context, nodeID string, payload engine.Value, talk *dialogue) (engine.Value, error) {
	if err := ctx.Err(); err != nil {
		return engine.Null, err
	}
	id, q := r.ask("plugin", nodeID, payload)
	defer r.forget(id)
	for {
		p, err := q.next(ctx)
		if err != nil {
			return engine.Null, err
		}
		v, err := p.read("plugin")
		if err != nil || p.last {
			return v, err
		}
		n, asked := v.Get("ask").Int()
		if !asked || talk == nil {
			continue
		}
		reply := engine.Object("kind", "reply", "ask", n)
		if answer, ok := talk.answer(ctx, v.Get("op").Str(), v.Get("args")); ok {
			reply = reply.With("answer", answer)
		} else {
			reply = reply.With("canceled", engine.Bool(true))
		}
		if err := ctx.Err(); err != nil {
			return engine.Null, err
		}
		r.out.flush()
		r.b.host.call(r.id, id, reply.AppendJSON(nil))
	}
}

// answer returns {"ok"} or {"error"}; false means that the plugin should finish.
func (d *dialogue) answer(ctx context.Context, op string, args engine.Value) (engine.Value, bool) {
	v, err := d.run(ctx, op, args)
	if d.given != nil {
		return engine.Null, false
	}
	if err == nil {
		return engine.Object("ok", v), true
	}
	return engine.Object("error", contract.AsError(err, contract.Upstream).Value()), true
}

func (d *dialogue) run(ctx context.Context, op string, args engine.Value) (engine.Value, error) {
	switch op {
	case "emit":
		kind, _ := args.Get("kind").Int()
		pct, _ := args.Get("pct").Float()
		d.say(contract.Emission{
			Kind: contract.Kind(kind), Text: args.Get("text").Str(), Key: args.Get("key").Str(), Pct: pct,
			Note: args.Get("note").Str(),
		})
		return engine.Object(), nil
	case "llm.chat":
		return d.chat(ctx, args)
	case "var.get":
		value, found, err := d.services.Variable(ctx, args.Get("name").Str())
		return engine.Object("found", found, "value", value), err
	case "var.set":
		return engine.Object(), d.services.SetVariable(ctx, args.Get("name").Str(), args.Get("value"))
	}
	return engine.Null, contract.Errorf(contract.Unsupported, "no operation %q on this host", op)
}

func (d *dialogue) chat(ctx context.Context, args engine.Value) (engine.Value, error) {
	req, err := contract.ReadChat(args)
	if err != nil {
		return engine.Null, err
	}
	answer, err := d.services.Chat(ctx, req, func(piece string) error {
		d.say(contract.Emission{Kind: contract.Delta, Text: piece})
		return d.given
	})
	return answer.Value(), err
}

// say forwards emitted text. After an error the plugin is asked to finish, and further text is
// dropped.
func (d *dialogue) say(e contract.Emission) {
	if d.given == nil {
		d.given = d.emit(e)
	}
}
