'use strict';
(() => {
  // What a link leads to opens, with all that it is in.
  const reveal = () => {
    const at = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let e = at; e; e = e.parentElement) if (e.tagName === 'DETAILS') e.open = true;
    if (at) at.scrollIntoView({block: 'center'});
  };
  addEventListener('hashchange', reveal);
  if (location.hash) reveal();

  // A figure is one stop of the tab key; arrows go from point to point.
  for (const figure of document.querySelectorAll('.points')) {
    const all = [...figure.querySelectorAll('a')];
    all.forEach((a, i) => a.setAttribute('tabindex', i ? -1 : 0));
    figure.addEventListener('keydown', e => {
      const i = all.indexOf(document.activeElement);
      const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[e.key];
      if (i < 0 || !step) return;
      e.preventDefault();
      const to = all[(i + step + all.length) % all.length];
      all.forEach(a => a.setAttribute('tabindex', a === to ? 0 : -1));
      to.focus();
    });
  }

  // What a point says is beside it at once.
  const box = document.createElement('div');
  box.id = 'hover';
  box.hidden = true;
  box.setAttribute('aria-hidden', 'true');
  document.body.append(box);
  const show = e => {
    const rect = e.target.closest && e.target.closest('.points a, .points rect');
    box.hidden = !rect;
    if (!rect) return;
    box.textContent = rect.querySelector('title').textContent;
    const at = rect.getBoundingClientRect(), width = Math.min(320, innerWidth - 16);
    box.style.left = Math.max(8, Math.min(at.right + 8, innerWidth - width - 8)) + 'px';
    box.style.top = Math.max(8, at.top - 40) + 'px';
  };
  for (const kind of ['pointerover', 'focusin', 'scroll']) document.addEventListener(kind, show);

  // Rows are sorted by a column and filtered by what they say.
  const value = (row, i) => {
    const text = row.cells[i].textContent.trim(), number = parseFloat(text.replace(/^[$−]/, c => c === '−' ? '-' : ''));
    return isNaN(number) ? text : number;
  };
  const order = (a, b) => typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === 'number' ? -1 : 1;
  for (const table of document.querySelectorAll('table.rows')) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((th, i) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.append(...th.childNodes);
      th.append(button);
      button.addEventListener('click', () => {
        const up = th.getAttribute('aria-sort') !== 'ascending';
        heads.forEach(h => h.removeAttribute('aria-sort'));
        th.setAttribute('aria-sort', up ? 'ascending' : 'descending');
        const rows = [...table.tBodies[0].rows];
        rows.sort((a, b) => (up ? 1 : -1) * order(value(a, i), value(b, i)));
        table.tBodies[0].append(...rows);
      });
    });
    if (table.tBodies[0].rows.length < 8) continue;
    const label = document.createElement('label'), input = document.createElement('input');
    label.className = 'filter';
    input.type = 'search';
    label.append('Only rows with ', input);
    input.addEventListener('input', () => {
      const words = input.value.toLowerCase().split(/\s+/);
      for (const row of table.tBodies[0].rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every(w => text.includes(w));
      }
    });
    table.parentElement.before(label);
  }
})();
