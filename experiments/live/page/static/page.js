// Charts of what is in the tables of a page, and the page again when something has happened.
// All text comes from the server's own page; nothing is made of strings here.
'use strict';
(() => {
  const charts = new Map(); // element → what is drawn in it
  const dashes = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 2], [1, 2], [12, 4], [6, 2, 1, 2]];
  const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // read returns the numbers of a chart: its table's rows, by series.
  function read(el) {
    const key = 'data-' + el.dataset.y, series = new Map();
    for (const row of document.querySelectorAll('#' + el.dataset.table + ' tr[data-x]')) {
      const name = row.dataset.series;
      if (!series.has(name)) series.set(name, [[], []]);
      series.get(name)[0].push(Number(row.dataset.x));
      series.get(name)[1].push(Number(row.getAttribute(key)));
    }
    return series;
  }

  // draw draws a chart, anew if its lines, its width or its colours are others.
  function draw(el) {
    const series = read(el), names = [...series.keys()], width = el.clientWidth;
    const stepped = el.dataset.y !== 'work';
    if (names.length === 0 || width === 0) return;
    const now = Number(document.getElementById('main').dataset.now);
    for (const [xs, ys] of series.values()) { // a price holds until now
      if (stepped && el.dataset.y === 'price' && xs[xs.length - 1] < now) { xs.push(now); ys.push(ys[ys.length - 1]); }
      if (xs.length === 1) { xs.push(xs[0] + 1); ys.push(ys[0]); }
    }
    const data = uPlot.join([...series.values()]);
    const shape = JSON.stringify([names, width, style('--ink')]);
    const had = charts.get(el);
    if (had && had.shape === shape) { had.plot.setData(data); return; }
    if (had) had.plot.destroy();
    const axis = { stroke: style('--ink'), grid: { stroke: style('--line'), width: 1 }, ticks: { stroke: style('--line'), width: 1 } };
    const digits = v => v === null || v === undefined ? '–' : Number(v.toPrecision(7)).toString();
    const clock = t => new Date(t * 1e3).toISOString().slice(11, 19);
    // label writes at its end which line is whose: colours and dashes alone do not tell.
    const label = u => {
      if (names.length < 2) return;
      const c = u.ctx, scale = devicePixelRatio;
      c.save();
      c.font = 12 * scale + 'px system-ui, sans-serif';
      c.textAlign = 'right';
      names.forEach((name, i) => {
        let last = u.data[i + 1].length - 1;
        while (last > 0 && (u.data[i + 1][last] === null || u.data[i + 1][last] === undefined)) last--;
        c.fillStyle = style('--s' + i % 8);
        c.fillText(name, u.bbox.left + u.bbox.width - (4 + 48 * (i % 4)) * scale, u.valToPos(u.data[i + 1][last], 'y', true) - 4 * scale);
      });
      c.restore();
    };
    const plot = new uPlot({
      width, height: Math.min(260, Math.max(180, width / 3)),
      hooks: { draw: [label] },
      cursor: { drag: { x: false, y: false } },
      scales: { y: { range: (u, lo, hi) => [0, hi > 0 ? hi * 1.1 : 1] } },
      axes: [{ ...axis, incrs: [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200], space: 72, values: (u, all) => all.map(clock) }, { ...axis, size: 72, label: el.dataset.unit, labelSize: 20, values: (u, all) => all.map(digits) }],
      series: [{ label: 'UTC', value: (u, t) => t === null ? '–' : clock(t) }, ...names.map((name, i) => ({
        label: name === 'contract' ? el.dataset.y : name, stroke: style('--s' + i % 8), width: 2, dash: dashes[i % dashes.length], spanGaps: true,
        paths: stepped ? uPlot.paths.stepped({ align: 1 }) : undefined, points: { show: false }, value: (u, v) => digits(v),
      }))],
    }, data, el);
    charts.set(el, { plot, shape });
  }

  function drawAll() {
    for (const [el, c] of charts) if (!el.isConnected) { c.plot.destroy(); charts.delete(el); }
    document.querySelectorAll('.chart').forEach(draw);
  }

  // refresh takes the page again, and puts in place what may have changed: all but charts,
  // which are drawn from the tables, and what stands open or has the focus stays so.
  let busy = false, again = false, last = 0;
  async function refresh() {
    if (busy) { again = true; return; }
    busy = true;
    try {
      const answer = await fetch(location.pathname, { cache: 'no-store' });
      if (!answer.ok) return;
      const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const main = document.getElementById('main');
      main.dataset.now = fresh.getElementById('main').dataset.now;
      swap(main, fresh.getElementById('main'), '.line, h2, table:not(.u-legend)');
      swap(document, fresh, 'footer');
      drawAll();
    } catch { // the stream says that the market is away
    } finally {
      busy = false;
      last = Date.now();
      if (again) { again = false; soon(); }
    }
  }

  function swap(to, from, what) {
    const a = to.querySelectorAll(what), b = from.querySelectorAll(what);
    if (a.length !== b.length) { location.reload(); return; }
    a.forEach((old, i) => {
      if (old.isEqualNode(b[i])) return;
      const at = old.contains(document.activeElement) ? document.activeElement : null;
      const made = document.importNode(b[i], true);
      old.replaceWith(made);
      if (at && at.href) for (const link of made.querySelectorAll('a')) if (link.href === at.href) { link.focus({ preventScroll: true }); break; }
    });
  }

  // soon refreshes in a second: the server's copies of pages are up to half a second old.
  let timer = 0;
  function soon() {
    if (timer || document.hidden) return;
    timer = setTimeout(() => { timer = 0; refresh(); }, Math.max(600, last + 1000 - Date.now()));
  }

  // watch follows the stream of events. The browser resumes it after the last one heard.
  let heard = document.getElementById('main').dataset.seq;
  const status = document.getElementById('stream');
  const say = text => { if (status.textContent !== text) status.textContent = text; };
  function watch() {
    const stream = new EventSource('/events?after=' + heard);
    const hear = e => { heard = e.lastEventId || heard; document.getElementById('main').dataset.heard = heard; soon(); };
    stream.addEventListener('begin', e => { say('follows the market'); hear(e); });
    stream.addEventListener('contract', hear);
    stream.addEventListener('host', hear);
    stream.onerror = () => {
      say('the market is away; it is asked again');
      if (stream.readyState === EventSource.CLOSED) setTimeout(watch, 3000);
    };
    addEventListener('pagehide', () => stream.close());
  }

  drawAll();
  addEventListener('resize', drawAll);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawAll);
  document.addEventListener('visibilitychange', soon);
  setInterval(soon, 5000); // work goes on without events
  watch();
})();
