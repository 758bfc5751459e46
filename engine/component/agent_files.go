package component

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// maxPictures bounds the images of one round of tool calls that a model sees, and maxPictureBytes
// those of all messages of an agent and of the agents inside of it, which each request repeats, as
// data URLs.
const (
	maxPictures     = 8
	maxPictureBytes = 32 << 20
)

// pictureTypes are the images that all providers take, by their first bytes; one of another type
// fails the request.
var pictureTypes = []struct{ head, kind string }{
	{"\x89PNG\r\n\x1a\n", "png"}, {"\xff\xd8\xff", "jpeg"}, {"GIF8", "gif"}, {"RIFF????WEBP", "webp"},
}

// pictureOf returns the data URL of an image with the type of its bytes, whatever its server called
// it; ok is false for one of another type.
func pictureOf(url string) (typed string, ok bool) {
	_, data, _ := strings.Cut(url, ";base64,")
	head, _ := base64.StdEncoding.DecodeString(data[:min(len(data), 16)]) // as far as it is base64
	for _, t := range pictureTypes {
		same := len(head) >= len(t.head)
		for i := 0; same && i < len(t.head); i++ {
			same = t.head[i] == '?' || t.head[i] == head[i]
		}
		if same {
			return imageURL + t.kind + ";base64," + data, true
		}
	}
	return "", false
}

// toolImages precedes the images of tool results.
const toolImages = "The images in the tool results:"

// pictures returns the images among the files of tool answers as data URLs, if the model takes
// images. One that cannot be read is a warning: the result has its link.
func (t *task) pictures(ctx context.Context, answers []engine.ToolAnswer) (images []string) {
	warned := func(format string, args ...any) { warn(t.call, "tools", fmt.Errorf(format, args...)) }
	unseen, shown := 0, t.shown()
	most := engine.CountImages(t.call, shown-t.counted)
	t.counted = shown
	for _, file := range imagesOf(answers) {
		files := t.call.Ports().Files
		switch {
		case files == nil:
			return nil
		case !t.call.ModelInfo(ctx, t.agent.LLMID).Images:
			warned("the model takes no images, so images of tool results are not sent")
			return nil
		case len(images) == maxPictures || most >= maxPictureBytes:
			unseen++
			continue
		}
		url, err := files.Read(ctx, file)
		if err == nil {
			err = t.call.CheckText(int64(len(url)))
		}
		typed, known := pictureOf(url)
		switch {
		case err != nil:
			warned("image %s of a tool result: %w", file.Get("name").Text(), err)
		case !known:
			warned("image %s of a tool result (%s) is not PNG, JPEG, GIF or WebP, which models take",
				file.Get("name").Text(), file.Get("mime_type").Text())
		case !t.take(int64(len(typed)), &most):
			unseen++
		default:
			images = append(images, typed)
		}
	}
	if unseen > 0 {
		warned("%d more images of tool results are not sent", unseen)
	}
	return images
}

// take counts an image of n bytes, if there is room for it here and in the agents around.
func (t *task) take(n int64, most *int64) bool {
	if *most = engine.CountImages(t.call, n); *most <= maxPictureBytes {
		t.counted += n
		return true
	}
	*most = engine.CountImages(t.call, -n)
	return false
}

// shown returns the bytes of the images in all messages.
func (t *task) shown() (size int64) {
	for i := range t.messages {
		for _, image := range t.messages[i].Images {
			size += int64(len(image))
		}
	}
	return size
}

// imagesOf returns the descriptors of the stored images among the files of answers, as uploads.
func imagesOf(answers []engine.ToolAnswer) (list []engine.Value) {
	for _, a := range answers {
		for _, f := range a.Files {
			if id := f.Get("doc_id"); id.Truthy() && strings.HasPrefix(f.Get("mime_type").Text(), "image/") {
				list = append(list, f.With("id", id))
			}
		}
	}
	return list
}

// maxLinks is the number of links that are added to an answer.
const maxLinks = 100

// unnamedFiles returns links to files that tools made and the answer does not link to. A structured
// answer has none.
func (t *task) unnamedFiles(answer string) string {
	links := ""
	if !t.agent.schema.IsNull() {
		return links
	}
	added := map[string]bool{}
	for _, link := range artifactLinks(t.made) {
		if len(added) == maxLinks {
			break
		}
		if path, ok := fileOf(link.Str()); ok && !added[path] && !strings.Contains(answer, "("+path+")") {
			added[path] = true
			links += "\n\n" + link.Str()
		}
	}
	return links
}
