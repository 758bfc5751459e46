package engine

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// settings are the run options of a canvas: the member settings of its document.
//
//	{"limits": {"model_calls": 20, "cost": 0.5}, "prices": {"gpt-x": {"input": 1, "output": 2}},
//	 "approval": ["Email"], "visitors_approve": false, "scheduling": "eager",
//	 "files_to_model": false, "caller_instructions": true, "fallback_models": ["gpt-y@OpenAI"]}
//
// The limits of the caller apply in addition. Prices are of models that have no other price: an
// author must not lower the price that another one pays.
type settings struct {
	limits   Limits
	prices   Prices
	approval []string
	visitors bool // answers of visitors to approvals count
	noFiles  bool // models get uploaded files only where a prompt contains them
	caller   bool // models get the system message of the caller

	fallbacks []string // models that are called when another one fails

	scheduling Scheduling // "" when the canvas does not say
}

// settingNames are the members of settings that have an effect.
var settingNames = []string{
	"limits", "prices", "approval", "visitors_approve", "scheduling", "files_to_model", "caller_instructions",
	"fallback_models",
}

// SettingsSchema returns the JSON Schema of settings, for a form, as those of components.
func SettingsSchema() Value {
	props := NewObject(len(settingNames))
	properties(props, paramFields(reflect.TypeFor[settingsForm]()))
	return Object("type", "object", "properties", props.Value())
}

// settingsForm describes settings by tags; a document is read by [readSettings].
type settingsForm struct {
	Fallbacks  []string `json:"fallback_models" label:"Models that stand in" doc:"asked in this order when a model fails" kind:"chat"`
	Files      bool     `json:"files_to_model" label:"Show uploads to models" doc:"models that take images or files get those of the question" default:"true"`
	Caller     bool     `json:"caller_instructions" label:"Take instructions of callers" doc:"models also get the system messages of who calls this canvas as a model" default:"false"`
	Approval   []string `json:"approval" label:"Ask a person before" doc:"steps, components and tools that wait for an approval, by name" section:"tools"`
	Visitors   bool     `json:"visitors_approve" label:"Visitors may approve" doc:"who uses the canvas decides; otherwise its editors do" section:"tools" default:"false"`
	Limits     Value    `json:"limits" label:"Limits of a run" doc:"a run that reaches one ends with an error; the host's own limits count too" shape:"{name: number}" section:"fail" widget:"members" members:"seconds:integer:1=Seconds|model_calls:integer:1=Model calls|tokens:integer:1=Tokens|cost:number:0.000001=Cost of models|tool_calls:integer:1=Tool calls|rounds:integer:1=Rounds of an agent|repeated_calls:integer:1=Equal calls in a row|tool_seconds:integer:1=Seconds of a tool"`
	Scheduling string   `json:"scheduling" label:"Order of steps" doc:"each step as soon as it can, or batch by batch as in RAGFlow; without a choice the host decides" section:"advanced" widget:"select" options:"eager=As soon as possible|batch=In batches"`
	Prices     Value    `json:"prices" label:"Prices of models" doc:"per million tokens, for models whose price the host does not know" shape:"{model: {input, output, cached_input, cache_write, above}}" section:"advanced" widget:"pairs"`
}

// readSettings reads all settings that are as they should be; refuse receives each other one, and
// its error ends reading.
func readSettings(v Value, refuse func(error) error) (s settings, err error) {
	bad := func(name, format string, args ...any) {
		if err == nil {
			err = refuse(&settingError{name, fmt.Sprintf(format, args...)})
		}
	}
	if v.IsNull() {
		return s, nil
	}
	if v.Kind() != KindObject {
		bad("", "is a %s; expected an object with limits and prices", v.Kind())
		return s, err
	}
	readLimits(v.Get("limits"), &s.limits, bad)
	s.approval = readNames(v, "approval", bad)
	s.fallbacks = readNames(v, "fallback_models", bad)
	for _, name := range [...]string{"visitors_approve", "files_to_model", "caller_instructions"} {
		if k := v.Get(name).Kind(); k != KindNull && k != KindBool {
			bad(name, "is %s; expected true or false", brief(v.Get(name).JSON()))
		}
	}
	s.visitors = v.Get("visitors_approve").True()
	s.noFiles = v.Get("files_to_model").Kind() == KindBool && !v.Get("files_to_model").True()
	s.caller = v.Get("caller_instructions").True()
	if way := v.Get("scheduling"); !way.IsNull() {
		s.scheduling = Scheduling(way.Str())
		if !slices.Contains(schedulings, s.scheduling) {
			bad("scheduling", "is %s; expected batch or eager", brief(way.JSON()))
		}
	}
	prices, wrong := ReadPrices(v.Get("prices"))
	if s.prices = prices; wrong != nil {
		bad("prices", "%s", strings.TrimPrefix(wrong.Error(), "prices: "))
	}
	return s, err
}

// badSetting reports a problem of a setting.
type badSetting func(name, format string, args ...any)

func readLimits(v Value, to *Limits, bad badSetting) {
	if v.Kind() != KindObject && !v.IsNull() {
		bad("limits", "is a %s; expected an object of numbers by name", v.Kind())
	}
	for name, given := range v.Fields() {
		n, ok := given.Int()
		if name == "cost" {
			var amount float64
			amount, ok = given.Float()
			n = MicrosOf(amount)
		}
		if !ok || n <= 0 {
			bad("limits", "%s is %s; expected a number above 0", brief(name), brief(given.JSON()))
		} else if err := to.Set(name, n); err != nil {
			bad("limits", "%s (one of %s)", err, strings.Join(LimitNames(), ", "))
		}
	}
}

// readNames reads a list of names.
func readNames(v Value, name string, bad badSetting) (names []string) {
	list := v.Get(name)
	wrong := list.Kind() != KindList && !list.IsNull()
	for _, one := range list.Elements() {
		wrong = wrong || one.Kind() != KindString
		names = append(names, one.Str())
	}
	if wrong {
		bad(name, "is %s; expected a list of names", brief(list.JSON()))
		return nil
	}
	return names
}

// narrow lowers limits to those of the canvas, and takes its prices for models without another one.
func (s *settings) narrow(o *Options) {
	if s.limits != (Limits{}) {
		for _, k := range limitKinds {
			if n := *k.field(&s.limits); n > 0 {
				*k.field(&o.Limits) = min(*k.field(&o.Limits), n)
			}
		}
	}
	if o.Scheduling == "" {
		o.Scheduling = s.scheduling
	}
	if len(s.approval) > 0 {
		o.Approval = append(slices.Clone(o.Approval), s.approval...)
	}
	if len(s.prices) > 0 {
		outer := o.assumed
		o.assumed = maps.Clone(s.prices)
		maps.Copy(o.assumed, outer)
	}
}
