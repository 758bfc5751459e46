package distribution

import (
	"fmt"
	"regexp"
	"strings"
)

const ociScheme = "oci"

// Reference names an artifact in a registry: oci://HOST[:PORT]/REPOSITORY[:TAG][@DIGEST].
type Reference struct {
	Registry, Repository string
	Tag, Digest          string // one of them may be empty; both are for a repository
}

var (
	registryPattern = regexp.MustCompile(
		`^([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9a-fA-F:]+\])(:[0-9]{1,5})?$`)
	repositoryPattern = regexp.MustCompile(`^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$`)
	tagPattern        = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)
	digestPattern     = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// ParseReference reads an oci:// address.
func ParseReference(text string) (Reference, error) {
	bad := func(why string) (Reference, error) {
		return Reference{}, fmt.Errorf("address %q: %s; want oci://HOST/REPOSITORY:TAG", text, why)
	}
	rest, ok := strings.CutPrefix(text, ociScheme+"://")
	if !ok {
		return bad("no oci address")
	}
	var r Reference
	if r.Registry, rest, ok = strings.Cut(rest, "/"); !ok || !registryPattern.MatchString(r.Registry) {
		return bad("invalid registry")
	}
	if rest, r.Digest, ok = strings.Cut(rest, "@"); ok && !digestPattern.MatchString(r.Digest) {
		return bad("invalid digest")
	}
	if r.Repository, r.Tag, ok = strings.Cut(rest, ":"); ok && !tagPattern.MatchString(r.Tag) {
		return bad("invalid tag")
	}
	if len(r.Repository) > 255 || !repositoryPattern.MatchString(r.Repository) {
		return bad("invalid repository")
	}
	return r, nil
}

// String returns the address.
func (r Reference) String() string {
	s := ociScheme + "://" + r.Registry + "/" + r.Repository
	if r.Tag != "" {
		s += ":" + r.Tag
	}
	if r.Digest != "" {
		s += "@" + r.Digest
	}
	return s
}

// target returns the reference of the manifest in requests.
func (r Reference) target() string {
	if r.Digest != "" {
		return r.Digest
	}
	if r.Tag != "" {
		return r.Tag
	}
	return "latest"
}

// url returns the address of a part of the repository: manifests/1.0.0, blobs/sha256:….
func (c *Client) url(r Reference, part string) (string, error) {
	scheme := "https"
	host := r.Registry
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		host = host[:i]
	}
	if c.PlainHTTP || isLocal(strings.Trim(host, "[]")) {
		scheme = "http"
	}
	if r.Registry == "docker.io" {
		return "", fmt.Errorf("registry docker.io: its API is at registry-1.docker.io; name that host")
	}
	return scheme + "://" + r.Registry + "/v2/" + r.Repository + "/" + part, nil
}
