package plugin

import (
	"context"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// requests handles the requests of a guest in one call, after comparing them with the grant. A
// denied or unknown request is answered with an error; it never ends the call.
type requests struct {
	g             *guest
	asked         int // requests other than for pieces of streams
	chats, embeds int
	streams       streams
	filed         int64 // bytes of the files that were stored
}

// operation answers one kind of request.
type operation func(r *requests, args engine.Value) (engine.Value, error)

// operations of call, as listed in the contract.
var operations = map[string]operation{
	"http.fetch": (*requests).fetchOp,
	"http.read":  (*requests).readOp,
	"http.close": (*requests).closeOp,
	"llm.chat":   (*requests).chat,
	"embed":      (*requests).embed,
	"kv.get":     (*requests).kvGet,
	"kv.set":     (*requests).kvSet,
	"kv.delete":  (*requests).kvDelete,
	"kv.list":    (*requests).kvList,
	"var.get":    (*requests).varGet,
	"var.set":    (*requests).varSet,
	"file.read":  (*requests).fileRead,
	"file.put":   (*requests).filePut,
	"sleep":      (*requests).sleep,

	"self.section": (*requests).section,
}

// answer answers one request of call. It returns false when the call is cancelled.
func (r *requests) answer(request []byte) ([]byte, bool) {
	var op string
	var args engine.Value
	err := checkRequest(request)
	if err == nil {
		op, args, err = readRequest(string(request))
	}
	if op == "http.read" {
		r.countPiece()
	} else {
		r.count()
	}
	if r.g.tell() {
		return nil, false
	}
	fetches := op == "http.fetch"
	if fetches {
		if answer, ok := r.g.req.Handover.replay(request); ok {
			return answer, true
		}
	}
	out := engine.Null
	if err == nil {
		out, err = r.run(op, args)
	}
	if r.g.tell() {
		return nil, false
	}
	answer := answerMessage(out, err)
	if fetches {
		r.handOver(request, answer)
	}
	return answer, true
}

func checkRequest(request []byte) error {
	if len(request) > maxCallBytes {
		return contract.Errorf(contract.InvalidArgument, "request of %d bytes, allowed are %d", len(request),
			maxCallBytes)
	}
	return nil
}

// readRequest reads {"op", "args"}; args may be missing.
func readRequest(request string) (op string, args engine.Value, err error) {
	v, err := engine.ParseJSONText(request)
	if err != nil {
		return "", args, contract.Errorf(contract.InvalidArgument, "request is not readable: %v", err)
	}
	op, args = v.Get("op").Str(), v.Get("args")
	if args.IsNull() {
		args = engine.Object()
	}
	if args.Kind() != engine.KindObject {
		return op, args, contract.Errorf(contract.InvalidArgument, "%s: args is not an object", op)
	}
	return op, args, nil
}

func (r *requests) run(op string, args engine.Value) (engine.Value, error) {
	run, ok := operations[op]
	if !ok {
		return engine.Null, contract.Errorf(contract.Unsupported, "no operation %q on this host", op)
	}
	if op != "http.fetch" { // models, keys and variables must not learn the mark
		args = contract.Unmarked(args, r.g.req.SecretMark)
	}
	return run(r, args)
}

// answerMessage is {"ok"} or {"error"}.
func answerMessage(ok engine.Value, err error) []byte {
	if err != nil {
		return engine.Object("error", contract.AsError(err, contract.Upstream).Value()).AppendJSON(nil)
	}
	return engine.Object("ok", ok).AppendJSON(nil)
}

// count counts a request, and ends the call after too many.
func (r *requests) count() {
	if r.asked++; r.asked > maxHostCalls {
		r.g.stop(contract.Errorf(contract.TooManyCalls, "more than %d calls of the host", maxHostCalls))
	}
}

// outside runs work that may wait for the network or the disk, without a place among the running
// guests. Its context is the caller's, ending at the deadline.
func (r *requests) outside(work func(ctx context.Context)) {
	r.g.outside(func() {
		ctx, stop := r.g.hostContext()
		defer stop()
		work(ctx)
	})
}

func (r *requests) sleep(args engine.Value) (engine.Value, error) {
	ms, err := wholeOf("sleep", args, "ms")
	if err != nil {
		return engine.Null, err
	}
	r.g.sleep(time.Duration(min(max(ms, 0), 1<<40)) * time.Millisecond)
	return engine.Object(), nil
}

// section reads a section of the plugin's own file.
func (r *requests) section(args engine.Value) (engine.Value, error) {
	name, err := textOf("self.section", args, "name")
	if err != nil {
		return engine.Null, err
	}
	text, found := r.g.m.sections[name]
	return engine.Object("found", found, "text", text), nil
}

// wholeOf returns a member that must be a whole number when it is present.
func wholeOf(op string, args engine.Value, name string) (int64, error) {
	v := args.Get(name)
	n, ok := v.Int()
	if !v.IsNull() && !ok {
		return 0, contract.Errorf(contract.InvalidArgument, "%s: %s is not a whole number", op, name)
	}
	return n, nil
}

// textOf returns a member that must be a string when it is present.
func textOf(op string, args engine.Value, name string) (string, error) {
	v := args.Get(name)
	if !v.IsNull() && v.Kind() != engine.KindString {
		return "", contract.Errorf(contract.InvalidArgument, "%s: %s is not a string", op, name)
	}
	return v.Str(), nil
}
