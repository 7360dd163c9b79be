package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"io"
	"iter"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A browsed is a running market and a browser that displays it.
type browsed struct {
	t      *testing.T
	dir    string
	market *exec.Cmd
	url    string
	ctx    context.Context                // context of the browser
	opens  string                         // selector of the elements to open before a page is judged
	screen func(page, mode string) string // file of a picture; empty if no picture is taken
	varies string                         // selector of the elements that look different each time

	mu     sync.Mutex
	errors []string // errors on the browser's console
}

// TestPage checks the page of a running market in a browser. Prices appear, and the keyboard
// alone leads from a contract to its ledger entry. The page shows what commands print. When the
// market is killed and restarted, the page continues. There must be no errors on the console
// and no violations of axe's rules, in light and dark mode, 400 pixels wide, and without
// scripts. It runs programs and a browser, only in the nightly part page. With -update, it
// writes the screenshots.
func TestPage(t *testing.T) {
	if os.Getenv("BOURSE_CI") == "" {
		t.Skip("a browser runs in the nightly part page: BOURSE_CI=1 runs it")
	}
	b := &browsed{t: t, dir: t.TempDir(), opens: "details", varies: ".chart, thead, tbody, .line, footer", screen: func(page, mode string) string {
		if page != "market" && page != "contract" {
			return ""
		}
		return filepath.Join("..", "..", "experiments", "live", "page", "screens", page+"-"+mode+".png")
	}}
	b.start("127.0.0.1:0")
	t.Cleanup(func() { b.stop(os.Interrupt) })
	b.browse()
	b.do(chromedp.Navigate(b.url))
	b.await(`document.querySelector('#hosts a')?.textContent === 'h00' && document.querySelector('#stream').textContent === 'follows the market'`)

	// Prices appear when a user submits a request, and are the same as the output of
	// 'price'.
	b.submit("0.50", 12)
	b.await(`document.querySelector('#open a')?.textContent === '1' && document.querySelectorAll('#prices tr[data-x]').length > 1 && document.querySelector('.chart canvas') !== null`)
	price := strings.TrimSuffix(strings.Fields(b.command("price", "h00"))[1], "/s")
	if got := b.text(`#prices tbody tr:last-child td:last-child`); "$"+got != price {
		t.Errorf("the page says %s, and 'price' %s", got, price)
	}
	time.Sleep(2 * time.Second) // so that the charts contain prices
	b.submit("0.25", 6)
	b.await(`document.querySelectorAll('#open a').length === 2`)
	time.Sleep(2 * time.Second)
	b.judge("market")

	// Use the keyboard to go to the contract and to its ledger entry.
	b.tab("/contracts/1")
	b.await(`document.querySelector('h1')?.textContent === 'Contract 1' && document.querySelectorAll('.chart canvas').length === 2`)
	b.judge("contract")
	b.command("status", "1", "--wait")
	b.await(`document.querySelector('.line').textContent.startsWith('1 fulfilled') && document.querySelector('a[href^="/ledger#"]') !== null`)
	if got, want := strings.Join(strings.Fields(b.text(".line")), " "), strings.Join(strings.Fields(b.command("status", "1")), " "); got != want {
		t.Errorf("the page says %q, and 'status' %q", got, want)
	}
	var shown contractsShown
	if err := json.Unmarshal([]byte(b.command("status", "1", "--json")), &shown); err != nil || len(shown.Contracts) != 1 {
		t.Fatalf("%v, %+v", err, shown)
	}
	settled := shown.Contracts[0].Settlement
	entry, _, _ := strings.Cut(settled, ":")
	b.tab("/ledger#e" + entry)
	b.await(`location.hash === '#e` + entry + `' && document.querySelector('tr:target') !== null`)
	if got := b.text("tr:target .sum"); got != settled || got == "" {
		t.Errorf("the ledger's line has %q, and 'status' %q", got, settled)
	}
	b.judge("ledger")
	b.tab("/about")
	b.await(`document.querySelector('#rules') !== null`)
	b.judge("about")
	b.do(chromedp.Navigate(b.url + "/hosts/h00"))
	b.await(`document.querySelector('.chart canvas') !== null`)
	b.judge("host")

	// The pages for programs must be available, too.
	for path, want := range map[string]string{"/healthz": "trading\n", "/metrics": "\nbourse_host_up{host=\"h00\"} 1\n"} {
		answer, err := http.Get(b.url + path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		if answer.Body.Close(); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %s, %v, want %q", path, text, err, want)
		}
	}

	// Kill the market; the open page must report this and continue.
	b.do(chromedp.Navigate(b.url))
	b.await(`document.querySelector('#stream').textContent === 'follows the market'`)
	b.quiet()
	b.run(`window.before = Number(document.querySelector('#main').dataset.heard)`)
	b.stop(os.Kill)
	b.await(`document.querySelector('#stream').textContent.startsWith('the market is away')`)
	b.start(strings.TrimPrefix(b.url, "http://"))
	b.await(`document.querySelector('#stream').textContent === 'follows the market'`)
	b.submit("0.10", 0)
	b.await(`[...document.querySelectorAll('#open a, #ended a')].some(a => a.textContent === '3') && Number(document.querySelector('#main').dataset.heard) > window.before`)
	b.forget() // drop the errors of the time when the market did not answer

	// Without scripts, the tables must still be displayed.
	b.do(set(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}), chromedp.Navigate(b.url))
	page := look(b, chromedp.OuterHTML("#main"))
	if !strings.Contains(page, `<a href="/hosts/h00">h00</a>`) || !strings.Contains(page, `<a href="/contracts/3">3</a>`) || strings.Contains(page, "<canvas") {
		t.Errorf("without script:\n%s", page)
	}
	b.quiet()
}

