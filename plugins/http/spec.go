package httptool

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// spec is the content of a spec file; README.md describes the members.
type spec struct {
	Comment      string         `json:"$comment"`
	Schema       string         `json:"$schema"`
	Unavailable  string         `json:"unavailable"`
	BaseURL      string         `json:"base_url"`
	BaseParam    string         `json:"base_param"`
	Headers      map[string]any `json:"headers"`
	ErrorMessage string         `json:"error_message"`
	MaxBytes     int            `json:"max_bytes"`
	Checks       []rule         `json:"checks"`
	Steps        []step         `json:"steps"`
	Outputs      map[string]any `json:"outputs"`
}

// step is one request.
type step struct {
	Name     string         `json:"name"`
	When     any            `json:"when"`
	Method   string         `json:"method"`
	URL      string         `json:"url"`
	Query    map[string]any `json:"query"`
	Headers  map[string]any `json:"headers"`
	JSON     any            `json:"json"`
	Form     map[string]any `json:"form"`
	Body     string         `json:"body"`
	Answer   string         `json:"answer"`
	Allow    []int          `json:"allow"`
	Pages    *pages         `json:"pages"`
	Refusals []rule         `json:"refusals"`
	Errors   []rule         `json:"errors"`
}

// pages repeats a step until there are enough items.
type pages struct {
	Most  any    `json:"most"`
	Until any    `json:"until"`
	Items string `json:"items"`
}

