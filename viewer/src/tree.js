// The tree of bodies: what hangs on what, to be folded out, hidden and selected.  Rows come when a branch is opened, and many
// siblings of one name but for a number are one branch of their own: a thousand bodies stay a short list.
import { escape } from './plots.js';

const MANY = 8; // siblings of one name before they are put together
const OPEN = 40; // rows that are open at first, about

const stem = (name) => name.replace(/\d+/g, '…');

export class Tree {
  #kids;
  #rows = 0;

  constructor(element, app) {
    this.app = app;
    const { bodies } = app.scene;
    this.#kids = bodies.map(() => []);
    bodies.forEach(({ parent }, body) => { if (body > 0) this.#kids[parent].push(body); });
    element.innerHTML = '<h3>Bodies<button id="all">Show all</button></h3><ul role="tree"></ul>';
    this.list = element.querySelector('ul');
    element.querySelector('#all').addEventListener('click', () => this.#hide(bodies.map((_, body) => body), false));
    this.list.append(this.#row(0));
  }

  /** All that hangs on a body, and itself. */
  branch(body) {
    const all = [body];
    for (let k = 0; k < all.length; k++) all.push(...this.#kids[all[k]]);
    return all;
  }

  #hide(list, hidden) {
    for (const body of list) this.app.bodies.hidden[body] = hidden;
    this.app.hideBodies();
  }

  /** The children of a body as { label, bodies, kids }, those of one name together. */
  #groups(body) {
    const named = new Map();
    for (const kid of this.#kids[body]) {
      const name = stem(this.app.scene.bodies[kid].name);
      named.set(name, [...(named.get(name) ?? []), kid]);
    }
    return [...named].flatMap(([name, kids]) => (kids.length > MANY ? [{ name, kids }] : kids));
  }

  #row(body) {
    const own = this.app.scene.bodies[body];
    const all = body === 0 ? [0] : this.branch(body);
    const row = this.#item(escape(own.name), body ? own.joint : '', all, () => this.#groups(body));
    row.dataset.body = body;
    row.querySelector('.name').addEventListener('click', () => { this.app.select(this.app.selected === body ? 0 : body); });
    row.querySelector('.eye').addEventListener('click', (event) => this.#hide(event.shiftKey ? [body] : all, !this.app.bodies.hidden[body]));
    return row;
  }

  #group({ name, kids }) {
    const all = kids.flatMap((kid) => this.branch(kid));
    const row = this.#item(escape(name), String(kids.length), all, () => kids);
    row.querySelector('.name').addEventListener('click', () => row.querySelector('.fold').click());
    row.querySelector('.eye').addEventListener('click', () => this.#hide(all, !all.every((body) => this.app.bodies.hidden[body])));
    return row;
  }

  #item(name, note, all, kids) {
    const row = document.createElement('li');
    const inner = kids();
    row.innerHTML = `<div><button class="fold" aria-label="Fold out">${inner.length ? '▸' : ''}</button><button class="eye" title="Hide, show (Shift: without what hangs on it)"
      aria-label="Hide, show"><svg viewBox="0 0 24 24"><path d="M12 6C6 6 2.5 12 2.5 12S6 18 12 18s9.5-6 9.5-6S18 6 12 6zm0 9.5a3.5 3.5 0 1 1 0-7 3.5 3.5 0 0 1 0 7z"/></svg></button><button class="name">${name}</button><i>${escape(note)}</i></div>`;
    row.all = all;
    const fold = row.querySelector('.fold');
    fold.disabled = !inner.length;
    fold.addEventListener('click', () => this.#fold(row, kids));
    this.#rows++;
    if (inner.length && this.#rows + inner.length <= OPEN) this.#fold(row, kids);
    return row;
  }

  #fold(row, kids) {
    let list = row.querySelector(':scope > ul');
    if (!list) {
      list = document.createElement('ul');
      list.hidden = true;
      row.append(list);
      for (const kid of kids()) list.append(typeof kid === 'number' ? this.#row(kid) : this.#group(kid));
    }
    list.hidden = !list.hidden;
    row.querySelector('.fold').textContent = list.hidden ? '▸' : '▾';
    this.shown = '';
  }

  /** What is hidden, and what is selected. */
  draw() {
    const { hidden } = this.app.bodies;
    const key = `${this.app.selected} ${hidden.reduce((sum, on, body) => (sum * 31 + (on ? body + 1 : 0)) % 1e9, 7)}`;
    if (key === this.shown) return;
    this.shown = key;
    for (const row of this.list.querySelectorAll('li')) {
      const out = row.all.filter((body) => hidden[body]).length;
      row.dataset.hidden = out === 0 ? 'none' : out === row.all.length ? 'all' : 'some';
      row.classList.toggle('selected', this.app.selected > 0 && row.dataset.body === String(this.app.selected));
    }
  }
}