// fonts is the font configuration of the browser in a test, so that words have the same
// width on every machine.
const fonts = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
<dir>/usr/share/fonts/truetype/dejavu</dir>
<cachedir>%s</cachedir>
<alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
<match><edit name="family" mode="append_last"><string>DejaVu Sans</string></edit></match>
</fontconfig>
`

// browse starts a browser and records its console.
func (b *browsed) browse() {
	b.t.Helper()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		b.t.Fatalf("%v: want Debian's chromium, apt-get install chromium", err)
	}
	if _, err := os.Stat("/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf"); err != nil {
		b.t.Fatalf("%v: want Debian's fonts, apt-get install fonts-dejavu-core", err)
	}
	config := filepath.Join(b.dir, "fonts.conf")
	if err := os.WriteFile(config, fmt.Appendf(nil, fonts, filepath.Join(b.dir, "fonts")), 0o644); err != nil {
		b.t.Fatal(err)
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(chromium), chromedp.NoSandbox, chromedp.WindowSize(900, 900), chromedp.UserDataDir(filepath.Join(b.dir, "browser")), chromedp.Env("FONTCONFIG_FILE="+config))
	allocated, done := chromedp.NewExecAllocator(b.t.Context(), options...)
	b.t.Cleanup(done)
	ctx, done := chromedp.NewContext(allocated)
	b.t.Cleanup(done)
	b.ctx = ctx
	go b.listen(chromedp.Console(ctx))
}

// submit requests a program that works for the given number of seconds.
func (b *browsed) submit(budget string, seconds int) {
	b.t.Helper()
	b.command("submit", "--work", "10", "--deadline", "60", "--budget", budget, "--class", "be", "--",
		"sh", "-c", fmt.Sprintf("end=$(($(date +%%s)+%d)); while [ $(date +%%s) -lt $end ]; do i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done; done", seconds))
}

// start runs the market at an address and waits until it answers.
func (b *browsed) start(address string) {
	b.t.Helper()
	b.market = exec.Command("bourse", "live", filepath.Join(b.dir, "lab"), "--listen", address)
	b.market.Env = b.env()
	said := new(bytes.Buffer)
	var mu sync.Mutex
	b.market.Stdout, b.market.Stderr = writerFunc(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return said.Write(p)
	}), os.Stderr
	if err := b.market.Start(); err != nil {
		b.t.Fatal(err)
	}
	for range 200 {
		mu.Lock()
		url := regexp.MustCompile(`http://\S+`).FindString(said.String())
		mu.Unlock()
		if url != "" {
			b.url = url
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	b.t.Fatalf("the market says %s", said)
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func (b *browsed) env() []string {
	return append(os.Environ(), "BOURSE_HOME="+filepath.Join(b.dir, "home"), "LC_ALL=C.UTF-8")
}

func (b *browsed) stop(signal os.Signal) {
	b.market.Process.Signal(signal)
	b.market.Wait()
}

// command runs a command and returns its output.
func (b *browsed) command(args ...string) string {
	b.t.Helper()
	c := exec.Command("bourse", args...)
	c.Dir, c.Env, c.Stderr = b.dir, b.env(), os.Stderr
	out, err := c.Output()
	if err != nil {
		b.t.Fatalf("bourse %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// listen records the errors on the browser's console.
func (b *browsed) listen(said iter.Seq2[chromedp.ConsoleMessage, error]) {
	for m, err := range said {
		if err != nil {
			return // the test has ended
		}
		if m.Type == chromedp.ConsoleWarning || m.Type == chromedp.ConsoleError || m.IsException() {
			b.mu.Lock()
			b.errors = append(b.errors, m.String())
			b.mu.Unlock()
		}
	}
}

// quiet checks that there were no errors so far.
func (b *browsed) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.errors) > 0 {
		b.t.Errorf("on the console:\n%s", strings.Join(b.errors, "\n"))
	}
	b.errors = nil
}

// forget drops errors that say that the market does not answer.
func (b *browsed) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.errors = slices.DeleteFunc(b.errors, func(e string) bool { return strings.Contains(e, "net::ERR_") })
}

func (b *browsed) do(steps ...chromedp.Action[chromedp.Void]) { look(b, chromedp.Steps(steps...)) }

// run runs a script.
func (b *browsed) run(js string) { look(b, chromedp.Evaluate[any](js)) }

// set returns the step that calls the browser with the given arguments.
func set[P any](c cdp.Command[P, cdp.Empty], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

// look returns the browser's answer.
func look[T any](b *browsed, a chromedp.Action[T]) T {
	b.t.Helper()
	ctx, done := context.WithTimeout(b.ctx, time.Minute)
	defer done()
	x, err := chromedp.Run(ctx, a)
	if err != nil {
		b.t.Fatal(err)
	}
	return x
}

// await waits until an expression is true. While one page replaces another, the browser may
// be unable to evaluate the expression, so errors are ignored.
func (b *browsed) await(js string) {
	b.t.Helper()
	var last error
	for range 300 {
		ctx, done := context.WithTimeout(b.ctx, time.Minute)
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`Boolean(`+js+`)`))
		if done(); ok {
			return
		}
		last = err
		time.Sleep(100 * time.Millisecond)
	}
	b.t.Fatalf("never %s: %v\n%s", js, last, look(b, chromedp.OuterHTML("html")))
}

