package distribution

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// request sends a request to a registry, again with credentials when it wants some. body may be
// nil. actions are those on the repository: pull, or pull,push.
func (c *Client) request(ctx context.Context, r Reference, actions, method, address string, body []byte,
	header http.Header,
) (*http.Response, error) {
	scope := "repository:" + r.Repository + ":" + actions
	for again := false; ; again = true {
		req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		for name, values := range header {
			req.Header[name] = values
		}
		u := req.URL
		if authorization := c.tokens[r.Registry+" "+scope]; authorization != "" && u.Host == r.Registry {
			req.Header.Set("Authorization", authorization)
		}
		res, err := c.do(req)
		if err != nil {
			return nil, err
		}
		if res.StatusCode != http.StatusUnauthorized || again || u.Host != r.Registry {
			return res, nil
		}
		challenge := res.Header.Get("WWW-Authenticate")
		if err := res.Body.Close(); err != nil {
			return nil, err
		}
		authorization, err := c.authorize(ctx, r, scope, challenge)
		if err != nil {
			return nil, err
		}
		if c.tokens == nil {
			c.tokens = map[string]string{}
		}
		c.tokens[r.Registry+" "+scope] = authorization
	}
}

var challengeMember = regexp.MustCompile(`([a-z_]+)="([^"]*)"`)

// authorize answers the challenge of a registry.
func (c *Client) authorize(ctx context.Context, r Reference, scope, challenge string) (string, error) {
	user, password, err := c.credentials(r.Registry)
	if err != nil {
		return "", err
	}
	kind, rest, _ := strings.Cut(challenge, " ")
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
	switch {
	case strings.EqualFold(kind, "Basic"):
		if user == "" {
			return "", fmt.Errorf("registry %s requires a login; `docker login %s` or `oras login %s` stores one",
				r.Registry,
				r.Registry, r.Registry)
		}
		return basic, nil
	case !strings.EqualFold(kind, "Bearer"):
		return "", fmt.Errorf("registry %s requires authentication of kind %.40q; Basic and Bearer are supported",
			r.Registry, kind)
	}
	members := map[string]string{}
	for _, m := range challengeMember.FindAllStringSubmatch(rest, -1) {
		members[m[1]] = m[2]
	}
	realm, err := c.address(members["realm"])
	if err != nil {
		return "", fmt.Errorf("registry %s: token service: %w", r.Registry, err)
	}
	query := realm.Query()
	query.Set("scope", scope)
	if members["service"] != "" {
		query.Set("service", members["service"])
	}
	realm.RawQuery = query.Encode()
	return c.token(ctx, r, realm, user, basic)
}

// token requests a token from a token service.
func (c *Client) token(ctx context.Context, r Reference, realm *url.URL, user, basic string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, realm.String(), nil)
	if err != nil {
		return "", err
	}
	if user != "" {
		req.Header.Set("Authorization", basic)
	}
	res, err := c.do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return "", fmt.Errorf("registry %s: token service returned %s", r.Registry, res.Status)
	}
	raw, err := bounded(res.Body, maxTokens, "token")
	if err != nil {
		return "", err
	}
	var answer struct {
		Token  string `json:"token"`
		Access string `json:"access_token"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return "", fmt.Errorf("registry %s: token service: %w", r.Registry, err)
	}
	if answer.Token == "" {
		answer.Token = answer.Access
	}
	if answer.Token == "" {
		return "", fmt.Errorf("registry %s: token service returned no token", r.Registry)
	}
	return "Bearer " + answer.Token, nil
}

func (c *Client) credentials(registry string) (user, password string, err error) {
	if c.Credentials == nil {
		return "", "", nil
	}
	return c.Credentials(registry)
}

// DockerCredentials reads the logins that docker and oras store in a folder, as config.json. Those
// that a credential helper keeps are not read.
func DockerCredentials(dir string) func(registry string) (user, password string, err error) {
	return func(registry string) (string, string, error) {
		raw, err := os.ReadFile(filepath.Join(dir, "config.json"))
		if errors.Is(err, fs.ErrNotExist) {
			return "", "", nil
		}
		if err != nil {
			return "", "", err
		}
		var config struct {
			Auths map[string]struct{ Auth string }
		}
		if err := json.Unmarshal(raw, &config); err != nil {
			return "", "", fmt.Errorf("%s: %w", filepath.Join(dir, "config.json"), err)
		}
		plain, err := base64.StdEncoding.DecodeString(config.Auths[registry].Auth)
		if err != nil {
			return "", "", fmt.Errorf("%s: login of %s: %w", filepath.Join(dir, "config.json"), registry, err)
		}
		user, password, _ := strings.Cut(string(plain), ":")
		return user, password, nil
	}
}
