package api

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// need says who may call a route.
type need int

const (
	needUser need = iota // an API key or a login
	needBeta             // the token of an embedded page, an API key or a login
	needNone
)

// route is one path with one or more methods. Parts in braces are parameters.
type route struct {
	method string // "GET", or several as "GET POST"
	path   string
	need   need
	scope  string // what a limited key must be allowed: read, run, edit, admin
	answer func(a *API, c *call) error
	newer  bool // set for the 0.27 dialect
	body   bodyClass
	doc    *v2Doc // of our own API
	llm    bool   // errors have OpenAI's form
	openAI bool   // errors have OpenAI's form beside the dialect's
	events bool   // an EventSource may read it
	alters bool   // its GET changes something, so a login cookie needs its CSRF text
	parts  []string
	takes  []string // its methods, with the HEAD that comes with GET
}

// Route is a path of the API with one method that it takes. Parameters of the path stand in braces.
type Route struct{ Method, Path string }

// Routes lists what the API answers, in all dialects.
func Routes() (list []Route) {
	for _, r := range allRoutes() {
		for _, method := range strings.Fields(r.method) {
			list = append(list, Route{method, r.path})
		}
	}
	return list
}

// router finds routes. net/http's own refuses patterns that overlap, such as
// /v1/canvas/get/{id} and /v1/canvas/{id}/sessions, which clients need.
type router struct {
	byLength map[int][]*route // literal parts before parameters
}

func newRouter(list []route) router {
	r := router{byLength: map[int][]*route{}}
	for _, one := range list {
		one.parts = strings.Split(strings.TrimPrefix(one.path, "/"), "/")
		if one.takes = strings.Fields(one.method); slices.Contains(one.takes, http.MethodGet) {
			one.takes = append(one.takes, http.MethodHead)
		}
		r.byLength[len(one.parts)] = append(r.byLength[len(one.parts)], &one)
	}
	for _, routes := range r.byLength {
		slices.SortStableFunc(routes, func(a, b *route) int {
			for i := range a.parts {
				pa, pb := isParameter(a.parts[i]), isParameter(b.parts[i])
				if pa != pb && pa {
					return 1
				} else if pa != pb {
					return -1
				}
			}
			return 0
		})
	}
	return r
}

func isParameter(part string) bool { return strings.HasPrefix(part, "{") }

// find gives the route of a request with its parameters, or the methods that
// its path is there for, as the header Allow names them.
func (r *router) find(req *http.Request) (found *route, params map[string]string, allow []string) {
	parts := strings.Split(strings.TrimPrefix(strings.TrimSuffix(req.URL.EscapedPath(), "/"), "/"), "/")
	for _, one := range r.byLength[len(parts)] {
		params, ok := one.match(parts)
		if !ok {
			continue
		}
		if slices.Contains(one.takes, req.Method) {
			return one, params, nil
		}
		allow = append(allow, one.takes...)
	}
	if len(allow) > 0 {
		allow = append(allow, http.MethodOptions)
	}
	slices.Sort(allow)
	return nil, nil, slices.Compact(allow)
}

func (r *route) match(parts []string) (map[string]string, bool) {
	var params map[string]string
	for i, want := range r.parts {
		if !isParameter(want) {
			if parts[i] != want {
				return nil, false
			}
			continue
		}
		value, err := url.PathUnescape(parts[i])
		if err != nil || value == "" || value == "." || value == ".." {
			return nil, false
		}
		if params == nil {
			params = map[string]string{}
		}
		params[strings.Trim(want, "{}")] = value
	}
	return params, true
}