// rule fails a call when a condition holds.
type rule struct {
	When    any    `json:"when"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

var (
	identifier = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	methods    = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}
	answers    = []string{"json", "jsonp", "xml", "html", "text"}
	codes      = []string{"invalid_argument", "not_found", "unauthorized", "rate_limited", "upstream", "internal"}
)

// largestBytes is the maximum size of a response that the interpreter reads.
const largestBytes = 4 << 20

// checker walks a spec; names are those that templates may use at the current position.
type checker struct {
	about *manifest
	names map[string]bool
	err   error
}

func (s *spec) check(about *manifest) error {
	c := &checker{about: about, names: map[string]bool{"args": true, "params": true, "secret": true, "status": true}}
	if s.MaxBytes < 0 || s.MaxBytes > largestBytes {
		c.fail("max_bytes", "is %d; use 1 to %d, or leave it out", s.MaxBytes, largestBytes)
	}
	if s.Unavailable != "" {
		if len(s.Steps) > 0 || len(s.Outputs) > 0 {
			c.fail("unavailable", "cannot be combined with steps or outputs: a tool that always fails has neither")
		}
		return c.err
	}
	if len(s.Steps) == 0 {
		c.fail("steps", "is empty; describe at least one request")
	}
	if len(s.Outputs) == 0 {
		c.fail("outputs", "is empty; say what the tool gives")
	}
	c.base(s)
	c.values("headers", s.Headers)
	c.rules("checks", s.Checks)
	for i := range s.Steps {
		c.step("steps["+strconv.Itoa(i)+"]", &s.Steps[i], s)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Outputs)) {
		if _, ok := about.Outputs.Properties[name]; !ok && len(about.Outputs.Properties) > 0 {
			c.fail("outputs."+name, "is not among the outputs of the manifest (%s)", list(about.Outputs.Properties))
		}
	}
	c.values("outputs", s.Outputs)
	c.with([]string{"body", "code", "headers"}, func() { c.template("error_message", s.ErrorMessage) })
	return c.err
}

// fail notes the first error.
func (c *checker) fail(place, format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("%s: "+format, append([]any{place}, args...)...)
	}
}

// base checks the base of relative URLs.
func (c *checker) base(s *spec) {
	if s.BaseParam != "" {
		if _, ok := c.about.Params.Properties[s.BaseParam]; !ok {
			c.fail("base_param", "%q is not among the params of the manifest (%s)",
				s.BaseParam, list(c.about.Params.Properties))
		}
	}
	if s.BaseURL == "" {
		return
	}
	c.template("base_url", s.BaseURL)
	c.host("base_url", s.BaseURL)
}

func (c *checker) step(place string, s *step, all *spec) {
	switch {
	case !identifier.MatchString(s.Name):
		c.fail(place+".name", "is %q; use lower-case letters, digits and _, beginning with a letter", s.Name)
	case c.names[s.Name]:
		c.fail(place+".name", "%q is taken", s.Name)
	case s.URL == "":
		c.fail(place+".url", "is missing")
	case s.Method != "" && !slices.Contains(methods, s.Method):
		c.fail(place+".method", "is %q; use one of %s", s.Method, strings.Join(methods, ", "))
	case s.Answer != "" && !slices.Contains(answers, s.Answer):
		c.fail(place+".answer", "is %q; use one of %s", s.Answer, strings.Join(answers, ", "))
	}
	c.granted(place, s)
	if strings.HasPrefix(s.URL, "/") {
		if all.BaseURL == "" && all.BaseParam == "" {
			c.fail(place+".url", "%q is relative; set base_url", s.URL)
		}
	} else {
		c.host(place+".url", s.URL)
	}
	bodies := 0
	for _, given := range []bool{s.JSON != nil, s.Form != nil, s.Body != ""} {
		if given {
			bodies++
		}
	}
	if bodies > 1 {
		c.fail(place, "has more than one of json, form and body")
	}
	c.condition(place+".when", s.When)
	inside := []string{}
	if s.Pages != nil {
		inside = append(inside, "page", "count")
	}
	c.with(inside, func() {
		c.template(place+".url", s.URL)
		c.values(place+".query", s.Query)
		c.values(place+".headers", s.Headers)
		c.value(place+".json", s.JSON)
		c.values(place+".form", s.Form)
		c.template(place+".body", s.Body)
	})
	c.with([]string{"body", "code", "headers"}, func() {
		c.rules(place+".refusals", s.Refusals)
		c.rules(place+".errors", s.Errors)
	})
	c.names[s.Name] = true
	if s.Pages != nil {
		c.value(place+".pages.most", s.Pages.Most)
		c.value(place+".pages.until", s.Pages.Until)
		c.with([]string{"body"}, func() { c.template(place+".pages.items", s.Pages.Items) })
		c.names[s.Name+"_items"] = true
	}
}

// granted checks that the manifest requests the method of a step.
func (c *checker) granted(place string, s *step) {
	p := c.about.Permissions.HTTP
	if p == nil {
		c.fail(place, "makes a request, but the manifest does not ask for permissions.http")
		return
	}
	method, granted := s.Method, p.Methods
	if method == "" {
		method = "GET"
	}
	if len(granted) == 0 {
		granted = []string{"GET", "HEAD"}
	}
	if !slices.Contains(granted, method) && !slices.Contains(granted, "*") {
		c.fail(place+".method", "%s is not among permissions.http.methods of the manifest (%s)",
			method, strings.Join(granted, ", "))
	}
}

var expression = regexp.MustCompile(`\{[^{}]*\}`)

// host checks that the manifest requests the host of an absolute URL.
func (c *checker) host(place, address string) {
	u, err := url.Parse(expression.ReplaceAllString(address, "x"))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		if !strings.HasPrefix(address, "{") {
			c.fail(place, "%q is not an http or https URL", address)
		}
		return
	}
	if c.about.Permissions.HTTP == nil {
		return // reported for the step
	}
	hosts := c.about.Permissions.HTTP.Hosts
	if !slices.ContainsFunc(hosts, func(p string) bool { return covers(p, u) }) {
		c.fail(place, "host %s is not among permissions.http.hosts of the manifest (%s)",
			u.Host, strings.Join(hosts, ", "))
	}
}

func covers(pattern string, u *url.URL) bool {
	below, wild := strings.CutPrefix(pattern, "*.")
	return pattern == "*" || pattern == u.Host || pattern == u.Hostname() ||
		wild && strings.HasSuffix(u.Hostname(), "."+below)
}

func (c *checker) rules(place string, rules []rule) {
	for i, r := range rules {
		at := place + "[" + strconv.Itoa(i) + "]"
		if r.When == nil || r.Message == "" {
			c.fail(at, "when and message are required")
		}
		if !slices.Contains(codes, r.Code) {
			c.fail(at+".code", "is %q; use one of %s", r.Code, strings.Join(codes, ", "))
		}
		c.condition(at+".when", r.When)
		c.template(at+".message", r.Message)
	}
}

// with calls check with additional names.
func (c *checker) with(names []string, f func()) {
	before := maps.Clone(c.names)
	for _, n := range names {
		c.names[n] = true
	}
	f()
	c.names = before
}

func (c *checker) values(place string, m map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		c.value(place+"."+name, m[name])
	}
}

// value checks a value whose strings are templates.
func (c *checker) value(place string, v any) {
	switch v := v.(type) {
	case string:
		c.template(place, v)
	case []any:
		for i, e := range v {
			c.value(place+"["+strconv.Itoa(i)+"]", e)
		}
	case map[string]any:
		_, each := v["$each"]
		_, cond := v["$if"]
		switch {
		case each:
			c.special(place, v, "$each", "$as", "$limit", "$join")
			c.value(place+".$each", v["$each"])
			c.value(place+".$limit", v["$limit"])
			c.with([]string{"item", "index"}, func() { c.value(place+".$as", v["$as"]) })
		case cond:
			c.special(place, v, "$if", "$then", "$else")
			c.values(place, v)
		default:
			c.values(place, v)
		}
	}
}

// special checks the members of {"$each"} and {"$if"}; the second of allowed is required.
func (c *checker) special(place string, v map[string]any, allowed ...string) {
	if _, ok := v[allowed[1]]; !ok {
		c.fail(place, "%s needs %s", allowed[0], allowed[1])
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if !slices.Contains(allowed, name) {
			c.fail(place+"."+name, "does not belong to %s; use %s", allowed[0], strings.Join(allowed[1:], ", "))
		}
	}
}

// list names the keys of a map.
func list[V any](m map[string]V) string {
	if len(m) == 0 {
		return "it has none"
	}
	return strings.Join(slices.Sorted(maps.Keys(m)), ", ")
}
