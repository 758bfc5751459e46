package enginetest

import (
	"context"
	"slices"

	"github.com/easel-canvas/easel/engine"
)

// requester is the component name of web requests in a case.
const requester = "Invoke"

// tapedHTTP is a tape as the port HTTP.
type tapedHTTP struct{ *outsideTape }

func (t tapedHTTP) Do(ctx context.Context, req *engine.HTTPRequest) (*engine.HTTPResponse, error) {
	call := t.begin(requestCall(req))
	res, err := t.http.Do(ctx, req)
	result := engine.Null
	if res != nil {
		result = engine.Object("status", res.Status, "headers", headerObject(res.Header, ""), "body", res.Body)
	}
	t.end(call, result, err)
	return res, err
}

// answeredHTTP is the port HTTP of a case.
type answeredHTTP struct{ *outsideAnswers }

func (a answeredHTTP) Do(ctx context.Context, req *engine.HTTPRequest) (*engine.HTTPResponse, error) {
	v, err := a.take(ctx, "", requestCall(req))
	if err != nil {
		return nil, err
	}
	status, _ := v.Get("status").Int()
	res := &engine.HTTPResponse{Status: int(status), Body: v.Get("body").Str()}
	for name, value := range v.Get("headers").Fields() {
		res.Header = append(res.Header, engine.HTTPHeader{Name: name, Value: value.Str()})
	}
	return res, nil
}

// hasRequests reports whether a case has answers to web requests.
func hasRequests(calls []OutsideCall) bool {
	return slices.ContainsFunc(calls, func(c OutsideCall) bool { return c.Component == requester })
}

// requestCall returns a web request, without marks of secrets.
func requestCall(req *engine.HTTPRequest) OutsideCall {
	arguments := engine.NewObject(5)
	for _, part := range [...]struct{ name, text string }{
		{"method", req.Method}, {"url", req.URL}, {"body", req.Body}, {"proxy", req.Proxy},
	} {
		if part.text != "" {
			arguments.Set(part.name, engine.String(engine.UnmarkSecrets(part.text, req.SecretMark)))
		}
	}
	if len(req.Header) > 0 {
		arguments.Set("headers", headerObject(req.Header, req.SecretMark))
	}
	return OutsideCall{Component: requester, Arguments: arguments.Value()}
}

// headerObject returns {name: value} of header lines, without the mark of secrets.
func headerObject(list []engine.HTTPHeader, mark string) engine.Value {
	b := engine.NewObject(len(list))
	for _, h := range list {
		b.Set(h.Name, engine.String(engine.UnmarkSecrets(h.Value, mark)))
	}
	return b.Value()
}
