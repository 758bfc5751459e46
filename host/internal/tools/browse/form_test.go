package browse

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/egress/web"
)

const signUp = `<form method=post action="/sign-up?x=1#y"><input type=hidden name=token value=t1>
	<label for=n>Your name</label><input id=n name=name value="Bob"><input type=password name=pin>
	<select name=tea><option value=g>Green<option value=b selected>Black</select>
	<select name=days multiple><option>Mon<option>Tue</select>
	<label for=s>small</label><input id=s type=radio name=size value=s checked>
	<label for=l>large</label><input id=l type=radio name=size value=l>
	<input type=checkbox name=news value=weekly checked><input type=checkbox name=terms>
	<textarea name=note>hi</textarea><input name=off disabled><button name=go value=1>Send</button>
	<button name=stop value=1>Stop</button></form>
	<form action="javascript:1"><input name=a></form><template><form><input name=b></form></template>
	<form action="/search"><input type=search name=q placeholder="Search tea"></form>`

func formsOf(t *testing.T, body string) []Form {
	t.Helper()
	base, err := url.Parse("http://tea.example/shop/")
	require.NoError(t, err)
	page, err := readPage(base, strings.NewReader(body), "text/html")
	require.NoError(t, err)
	return page.Forms
}

// A form sends what a browser would send: values of the page unless the model sets others.
func TestFormEntries(t *testing.T) {
	forms := formsOf(t, signUp)
	require.Len(t, forms, 2)
	require.Equal(t, []int{0, 2}, []int{forms[0].index, forms[1].index}, "positions among document.forms")
	for _, c := range []struct{ given, want string }{
		{`{}`, "token=t1 name=Bob pin= tea=b size=s news=weekly note=hi go=1"},
		{
			`{"name": "Ada", "pin": 7, "tea": "Green", "size": "large", "news": false, "terms": true, "note": ""}`,
			"token=t1 name=Ada pin=7 tea=g size=l terms=on note= go=1",
		},
		{
			`{"days": ["Mon", "Tue"], "news": ["weekly"], "terms": "off"}`,
			"token=t1 name=Bob pin= tea=b days=Mon days=Tue size=s news=weekly note=hi go=1",
		},
	} {
		given, err := engine.ParseJSONText(c.given)
		require.NoError(t, err)
		list, err := forms[0].entries(given, nil)
		require.NoError(t, err)
		var got []string
		for _, e := range list {
			got = append(got, e.name+"="+e.value)
		}
		require.Equal(t, c.want, strings.Join(got, " "))
	}
	for given, want := range map[string]string{
		`{"nmae": "Ada"}`: `the form has no field "nmae" (one of token, name, pin`,
		`{"tea": "Mint"}`: `field tea: "Mint" is not among its choices`,
	} {
		v, err := engine.ParseJSONText(given)
		require.NoError(t, err)
		_, err = forms[0].entries(v, nil)
		require.ErrorContains(t, err, want)
	}
	require.Contains(t, forms[0].String(), "POST http://tea.example/sign-up?x=1\n")
	require.Contains(t, forms[0].String(), "- name (text) Your name\n- pin (password)")
	require.Contains(t, forms[0].String(), "- tea (select: g = Green, b = Black)")
	require.NotContains(t, forms[0].String(), "token")
	require.Equal(t, "GET http://tea.example/search\n- q (search) Search tea", forms[1].String())
}

func TestFormsAreBounded(t *testing.T) {
	forms := formsOf(t, strings.Repeat(`<form><input name=a></form>`, mostForms+5)+
		`<form>`+strings.Repeat(`<input name=b>`, 5000)+`</form>`)
	require.Len(t, forms, mostForms)
	forms = formsOf(t, `<form>`+strings.Repeat(`<input name=b>`, 5000)+`</form>`)
	require.Len(t, forms[0].Fields, mostFields)
}

