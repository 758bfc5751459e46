package browse

import (
	"encoding/json"
	"net/http"
	"net/http/cookiejar"
	"sync"

	"golang.org/x/net/publicsuffix"
)

// Session holds the cookies of one run. The zero value is empty. Calls with the same session wait
// for each other.
type Session struct {
	turn sync.Mutex
	kept http.CookieJar
	// chromium holds the cookies between two Chromium processes, in the form of its protocol.
	chromium []json.RawMessage
}

// begin waits for other calls, and returns the end of this one.
func (s *Session) begin() func() {
	s.turn.Lock()
	return s.turn.Unlock
}

// jar returns the cookies for requests without a browser.
func (s *Session) jar() http.CookieJar {
	if s.kept == nil {
		s.kept = newJar()
	}
	return s.kept
}

// newJar returns an empty jar, which takes no cookies for whole registries such as co.uk.
func newJar() http.CookieJar {
	jar, err := cookiejar.New(&cookiejar.Options{PublicSuffixList: publicsuffix.List})
	if err != nil {
		panic(err) // it returns none
	}
	return jar
}
