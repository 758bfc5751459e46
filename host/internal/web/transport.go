package web

import (
	"net/http"
	"time"
)

// Transport is for clients of other protocols that must keep the same rules about addresses. Every
// connection is checked when it is dialled; there is no proxy from the environment.
func (c *Client) Transport() *http.Transport {
	return &http.Transport{
		DialContext: c.Dial, TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: defaultTimeout,
		IdleConnTimeout: 30 * time.Second, MaxIdleConnsPerHost: 4,
	}
}