// shop lets in who signs in, and remembers it in a cookie.
func shop(t *testing.T) *site {
	login := `<!doctype html><form method=post action="/login"><input name=user required>` +
		`<input type=password name=pin></form>`
	return serve(t, map[string]http.HandlerFunc{
		"/": func(w http.ResponseWriter, r *http.Request) {
			if c, err := r.Cookie("who"); err == nil {
				const hello = `<!doctype html><p>Hello %s<form action="/find" id=f><input name=q></form>`
				_, _ = fmt.Fprintf(w, hello, c.Value)
				return
			}
			_, _ = fmt.Fprint(w, login)
		},
		"/login": func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPost || r.FormValue("pin") != "0000" {
				w.WriteHeader(http.StatusForbidden)
				_, _ = fmt.Fprint(w, login+"wrong pin")
				return
			}
			http.SetCookie(w, &http.Cookie{Name: "who", Value: r.FormValue("user"), Path: "/", HttpOnly: true})
			http.Redirect(w, r, "/", http.StatusSeeOther)
		},
		"/find": func(w http.ResponseWriter, r *http.Request) {
			const found = "<!doctype html><p>found %s, %s<a href=/price.csv>prices</a>"
			_, _ = fmt.Fprintf(w, found, r.FormValue("q"), r.Header.Get("Cookie"))
		},
		"/price.csv": func(w http.ResponseWriter, r *http.Request) {
			if _, err := r.Cookie("who"); err != nil {
				w.WriteHeader(http.StatusForbidden)
			}
			_, _ = fmt.Fprint(w, "tea,4")
		},
	})
}

// signIn returns the steps of a model that signs in, searches and stores a file.
func signIn(address string) []string {
	return []string{
		open(address), `[{"name": "submit_form", "arguments": {"form": 1, "fields": {"user": "ada", "pin": "1"}}}]`,
		`[{"name": "submit_form", "arguments": {"form": 1, "fields": {"user": "ada", "pin": "0000"}}}]`,
		`[{"name": "submit_form", "arguments": {"form": 1, "fields": {"q": "green & black"}}}]`,
		`[{"name": "download", "arguments": {"url": 1}}]`, done,
	}
}

func TestModelSubmitsForms(t *testing.T) {
	pages := shop(t)
	testSigningIn(t, pages, &Browser{Network: &web.Client{AllowPrivate: true}})
}

func TestChromiumSubmitsForms(t *testing.T) {
	path := program(t)
	pages := shop(t)
	testSigningIn(t, pages, &Browser{Network: &inner{public: pages.host()}, Chromium: path})
}

// testSigningIn signs in, and then opens the site in further calls with and without the session.
func testSigningIn(t *testing.T, pages *site, b *Browser) {
	model, files := &script{answers: signIn(pages.URL)}, &drawer{map[string][]byte{}}
	b.Model, b.Files, b.Session = model, files, new(Session)
	params := engine.Object("max_steps", 9, "persist_session", true)
	visit := func(params engine.Value) {
		_, err := b.Call(t.Context(), params, engine.Object("prompts", "What is tea?"), "k")
		require.NoError(t, err)
	}
	visit(params)
	require.Contains(t, model.seen(1), "Form 1: POST "+pages.URL+"/login\n- user (text)\n- pin (password)")
	require.Contains(t, model.seen(2), "wrong pin")
	require.Contains(t, model.seen(3), "Hello ada")
	require.Contains(t, model.seen(4), "found green & black, who=ada")
	require.Equal(t, "tea,4", string(files.files["price.csv"]))

	model.answers, model.requests = []string{open(pages.URL), done}, nil
	visit(params)
	require.Contains(t, model.seen(1), "Hello ada", "the next node has the same session")
	model.answers, model.requests = []string{open(pages.URL), done}, nil
	visit(engine.Object("max_steps", 9))
	require.NotContains(t, model.seen(1), "Hello ada", "a node without persist_session has its own")
}

func TestMissingForms(t *testing.T) {
	pages := serve(t, map[string]http.HandlerFunc{"/": text(teaHouse)})
	submit := `[{"name": "submit_form", "arguments": {"form": 2}}]`
	model := &script{answers: []string{submit, open(pages.URL), submit, "never mind"}}
	_, err := call(t, &Browser{Network: &web.Client{AllowPrivate: true}, Model: model})
	require.NoError(t, err)
	require.Contains(t, model.seen(1), "failed: no page is open")
	require.Contains(t, model.requests[3].Messages[6].Content, `the page has no form "2"; it has 0`)
}

// A form leads to public addresses only, as a link does.
func TestFormsReachAllowedAddressesOnly(t *testing.T) {
	private := serve(t, map[string]http.HandlerFunc{"/": text("secret")})
	public := serve(t, map[string]http.HandlerFunc{
		"/": text(`<!doctype html><form method=post action="` + private.URL + `"><input name=a></form>`),
	})
	model := &script{answers: []string{
		open(public.URL), `[{"name": "submit_form", "arguments": {"form": 1, "fields": {"a": "b"}}}]`, done,
	}}
	_, err := call(t, &Browser{Network: &inner{public: public.host()}, Model: model})
	require.NoError(t, err)
	require.Contains(t, model.seen(2), web.ErrAddress.Error())
	require.Zero(t, private.count("/"))
}
