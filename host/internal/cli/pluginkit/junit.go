package pluginkit

import (
	"encoding/xml"
	"fmt"
)

// The part of JUnit's XML that build servers read.
type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Failure *junitFailure `xml:"failure"`
	Out     string        `xml:"system-out,omitempty"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
}

// JUnit writes the report as a test suite of one plugin. A warning passes, and its text is kept.
func (r *Report) JUnit() ([]byte, error) {
	s := junitSuite{Name: fmt.Sprintf("%s %s", r.Plugin, r.Version), Tests: len(r.Checks)}
	for _, c := range r.Checks {
		one := junitCase{Class: r.Plugin, Name: c.Name}
		switch c.Outcome {
		case Failed:
			s.Failures++
			one.Failure = &junitFailure{Message: c.Detail}
		case Warning:
			one.Out = "warning: " + c.Detail
		default:
			one.Out = c.Detail
		}
		s.Cases = append(s.Cases, one)
	}
	out, err := xml.MarshalIndent(s, "", "  ")
	return append([]byte(xml.Header), append(out, '\n')...), err
}