// text returns the text of an element.
func (b *browsed) text(selector string) string {
	b.t.Helper()
	return look(b, chromedp.Evaluate[string](fmt.Sprintf(`document.querySelector(%q)?.textContent ?? ''`, selector)))
}

// tab presses the tab key until the focus is on the link to a path and then follows the
// link. Every element that gets the focus on the way must be visible.
func (b *browsed) tab(path string) {
	b.t.Helper()
	b.run(`document.activeElement.blur()`)
	for range 200 {
		b.do(chromedp.KeyEvent(kb.Tab))
		at := look(b, chromedp.Evaluate[struct{ Href, Outline, Tag string }](`(() => {
			const e = document.activeElement, s = getComputedStyle(e);
			return {Href: e.getAttribute('href') ?? '', Outline: s.outlineStyle + ' ' + s.outlineWidth, Tag: e.outerHTML.slice(0, 80)};
		})()`))
		if at.Outline != "solid 3px" && !strings.HasPrefix(at.Tag, "<body") {
			b.t.Errorf("%s has the focus, and its outline is %s", at.Tag, at.Outline)
		}
		if at.Href == path {
			b.do(chromedp.KeyEvent(kb.Enter))
			return
		}
	}
	b.t.Fatalf("no way to %s by keyboard", path)
}

