// Package ocr reads images by a service over HTTP, with the API that LiteParse and the servers made
// for it share:
//
//	POST /ocr as multipart/form-data: file (the image), language (such as en)
//	200 {"results": [{"text": "...", "bbox": [left, top, right, bottom], "confidence": 0.9}, ...]}
//
// Boxes are in pixels from the upper left corner. This package puts the results of the service into
// reading order: lines, columns and paragraphs.
package ocr

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/easel-canvas/easel/engine/block"
	"github.com/easel-canvas/easel/host/internal/document/layout"
	"github.com/easel-canvas/easel/host/internal/knowledge/models/endpoint"
)

// Service is an OCR service. It implements [document.PlacedOCR] and is safe for concurrent use.
type Service struct {
	endpoint endpoint.Endpoint
	language string
}

// Limits of an answer.
const (
	maxAnswer  = 16 << 20 // bytes
	maxResults = 100_000
)

// New makes a service of a setting: the address of its endpoint, with a language behind #, which is
// en when left out. key is sent as a bearer token unless it is "".
func New(setting, key string, client *http.Client) (*Service, error) {
	address, language, _ := strings.Cut(setting, "#")
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("OCR: unknown address (want http://HOST/ocr or http://HOST/ocr#LANGUAGE)")
	}
	if language == "" {
		language = "en"
	}
	e := endpoint.Endpoint{URL: address, Key: key, Client: client, MaxAnswer: maxAnswer}
	return &Service{e, language}, nil
}

// answer of the service.
type answer struct {
	Results *[]result `json:"results"`
}

type result struct {
	Text string    `json:"text"`
	Box  []float64 `json:"bbox"`
}

// Recognize returns the text of an image in reading order.
func (s *Service) Recognize(ctx context.Context, image []byte) (string, error) {
	blocks, err := s.Blocks(ctx, image)
	return block.Plain(blocks), err
}

// Blocks sends an image and returns its text in reading order, with its place in pixels. A busy
// service is asked again; one that refuses the image is an error with its answer.
func (s *Service) Blocks(ctx context.Context, image []byte) ([]block.Block, error) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	err := form.WriteField("language", s.language)
	if err == nil {
		part, partErr := form.CreateFormFile("file", "image"+extension(image))
		if err = partErr; err == nil {
			_, err = part.Write(image)
		}
	}
	if err = errors.Join(err, form.Close()); err != nil {
		return nil, err // a buffer does not fail
	}
	var a answer
	if err := s.endpoint.Send(ctx, form.FormDataContentType(), body.Bytes(), &a); err != nil {
		return nil, err
	}
	switch {
	case a.Results == nil:
		return nil, fmt.Errorf("%s: the answer has no results", s.endpoint.Name())
	case len(*a.Results) > maxResults:
		return nil, fmt.Errorf("%s: the answer has %d results; at most %d are read",
			s.endpoint.URL, len(*a.Results), maxResults)
	}
	page, err := pageOf(*a.Results)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.endpoint.Name(), err)
	}
	var d layout.Document
	d.Add(page)
	blocks, err := d.Blocks(ctx)
	for i := range blocks {
		for k := range blocks[i].Positions {
			at := &blocks[i].Positions[k]
			at.Left, at.Right, at.Top, at.Bottom = at.Left*pixels, at.Right*pixels, at.Top*pixels, at.Bottom*pixels
		}
	}
	return blocks, err
}

// extension returns the file name extension of an image, for servers that derive the format from
// it.
func extension(image []byte) string {
	switch http.DetectContentType(image) {
	case "image/jpeg":
		return ".jpg"
	case "image/gif":
		return ".gif"
	case "image/webp":
		return ".webp"
	}
	return ".png"
}

// pixels per point of drawn pages: the layout is found in points.
const pixels = 2.5

// pageOf makes a page of results. A result may be a line; its words share its box by their lengths.
func pageOf(results []result) (layout.Page, error) {
	page := layout.Page{Number: 1}
	for i, r := range results {
		if len(r.Box) != 4 || r.Box[0] > r.Box[2] || r.Box[1] > r.Box[3] {
			return page, fmt.Errorf("result %d: bbox is not [left, top, right, bottom]", i)
		}
		text := strings.ToValidUTF8(r.Text, "\uFFFD")
		left, top, right, bottom := r.Box[0]/pixels, r.Box[1]/pixels, r.Box[2]/pixels, r.Box[3]/pixels
		step := (right - left) / float64(max(1, utf8.RuneCountInString(text)))
		at := 0
		for word := range strings.SplitSeq(text, " ") {
			n := utf8.RuneCountInString(word)
			if strings.TrimSpace(word) != "" {
				page.Words = append(page.Words, layout.Word{Text: strings.TrimSpace(word), Box: layout.Box{
					Left: left + step*float64(at), Right: left + step*float64(at+n), Top: top, Bottom: bottom,
				}})
			}
			at += n + 1
		}
		page.Height = max(page.Height, bottom)
	}
	return page, nil
}
