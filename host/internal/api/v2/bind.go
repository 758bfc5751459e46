package v2

import (
	"context"
	"fmt"
	"net/http"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

// operation is one method of a path with its description. The types of its handler say the rest:
// what is read from a request, and what is answered.
type operation struct {
	method, path string
	name         string // operationId
	about        string
	body         api.BodyClass
	need         api.Need
	scope        string
	status       int // of the answer; 0 means 200
	stream       bool
	events       bool               // an EventSource may read it
	form         *jsonschema.Schema // of a multipart body, which the handler reads itself; nil for none
	audit        bool               // in the audit log, though it changes nothing
	media        string             // content type of an answer that is no JSON; "" for JSON

	handler api.Handler
	params  []param
	in, out *jsonschema.Schema // nil for none
}

// param is a parameter of an operation.
type param struct{ name, in, kind, about string }

// handler is the function of an operation. In is a struct whose fields say where they come from:
//
//	Who     app.Principal                    // who makes the request
//	ID      string        `path:"id"`        // a part of the path
//	Canvas  string        `query:"canvas"`   // a parameter of the query
//	Project *string       `query:"project"`  // nil if it is absent
//	LastID  string        `header:"Last-Event-ID"`
//	Page    app.Page      `order:"name"`     // paging, ordered by name unless told
//	Body    T                                // the JSON body; see bodyReader
//	Request *api.Request                     // for what types cannot say
//
// A tag jsonschema:"..." describes a parameter.
//
// Out is answered as JSON; an [api.Response] writes itself, and empty is 204.
type handler[In, Out any] func(ctx context.Context, in In) (Out, error)

// empty is the answer without a body.
type empty struct{}

// bodyReader is a body that reads itself member by member. Others are decoded strictly: a member
// that is not known is refused.
type bodyReader interface{ readBody(r *api.Request) error }

// described is a response that declares the schema of its JSON.
type described interface{ schema() *jsonschema.Schema }

// handle makes the operation of a handler.
func handle[In, Out any](op operation, h handler[In, Out]) operation {
	fields := op.bind(reflect.TypeFor[In]())
	status := op.setAnswer(reflect.TypeFor[Out]())
	op.handler = func(ctx context.Context, r *api.Request) (api.Response, error) {
		var in In
		v := reflect.ValueOf(&in).Elem()
		for i, set := range fields {
			if err := set(v.Field(i), r); err != nil {
				return nil, err
			}
		}
		out, err := h(ctx, in)
		if err != nil {
			return nil, err
		}
		if response, ok := any(out).(api.Response); ok {
			return response, nil
		}
		if status == http.StatusNoContent {
			return api.NoContent, nil
		}
		return api.JSON(status, out), nil
	}
	return op
}

// setAnswer describes the answer of a type, and returns its status.
func (op *operation) setAnswer(t reflect.Type) int {
	zero := reflect.Zero(t).Interface()
	if op.status == 0 {
		op.status = http.StatusOK
	}
	_, written := zero.(api.Response)
	switch d, ok := zero.(described); {
	case ok:
		op.out = d.schema()
	case t == reflect.TypeFor[empty]():
		op.status = http.StatusNoContent
	case !written:
		op.out = schemaOfType(t)
	}
	return op.status
}

// setter fills one field of the input from a request.
type setter func(field reflect.Value, r *api.Request) error

// bind reads what an input takes from a request, and describes it.
func (op *operation) bind(t reflect.Type) []setter {
	setters := make([]setter, t.NumField())
	for i := range setters {
		setters[i] = op.bindField(t.Field(i))
	}
	return setters
}

func (op *operation) bindField(f reflect.StructField) setter {
	if f.Anonymous {
		setters := op.bind(f.Type)
		return func(v reflect.Value, r *api.Request) error {
			for i, set := range setters {
				if err := set(v.Field(i), r); err != nil {
					return err
				}
			}
			return nil
		}
	}
	if name, ok := f.Tag.Lookup("path"); ok {
		op.params = append(op.params, param{name, "path", "string", ""})
		return func(v reflect.Value, r *api.Request) error {
			v.SetString(r.Params[name])
			return nil
		}
	}
	if name, ok := f.Tag.Lookup("query"); ok {
		op.params = append(op.params, param{name, "query", "string", f.Tag.Get("jsonschema")})
		if f.Type.Kind() == reflect.Pointer { // an empty value differs from an absent one
			return func(v reflect.Value, r *api.Request) error {
				if r.Query.Has(name) {
					v.Set(reflect.ValueOf(new(r.Query.Get(name))))
				}
				return nil
			}
		}
		return func(v reflect.Value, r *api.Request) error {
			v.SetString(r.Query.Get(name))
			return nil
		}
	}
	if name, ok := f.Tag.Lookup("header"); ok {
		op.params = append(op.params, param{name, "header", "string", f.Tag.Get("jsonschema")})
		return func(v reflect.Value, r *api.Request) error {
			v.SetString(r.HTTP.Header.Get(name))
			return nil
		}
	}
	switch f.Type {
	case reflect.TypeFor[app.Page]():
		return op.bindPage(f.Tag.Get("order"))
	case reflect.TypeFor[app.Principal]():
		return func(v reflect.Value, r *api.Request) error {
			v.Set(reflect.ValueOf(r.Who))
			return nil
		}
	case reflect.TypeFor[*api.Request]():
		return func(v reflect.Value, r *api.Request) error {
			v.Set(reflect.ValueOf(r))
			return nil
		}
	}
	if f.Name == "Body" {
		op.in = schemaOfType(f.Type)
		return bindBody
	}
	panic(fmt.Sprintf("operation %s: field %s of the input says not where it comes from", op.name, f.Name))
}

// bindBody decodes the body.
func bindBody(v reflect.Value, r *api.Request) error {
	into := v.Addr().Interface()
	if b, ok := into.(bodyReader); ok {
		return b.readBody(r)
	}
	return r.Decode(into)
}

// largestPage is the maximum number of rows of a page, and defaultPage the default.
const (
	largestPage = 1000
	defaultPage = 100
)

func (op *operation) bindPage(order string) setter {
	op.params = append(op.params,
		param{"page", "query", "integer", "number of the page, from 1"},
		param{"page_size", "query", "integer", fmt.Sprintf("items per page, at most %d; default %d", largestPage, defaultPage)},
		param{"orderby", "query", "string", "field to sort by; default " + order},
		param{"desc", "query", "string", "whether to sort in descending order; default true"})
	return func(v reflect.Value, r *api.Request) error {
		p, err := r.Query.Page(defaultPage, order, true)
		if p.Limit <= 0 || p.Limit > largestPage {
			p.Limit = largestPage
		}
		p.Documents = app.NoDocuments
		v.Set(reflect.ValueOf(p))
		return err
	}
}
