package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"bourse/bank/export"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// smallMarket is a scenario whose page is so small that the test can check every part.
const smallMarket = `
name: small
title: A small market
replications: 5
base:
  fleet: {hosts: 5}
  workload: {model: {name: paper, jobs: 10, users: 4, budget: 100, iat: {min: 20, mean: 60, max: 300}, nodes: {min: 1, max: 3}}}
  admission: [be, sac, cac]
configurations:
  - name: calm
  - name: busy
    workload: {model: {iat: {min: 1, mean: 10}}}
`

// TestReportPage checks the page of results in a browser. A click on a point of a figure leads
// to its row, from there to a replication, to a job and to the job's ledger entry. The hash of
// this entry must be the one that 'ledger show' prints. The same must work by keyboard and
// without scripts. There must be no requests, no errors on the console and no violations of
// axe's rules, in light and dark mode. At a width of 400 pixels, the metric's column must stay.
// The page must look like its screenshots. The test runs a browser, only in the nightly part
// page. With -update, it writes the screenshots.
func TestReportPage(t *testing.T) {
	if os.Getenv("BOURSE_CI") == "" {
		t.Skip("a browser runs in the nightly part page: BOURSE_CI=1 runs it")
	}
	b := &browsed{t: t, dir: t.TempDir(), opens: `details:has([id="job/busy/cac/7"]), #comparisons + p + details`, screen: func(page, mode string) string {
		return filepath.Join("..", "..", "experiments", "report", "screens", page+"-"+mode+".png")
	}}
	dir := filepath.Join(b.dir, "r")
	if err := os.WriteFile(filepath.Join(b.dir, "small.yaml"), []byte(smallMarket), 0o644); err != nil {
		t.Fatal(err)
	}
	b.command("run", "small.yaml", "--quiet", "--out", dir)
	page := strings.TrimSpace(b.command("open", "--print", dir))
	b.browse()
	b.do(chromedp.Navigate("file://" + page))
	b.await(`document.querySelector('#findings') !== null && document.querySelector('button') !== null`)
	if n := len(look(b, chromedp.Evaluate[[]string](`performance.getEntriesByType('resource').map(r => r.name)`))); n > 0 {
		t.Errorf("the page asks for %d files", n)
	}
	b.judge("report")

	// A click on a point leads to its row.
	const row = "row/busy/cac/rejections"
	b.run(fmt.Sprintf(`document.querySelector('a[href="#%s"]').scrollIntoView({block: 'center', behavior: 'instant'})`, row))
	at := look(b, chromedp.Evaluate[struct{ X, Y float64 }](fmt.Sprintf(`(() => {
		const r = document.querySelector('.points a[href="#%s"]').getBoundingClientRect();
		return {X: r.x + r.width / 2, Y: r.y + r.height / 2};
	})()`, row)))
	title := look(b, chromedp.Evaluate[string](fmt.Sprintf(`document.querySelector('.points a[href="#%s"] title').textContent`, row)))
	if ok, _ := regexp.MatchString(`^Rejections, Busy, CAC: 0\.\d+, 95 % interval -?0?\.?\d+ to [0-9.]+, n 5$`, title); !ok {
		t.Errorf("the point says %q", title)
	}
	b.do(chromedp.MouseClickXY(at.X, at.Y))
	b.await(fmt.Sprintf(`location.hash === '#%s' && document.querySelector('tr:target').offsetParent !== null`, row))

	// Go from there to the ledger, link by link. Each link must be visible.
	const run = "busy/cac"
	for _, place := range []string{"rep/" + run + "/0", "jobs/" + run, "job/" + run + "/7"} {
		b.follow(":target", place)
	}
	b.modes(func(mode string, _ int64) {
		b.run(`document.querySelector(':target').scrollIntoView({block: 'start', behavior: 'instant'})`)
		time.Sleep(200 * time.Millisecond)
		b.picture(b.screen("job", mode), chromedp.CaptureScreenshot())
	})
	entry := look(b, chromedp.Evaluate[struct{ Seq, Hash, Note string }](`(() => {
		const row = document.querySelector(':target').closest('details').querySelector('table.rows tbody tr');
		return {Seq: row.cells[0].textContent, Hash: row.querySelector('code').textContent, Note: row.cells[4].textContent};
	})()`))
	out := b.command("ledger", "show", filepath.Join(dir, "ledger", "busy", "cac", "0"), "--contract", "7", "--json")
	var line export.Line
	if err := json.Unmarshal([]byte(out[:strings.IndexByte(out, '\n')]), &line); err != nil {
		t.Fatal(err)
	}
	if entry.Hash != line.Hash.String() || entry.Seq != fmt.Sprint(line.Seq) || len(entry.Hash) != 44 {
		t.Errorf("the page has entry %s with hash %s, and 'ledger show' %d with %v", entry.Seq, entry.Hash, line.Seq, line.Hash)
	}
	if got := b.text(`:target ~ p`); !strings.HasPrefix(got, "Decided: ") {
		t.Errorf("of its decision the page says %q", got)
	}
	b.quiet()

	// Go back from the job to the list of jobs, the replication and the row.
	b.follow(":target", "jobs/"+run)
	b.follow(":target + p", "rep/"+run+"/0")
	b.follow(":target", "row/busy/cac/violations")

	// With the keyboard, the tab key stops once at a figure, the arrow keys select the next
	// point, and return leads to the row of the point.
	b.do(chromedp.Navigate("file://"+page), chromedp.Reload())
	b.await(`document.querySelector('button') !== null && location.hash === ''`)
	for range 40 {
		b.do(chromedp.KeyEvent(kb.Tab))
		if look(b, chromedp.Evaluate[bool](`document.activeElement.closest('.points') !== null`)) {
			break
		}
	}
	first := look(b, chromedp.Evaluate[string](`document.activeElement.getAttribute('href') ?? ''`))
	b.do(chromedp.KeyEvent(kb.ArrowRight))
	second := look(b, chromedp.Evaluate[string](`document.activeElement.getAttribute('href') ?? ''`))
	if shown := b.text("#hover"); first == second || !strings.HasPrefix(second, "#row/") || !strings.Contains(shown, "95 % interval") {
		t.Errorf("by keyboard from %q to %q, which says %q", first, second, shown)
	}
	b.do(chromedp.KeyEvent(kb.Enter))
	b.await(fmt.Sprintf(`location.hash === %q && document.querySelector('tr:target').offsetParent !== null`, second))

	// Rows can be sorted and filtered.
	sorted := look(b, chromedp.Evaluate[[]string](`(() => {
		const table = document.querySelector('tr:target').closest('table');
		table.querySelectorAll('th button')[2].click();
		return [...table.tBodies[0].rows].map(r => r.cells[2].textContent);
	})()`))
	for i := 1; i < len(sorted); i++ {
		if a, b := number64(sorted[i-1]), number64(sorted[i]); a > b {
			t.Errorf("sorted by mean, %v comes before %v", a, b)
		}
	}
	left := look(b, chromedp.Evaluate[int](`(() => {
		const table = document.querySelector('tr:target').closest('table'), input = table.parentElement.previousElementSibling.querySelector('input');
		input.value = 'violations';
		input.dispatchEvent(new Event('input'));
		return [...table.tBodies[0].rows].filter(r => !r.hidden).length;
	})()`))
	if left != 1 {
		t.Errorf("%d rows with violations, want 1", left)
	}

	// At 400 pixels, the metric's column stays while the others scroll.
	b.do(set(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 400, Height: 900, DeviceScaleFactor: 1}))
	if x := look(b, chromedp.Evaluate[float64](`(() => {
		const box = document.querySelector('#tables ~ .scroll');
		box.scrollLeft = 200;
		return box.scrollLeft < 100 ? -1 : Math.abs(box.querySelector('tbody tr > *').getBoundingClientRect().left - box.getBoundingClientRect().left);
	})()`)); x < 0 || x > 1 {
		t.Errorf("the metric's column is %v pixels off", x)
	}
	b.quiet()

	// Without scripts, the same links work.
	b.do(set(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}), chromedp.Navigate("file://"+page+"#job/busy/cac/7"), chromedp.Reload())
	if html := look(b, chromedp.OuterHTML("body")); strings.Contains(html, "<button") || !strings.Contains(html, `<a href="#entry`) && !strings.Contains(html, `id="entry/busy/cac/`) {
		t.Error("without script there is a button, or no entry")
	}
	if job := look(b, chromedp.OuterHTML(`details:has(> p[id="job/busy/cac/7"])`)); !strings.HasPrefix(job, "<details open") {
		t.Error("without script the job that a link leads to stays closed")
	}
}

// follow clicks the link to a place inside the elements of a selector and checks where it
// leads.
func (b *browsed) follow(from, place string) {
	b.t.Helper()
	b.run(fmt.Sprintf(`(() => {
		const here = document.querySelector(%q);
		const link = [here, here.parentElement].map(e => e.querySelector('a[href="#%s"]')).find(a => a);
		link.click();
	})()`, from, place))
	b.await(fmt.Sprintf(`location.hash === '#%s' && document.querySelector(':target').offsetParent !== null`, place))
}

func number64(s string) (x float64) {
	fmt.Sscan(s, &x)
	return x
}
