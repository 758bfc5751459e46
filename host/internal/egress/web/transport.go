package web

import (
	"net/http"
	"time"
)

// Transport returns a transport with the same address rules for clients of other protocols. Every
// connection is checked when it is dialed; proxy settings of the environment are ignored.
func (c *Client) Transport() *http.Transport {
	return &http.Transport{
		DialContext: c.Dial, TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: defaultTimeout,
		IdleConnTimeout: 30 * time.Second, MaxIdleConnsPerHost: 4,
	}
}
