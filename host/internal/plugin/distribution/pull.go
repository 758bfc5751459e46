package distribution

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Media types of artifacts.
const (
	typeManifest = "application/vnd.oci.image.manifest.v1+json"
	typePlugin   = "application/vnd.easel.plugin.v1"
	typeWasm     = "application/wasm"
	typeEmpty    = "application/vnd.oci.empty.v1+json"
	titleKey     = "org.opencontainers.image.title"
	versionKey   = "org.opencontainers.image.version"
)

// manifest is an artifact in a registry.
type manifest struct {
	SchemaVersion int               `json:"schemaVersion"`
	MediaType     string            `json:"mediaType"`
	ArtifactType  string            `json:"artifactType,omitempty"`
	Config        descriptor        `json:"config"`
	Layers        []descriptor      `json:"layers"`
	Annotations   map[string]string `json:"annotations,omitempty"`
}

type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int64             `json:"size"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// pull reads the plugin file of an artifact.
func (c *Client) pull(ctx context.Context, location string) ([]byte, error) {
	r, err := ParseReference(location)
	if err != nil {
		return nil, err
	}
	m, err := c.manifest(ctx, r)
	if err != nil {
		return nil, err
	}
	layer, err := m.wasm()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r, err)
	}
	if !digestPattern.MatchString(layer.Digest) {
		return nil, fmt.Errorf("%s: digest %.80q of the layer is not supported; want sha256", r, layer.Digest)
	}
	if layer.Size > MaxFile {
		return nil, fmt.Errorf("%s: file of %d bytes, allowed are %d", r, layer.Size, MaxFile)
	}
	file, err := c.get(ctx, r, "blobs/"+layer.Digest, "", MaxFile)
	if err != nil {
		return nil, err
	}
	if got := digestOf(file); got != layer.Digest {
		return nil, fmt.Errorf("%s: the registry sent a file with digest %s for %s", r, got, layer.Digest)
	}
	return file, nil
}

// manifest reads the manifest of a reference, and compares it with its digest if that is named.
func (c *Client) manifest(ctx context.Context, r Reference) (*manifest, error) {
	raw, err := c.get(ctx, r, "manifests/"+r.target(), typeManifest, maxManifest)
	if err != nil {
		return nil, err
	}
	if got := digestOf(raw); r.Digest != "" && got != r.Digest {
		return nil, fmt.Errorf("%s: the registry sent a manifest with digest %s", r, got)
	}
	var m manifest
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, fmt.Errorf("%s: manifest: %w", r, err)
	}
	if m.MediaType != "" && m.MediaType != typeManifest {
		return nil, fmt.Errorf("%s: a manifest of type %.80q; want %s", r, m.MediaType, typeManifest)
	}
	return &m, nil
}

// wasm returns the only layer that is a module, by its type or its title.
func (m *manifest) wasm() (descriptor, error) {
	var found []descriptor
	for _, l := range m.Layers {
		if l.MediaType == typeWasm || strings.HasSuffix(l.MediaType, "+wasm") ||
			strings.HasSuffix(l.Annotations[titleKey], ".wasm") {
			found = append(found, l)
		}
	}
	if len(found) != 1 {
		return descriptor{}, fmt.Errorf("%d layers are WebAssembly modules (%s); want 1", len(found), typeWasm)
	}
	return found[0], nil
}

// get reads a part of a repository.
func (c *Client) get(ctx context.Context, r Reference, part, accept string, most int64) ([]byte, error) {
	address, err := c.url(r, part)
	if err != nil {
		return nil, err
	}
	header := http.Header{}
	if accept != "" {
		header.Set("Accept", accept)
	}
	res, err := c.request(ctx, r, "pull", http.MethodGet, address, nil, header)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, refused(r, part, res)
	}
	return bounded(res.Body, most, r.String())
}

// refused returns the error of a registry, with its reason if the body has one.
func refused(r Reference, what string, res *http.Response) error {
	text := res.Status
	if raw, err := bounded(res.Body, maxManifest, ""); err == nil {
		var body struct {
			Errors []struct{ Code, Message string }
		}
		if json.Unmarshal(raw, &body) == nil && len(body.Errors) > 0 {
			text += fmt.Sprintf(" (%.60q: %.200q)", body.Errors[0].Code, body.Errors[0].Message)
		}
	}
	return fmt.Errorf("%s: %s: registry returned %s", r, what, text)
}

// Tags lists the tags of the repository of a reference.
func (c *Client) Tags(ctx context.Context, r Reference) ([]string, error) {
	raw, err := c.get(ctx, r, "tags/list?n=10000", "", maxTags)
	if err != nil {
		return nil, err
	}
	var list struct{ Tags []string }
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("%s: tags: %w", r, err)
	}
	return list.Tags, nil
}