// judge checks a page by axe's rules in light and dark mode and 400 pixels wide, with all
// sections open. It also takes a screenshot.
func (b *browsed) judge(name string) {
	b.t.Helper()
	axe, err := os.ReadFile(filepath.Join("..", "..", "experiments", "live", "page", "testdata", "axe.min.js"))
	if err != nil {
		b.t.Fatal(err)
	}
	b.modes(func(mode string, width int64) {
		b.await(fmt.Sprintf(`[...document.querySelectorAll('.chart canvas')].every(c => c.getBoundingClientRect().width <= %d)`, width))
		time.Sleep(200 * time.Millisecond)
		if file := b.screen(name, mode); file != "" {
			b.picture(file, chromedp.FullScreenshot(100))
		}
		if wide := look(b, chromedp.Evaluate[int64](`document.documentElement.scrollWidth`)); wide > width {
			b.t.Errorf("%s, %s: %d pixels wide, want %d", name, mode, wide, width)
		}
		b.run(fmt.Sprintf(`document.querySelectorAll(%q).forEach(d => { d.open = true })`, b.opens))
		b.run(string(axe) + "; 0")
		violations := look(b, chromedp.Evaluate[[]struct{ ID, Help, HTML string }](
			`axe.run().then(r => r.violations.map(v => ({ID: v.id, Help: v.help, HTML: v.nodes.map(n => n.html).join('\n')})))`, chromedp.EvalAwaitPromise))
		b.run(fmt.Sprintf(`document.querySelectorAll(%q).forEach(d => { d.open = false })`, b.opens))
		for _, v := range violations {
			b.t.Errorf("%s, %s: %s: %s\n%s", name, mode, v.ID, v.Help, v.HTML)
		}
	})
	b.quiet()
}

// modes calls f for a page in light mode, in dark mode and 400 pixels wide.
func (b *browsed) modes(f func(mode string, width int64)) {
	b.t.Helper()
	for _, c := range []struct {
		mode, scheme string
		width        int64
	}{{"light", "light", 900}, {"dark", "dark", 900}, {"400", "light", 400}} {
		b.do(
			set(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: c.scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}}),
			set(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: c.width, Height: 900, DeviceScaleFactor: 1}),
		)
		f(c.mode, c.width)
	}
	b.do(set(emulation.ClearDeviceMetricsOverride, cdp.Empty{}))
}

// picture compares a screenshot with a file or, with -update, writes the file.
func (b *browsed) picture(file string, take chromedp.Action[[]byte]) {
	b.t.Helper()
	shot := look(b, take)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			b.t.Fatal(err)
		}
		if err := os.WriteFile(file, shot, 0o644); err != nil {
			b.t.Fatal(err)
		}
		return
	}
	got, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		b.t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		b.t.Fatalf("%v: -update writes it", err)
	}
	want, err := png.Decode(bytes.NewReader(text))
	if err != nil {
		b.t.Fatalf("%s: %v", file, err)
	}
	var hidden []image.Rectangle
	if b.varies != "" {
		for _, r := range look(b, chromedp.Evaluate[[]struct{ Left, Top, Right, Bottom float64 }](fmt.Sprintf(`[...document.querySelectorAll(%q)].map(e => e.getBoundingClientRect()).map(r => (
			{Left: r.left + scrollX, Top: r.top + scrollY, Right: r.right + scrollX, Bottom: r.bottom + scrollY}))`, b.varies))) {
			hidden = append(hidden, image.Rect(int(r.Left), int(r.Top), int(r.Right)+1, int(r.Bottom)+1))
		}
	}
	if wrong := unlike(got, want, hidden); wrong != "" {
		b.t.Errorf("the page is not as %s: %s; -update writes it as it is", file, wrong)
	}
}
