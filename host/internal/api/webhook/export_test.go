package webhook

import (
	"net/http"

	"github.com/easel-canvas/easel/engine"
)

// ReadSignature returns the error of settings of a signature.
func ReadSignature(settings engine.Value) error {
	_, err := readSignature(settings)
	return err
}

// CheckSignature checks a request with a body by settings that are right.
func CheckSignature(settings engine.Value, h http.Header, body string) error {
	s, err := readSignature(settings)
	if err != nil {
		return err
	}
	_, err = s.check(h, func() (string, error) { return body, nil })
	return err
}
