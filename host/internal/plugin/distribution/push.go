package distribution

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
)

// Published is the result of [Client.Push].
type Published struct {
	Location string `json:"location"` // with the tag
	Digest   string `json:"digest"`   // of the manifest
	File     string `json:"file"`     // digest of the file
}

const actionsPush = "pull,push"

// Push stores a plugin file as an artifact under the tag of r. A tag that names other content is
// not changed unless replace is set.
func (c *Client) Push(ctx context.Context, r Reference, file []byte, title, version string, replace bool) (Published,
	error,
) {
	if r.Tag == "" || r.Digest != "" {
		return Published{}, fmt.Errorf("%s: want a tag and no digest to publish to", r)
	}
	empty := []byte("{}")
	m := manifest{
		SchemaVersion: 2, MediaType: typeManifest, ArtifactType: typePlugin,
		Config: descriptor{MediaType: typeEmpty, Digest: digestOf(empty), Size: int64(len(empty))},
		Layers: []descriptor{{
			MediaType: typeWasm, Digest: digestOf(file), Size: int64(len(file)),
			Annotations: map[string]string{titleKey: title},
		}},
		Annotations: map[string]string{titleKey: title, versionKey: version},
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return Published{}, err
	}
	out := Published{Location: r.String(), Digest: digestOf(raw), File: m.Layers[0].Digest}
	current, err := c.current(ctx, r)
	if err != nil || current == out.Digest {
		return out, err
	}
	if current != "" && !replace {
		return Published{}, fmt.Errorf("%s: the tag names another file (%s); raise the version, or use --replace", r,
			current)
	}
	for _, blob := range [][]byte{empty, file} {
		if err := c.pushBlob(ctx, r, blob); err != nil {
			return Published{}, err
		}
	}
	address, err := c.url(r, "manifests/"+r.Tag)
	if err != nil {
		return Published{}, err
	}
	header := http.Header{"Content-Type": {typeManifest}}
	return out, c.send(ctx, r, http.MethodPut, address, raw, header, http.StatusCreated)
}

// current returns the digest of the manifest that a tag names; empty for a new tag.
func (c *Client) current(ctx context.Context, r Reference) (string, error) {
	address, err := c.url(r, "manifests/"+r.Tag)
	if err != nil {
		return "", err
	}
	res, err := c.request(ctx, r, actionsPush, http.MethodGet, address, nil, http.Header{"Accept": {typeManifest}})
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	switch res.StatusCode {
	case http.StatusNotFound:
		return "", nil
	case http.StatusOK:
		raw, err := bounded(res.Body, maxManifest, r.String())
		return digestOf(raw), err
	}
	return "", refused(r, "manifest", res)
}

// pushBlob stores a blob unless the repository has it.
func (c *Client) pushBlob(ctx context.Context, r Reference, blob []byte) error {
	digest := digestOf(blob)
	address, err := c.url(r, "blobs/"+digest)
	if err != nil {
		return err
	}
	res, err := c.request(ctx, r, actionsPush, http.MethodHead, address, nil, nil)
	if err != nil {
		return err
	}
	if err := res.Body.Close(); err != nil {
		return err
	}
	if res.StatusCode == http.StatusOK {
		return nil
	}
	if address, err = c.url(r, "blobs/uploads/"); err != nil {
		return err
	}
	res, err = c.request(ctx, r, actionsPush, http.MethodPost, address, nil, nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusAccepted {
		return refused(r, "upload", res)
	}
	to, err := c.uploadAddress(address, res.Header.Get("Location"), digest)
	if err != nil {
		return fmt.Errorf("%s: upload: %w", r, err)
	}
	header := http.Header{
		"Content-Type": {"application/octet-stream"}, "Content-Length": {strconv.Itoa(len(blob))},
	}
	return c.send(ctx, r, http.MethodPut, to, blob, header, http.StatusCreated)
}

// uploadAddress returns the address at which a registry accepts a blob, which may be relative.
func (c *Client) uploadAddress(from, location, digest string) (string, error) {
	base, err := url.Parse(from)
	if err != nil {
		return "", err
	}
	to, err := base.Parse(location)
	if err != nil || location == "" {
		return "", fmt.Errorf("the registry named no upload address")
	}
	if err := c.checkScheme(to); err != nil {
		return "", err
	}
	query := to.Query()
	query.Set("digest", digest)
	to.RawQuery = query.Encode()
	return to.String(), nil
}

func (c *Client) send(ctx context.Context, r Reference, method, address string, body []byte, header http.Header,
	want int,
) error {
	res, err := c.request(ctx, r, actionsPush, method, address, body, header)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != want {
		return refused(r, method, res)
	}
	_, err = io.Copy(io.Discard, io.LimitReader(res.Body, maxManifest))
	return err
}
