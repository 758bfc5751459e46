package component

import (
	"context"
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// maxPictures bounds the images of one round of tool calls that a model sees, and maxPictureBytes
// those of all rounds, which each request repeats, as data URLs.
const (
	maxPictures     = 8
	maxPictureBytes = 32 << 20
)

// pictureTypes are the images that all providers take; one of another type fails the request.
const pictureTypes = " image/png image/jpeg image/gif image/webp "

// toolImages precedes the images of tool results.
const toolImages = "The images in the tool results:"

// pictures returns the images among the files of tool answers as data URLs, if the model takes
// images. One that cannot be read is a warning: the result has its link.
func (t *task) pictures(ctx context.Context, answers []engine.ToolAnswer) (images []string) {
	warned := func(format string, args ...any) { warn(t.call, "tools", fmt.Errorf(format, args...)) }
	unseen := 0
	for _, file := range imagesOf(answers) {
		files := t.call.Ports().Files
		switch {
		case files == nil:
			return nil
		case !t.call.ModelInfo(ctx, t.agent.LLMID).Images:
			warned("the model takes no images, so images of tool results are not sent")
			return nil
		case len(images) == maxPictures || t.seen >= maxPictureBytes:
			unseen++
			continue
		case !strings.Contains(pictureTypes, " "+file.Get("mime_type").Text()+" "):
			warned("image %s of a tool result is %s, which models do not take",
				file.Get("name").Text(), file.Get("mime_type").Text())
			continue
		}
		url, err := files.Read(ctx, file)
		if err == nil {
			err = t.call.CheckText(int64(len(url)))
		}
		switch {
		case err != nil:
			warned("image %s of a tool result: %w", file.Get("name").Text(), err)
		case t.seen+len(url) > maxPictureBytes:
			unseen++
		case strings.HasPrefix(url, imageURL):
			images = append(images, url)
			t.seen += len(url)
		}
	}
	if unseen > 0 {
		warned("%d more images of tool results are not sent", unseen)
	}
	return images
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
