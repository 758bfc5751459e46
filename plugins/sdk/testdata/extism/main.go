// Command extism is a plugin with the official Extism PDK for Go, in the style of its authors: one
// export for each part of the PDK. It does not depend on easel.
package main

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/extism/go-pdk"
)

//go:wasmexport count_vowels
func countVowels() int32 {
	n := 0
	for _, c := range pdk.InputString() {
		if strings.ContainsRune("aeiouAEIOU", c) {
			n++
		}
	}
	if err := pdk.OutputJSON(map[string]any{"count": n, "vowels": pdkSetting("vowels")}); err != nil {
		pdk.SetError(err)
		return 1
	}
	return 0
}

func pdkSetting(name string) string {
	v, _ := pdk.GetConfig(name)
	return v
}

// greet reads JSON and returns text.
//
//go:wasmexport greet
func greet() int32 {
	var in struct{ Name string }
	if err := pdk.InputJSON(&in); err != nil {
		pdk.SetError(err)
		return 1
	}
	if in.Name == "" {
		pdk.SetErrorString("a name is needed")
		return 1
	}
	pdk.Log(pdk.LogInfo, "greeting "+in.Name)
	pdk.OutputString("Hello, " + in.Name + "!")
	return 0
}

// tally counts its calls in a variable of the run.
//
//go:wasmexport tally
func tally() int32 {
	n := pdk.GetVarInt("calls") + 1
	pdk.SetVarInt("calls", n)
	if n > 2 {
		pdk.RemoveVar("calls")
	}
	pdk.OutputString(strings.Repeat("x", n))
	return 0
}

// fetch sends the request in its input and returns status, a header and the body.
//
//go:wasmexport fetch
func fetch() int32 {
	var in struct{ Method, URL, Body string }
	if err := pdk.InputJSON(&in); err != nil {
		pdk.SetError(err)
		return 1
	}
	method := map[string]pdk.HTTPMethod{"POST": pdk.MethodPost, "DELETE": pdk.MethodDelete}[in.Method]
	req := pdk.NewHTTPRequest(method, in.URL)
	req.SetHeader("X-Asked", "yes")
	req.SetBody([]byte(in.Body))
	res := req.Send()
	out, err := json.Marshal(map[string]any{"status": res.Status(), "headers": res.Headers(), "body": string(res.Body())})
	if err != nil {
		pdk.SetError(errors.New("not JSON"))
		return 1
	}
	pdk.Output(out)
	return 0
}

// reverse accesses memory of the kernel directly.
//
//go:wasmexport reverse
func reverse() int32 {
	b := pdk.Input()
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	mem := pdk.AllocateBytes(b)
	defer mem.Free()
	pdk.Output(mem.ReadBytes())
	return 0
}

func main() {}
