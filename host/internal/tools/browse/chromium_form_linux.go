package browse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/easel-canvas/easel/engine"
)

// leastWait is the time in which a page whose script handles a form may begin to load another one.
// Most such scripts stay on the page.
const leastWait = 3 * time.Second

// fillForm fills in a form of the page and submits it as its first button does.
const fillForm = `(function (index, fields) {
	const form = document.forms[index];
	if (!form) return {error: "the form is gone; open the page again"};
	const elements = [...form.elements].filter((e) => !e.disabled);
	for (const [name, value] of Object.entries(fields)) {
		const values = (Array.isArray(value) ? value : [value]).map(String);
		for (const e of elements.filter((e) => e.name === name)) {
			if (e.type === "checkbox" || e.type === "radio") {
				const label = [...(e.labels ?? [])].map((l) => l.textContent.trim());
				const named = values.includes(e.value) || e.type === "radio" && label.some((l) => values.includes(l));
				e.checked = typeof value === "boolean" ? value : named;
			} else if (e.tagName === "SELECT") {
				for (const o of e.options) o.selected = values.includes(o.value) || values.includes(o.text.trim());
			} else if (e.type !== "file" && e.type !== "submit") {
				const own = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(e), "value");
				own.set.call(e, value === null ? "" : values[0]); // past the scripts that watch the field
			}
			e.dispatchEvent(new Event("input", {bubbles: true}));
			e.dispatchEvent(new Event("change", {bubbles: true}));
		}
	}
	const wrong = elements.find((e) => !e.checkValidity());
	if (wrong) return {error: "field " + wrong.name + ": " + wrong.validationMessage};
	let leads = false;
	window.addEventListener("submit", (e) => { leads = !e.defaultPrevented; }, {once: true});
	const button = elements.find((e) => e.type === "submit" || e.type === "image");
	if (button) button.click();
	else form.requestSubmit();
	return {leads};
})(%d, %s)`

// Submit implements opener.
func (c *chromium) Submit(ctx context.Context, form *Form, values engine.Value) (*Page, error) {
	if err := form.check(values, c.uploads); err != nil {
		return nil, err
	}
	fields := "{}"
	if values.Kind() == engine.KindObject {
		fields = values.JSON()
	}
	ctx, stop := c.bounded(ctx)
	defer stop()
	if err := c.chooseFiles(ctx, form, values); err != nil {
		return nil, err
	}
	started, loaded := c.on("Page.frameStartedLoading"), c.on("Page.loadEventFired")
	var answer struct {
		Result struct {
			Value struct {
				Error string
				Leads bool // the browser loads what follows; else a script of the page may
			}
		}
	}
	params := object{"expression": fmt.Sprintf(fillForm, form.index, fields), "returnByValue": true}
	if err := c.call(ctx, c.session, "Runtime.evaluate", params, &answer); err != nil {
		return nil, err
	}
	if answer.Result.Value.Error != "" {
		return nil, errors.New(answer.Result.Value.Error)
	}
	leads := answer.Result.Value.Leads
	if !leads {
		var err error
		if leads, err = c.await(ctx, started, leastWait); err != nil {
			return nil, err
		}
	}
	if leads {
		if _, err := c.await(ctx, loaded, longestPage/2); err != nil {
			return nil, err
		}
	}
	return c.readOpen(ctx)
}

// chooseFiles puts the files that a model named into the file fields of a form.
func (c *chromium) chooseFiles(ctx context.Context, form *Form, values engine.Value) error {
	for _, field := range form.Fields {
		v, given := values.Lookup(field.Name)
		if field.Type != "file" || !given {
			continue
		}
		paths := []string{}
		for _, name := range namesIn(v) {
			path, err := c.uploads.find(name).onDisk(c.folder)
			if err != nil {
				return fmt.Errorf("field %s: %w", field.Name, err)
			}
			paths = append(paths, path)
		}
		var input struct{ Result struct{ ObjectID string } }
		const find = `[...(document.forms[%d]?.elements ?? [])].find((e) => e.type === "file" && e.name === %s)`
		expression := fmt.Sprintf(find, form.index, engine.String(field.Name).JSON())
		if err := c.call(ctx, c.session, "Runtime.evaluate", object{"expression": expression}, &input); err != nil {
			return err
		}
		if input.Result.ObjectID == "" {
			return fmt.Errorf("field %s is gone; open the page again", field.Name)
		}
		params := object{"files": paths, "objectId": input.Result.ObjectID}
		if err := c.call(ctx, c.session, "DOM.setFileInputFiles", params, nil); err != nil {
			return err
		}
	}
	return nil
}

// Cookies implements opener.
func (c *chromium) Cookies(ctx context.Context, address string) (http.CookieJar, error) {
	jar := newJar()
	u, err := url.Parse(address)
	if err != nil || checkAddress(address) != nil {
		return jar, nil // it is refused where it is opened
	}
	var answer struct {
		Cookies []struct{ Name, Value string }
	}
	if err := c.call(ctx, c.session, "Network.getCookies", object{"urls": []string{address}}, &answer); err != nil {
		return nil, err
	}
	var list []*http.Cookie
	for _, cookie := range answer.Cookies {
		list = append(list, &http.Cookie{Name: cookie.Name, Value: cookie.Value})
	}
	jar.SetCookies(u, list)
	return jar, nil
}

// keepCookies leaves the cookies to the next browser of the session.
func (c *chromium) keepCookies() error {
	ctx, stop := context.WithTimeoutCause(c.ctx, longestPage, ErrTime)
	defer stop()
	var answer struct{ Cookies []json.RawMessage }
	if err := c.call(ctx, "", "Storage.getCookies", object{}, &answer); err != nil {
		return err
	}
	c.sites.chromium = answer.Cookies
	return nil
}
