package identity

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"regexp"
	"strings"
)

// Config describes a provider.
type Config struct {
	ID     string // in paths: letters, digits, - and _
	Name   string // on the button; "" means the ID
	Issuer string
	Client string
	Secret string // "" for a client without one
	// Scopes are requested besides openid; nil means profile and email.
	Scopes []string
	// GroupsClaim is the claim with the groups of a person; "" ignores groups.
	GroupsClaim string
	// Roles maps groups to roles of the tenant.
	Roles map[string]string
	// NewRole is the role of people without an account whose groups map to none; "" refuses them.
	NewRole string
}

var validID = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,39}$`)

// Check rejects a configuration that cannot work, and fills in what has a default.
func (c *Config) Check() error {
	if c.Name == "" {
		c.Name = c.ID
	}
	if c.Scopes == nil {
		c.Scopes = []string{"profile", "email"}
	}
	u, err := url.Parse(c.Issuer)
	switch {
	case len(c.Name) > 60:
		return errors.New("name is longer than 60 bytes")
	case err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return fmt.Errorf("issuer %.200q: expected an address such as https://login.example.org", c.Issuer)
	case u.Scheme != "https" && !loopback(u):
		return fmt.Errorf("issuer %.200q: expected https; http is for this machine only", c.Issuer)
	case !validID.MatchString(c.ID):
		return fmt.Errorf("id %.60q: expected lower-case letters, digits, - and _", c.ID)
	case c.Client == "":
		return errors.New("client is empty")
	case len(c.Roles) > 0 && c.GroupsClaim == "":
		return errors.New("roles of groups require groups_claim")
	}
	for _, s := range c.Scopes {
		if s == "" || strings.ContainsAny(s, " \"\\\t\r\n") {
			return fmt.Errorf("scope %.60q: expected one word", s)
		}
	}
	return nil
}

// loopback reports whether an address is an HTTP one of this machine.
func loopback(u *url.URL) bool {
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "http" && (u.Hostname() == "localhost" || ip != nil && ip.IsLoopback())
}

// Parse reads a provider of the form issuer=...,client=...,secret=FILE. The ID is the name in lower
// case without other characters, or the host of the issuer.
func Parse(text string) (Config, error) {
	var c Config
	file := ""
	for part := range strings.SplitSeq(text, ",") {
		key, value, ok := strings.Cut(part, "=")
		if !ok {
			return c, fmt.Errorf("%.60q: expected KEY=VALUE", part)
		}
		switch key {
		case "issuer":
			c.Issuer = value
		case "client":
			c.Client = value
		case "secret":
			file = value
		case "name":
			c.Name = value
		case "scopes":
			c.Scopes = strings.Fields(value)
		case "groups_claim":
			c.GroupsClaim = value
		case "new_role":
			c.NewRole = value
		case "owner", "admin", "normal":
			if c.Roles == nil {
				c.Roles = map[string]string{}
			}
			c.Roles[value] = key
		default:
			return c, fmt.Errorf("unknown key %.60q (one of issuer, client, secret, name, scopes, groups_claim, "+
				"owner, admin, normal, new_role)", key)
		}
	}
	if c.ID = idOf(c.Name); c.ID == "" {
		if u, err := url.Parse(c.Issuer); err == nil {
			c.ID = idOf(u.Hostname())
		}
	}
	if file != "" {
		secret, err := os.ReadFile(file)
		if err != nil {
			return c, fmt.Errorf("secret: %w", err)
		}
		if c.Secret = strings.TrimSpace(string(secret)); c.Secret == "" {
			return c, fmt.Errorf("secret: %s is empty", file)
		}
	}
	return c, c.Check()
}

func idOf(name string) string {
	id := strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return '-'
	}, strings.ToLower(name)), "-")
	return id[:min(len(id), 40)]
}
