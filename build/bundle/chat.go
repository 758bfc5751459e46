package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// widgetFile is the script that sites include. Its name never changes.
const widgetFile = "widget.js"

// widgetBudget bounds widgetFile after gzip: every visitor of a site loads it.
const widgetBudget = 30_000

// chat builds the pages for visitors: the page of a chat, and the widget for other sites. The
// widget is one classic script, because a module has no currentScript.
func (b bundler) chat() error {
	options := b.options()
	options.EntryPoints = []string{"widget/widget.ts"}
	options.EntryNames = strings.TrimSuffix(widgetFile, ".js")
	options.Format, options.Splitting = api.FormatIIFE, false
	if _, err := b.build(options); err != nil {
		return err
	}
	options = b.options()
	options.EntryPoints = []string{"widget/share.ts"}
	options.EntryNames = "assets/share-[hash]"
	built, err := b.build(options)
	if err != nil || b.packages != nil {
		return err
	}
	html, err := os.ReadFile(b.abs("web/widget/share.html"))
	if err != nil {
		return err
	}
	// The page is served one folder below the root.
	script := fmt.Sprintf(`<script type="module" src="../%s"></script>`, built.main(".js"))
	text := strings.Replace(string(html), "<!-- scripts -->", script, 1)
	return os.WriteFile(filepath.Join(b.out, "share.html"), []byte(text), 0o644)
}

// checkWidget refuses a widget that exceeds its budget.
func (b bundler) checkWidget() error {
	text, err := os.ReadFile(filepath.Join(b.out, widgetFile))
	if err != nil {
		return err
	}
	size, err := gzipped(text)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d bytes gzip of %d\n", widgetFile, size, widgetBudget)
	if size > widgetBudget {
		over := size - widgetBudget
		return fmt.Errorf("%s weighs %d bytes gzip, %d over its budget of %d", widgetFile, size, over, widgetBudget)
	}
	return nil
}
