// Which signals are plotted: all there are, to be chosen from.  Of a live run also how much time of it.
import { escape, SPANS } from './plots.js';

export class Signals {
  constructor(element, app) {
    this.app = app;
    this.element = element;
    element.innerHTML = '<summary>Signals</summary><input type="search" placeholder="Find a signal" aria-label="Find a signal"><div class="list"></div>';
    if (app.source.live) this.#addSpans();
    this.find = element.querySelector('input');
    this.list = element.querySelector('.list');
    element.addEventListener('toggle', () => { if (element.open) this.#fill(); });
    this.find.addEventListener('input', () => this.#fill());
    this.find.addEventListener('keydown', (event) => { if (event.key === 'Escape') { element.open = false; this.find.blur(); } });
    app.plots.changed = () => { if (element.open) this.#fill(); app.refresh(); };
  }

  #addSpans() {
    const choice = document.createElement('select');
    choice.id = 'span';
    choice.title = 'Time that is plotted';
    choice.innerHTML = SPANS.map((span) => `<option value="${span}">${span < Infinity ? `last ${span} s` : 'whole run'}</option>`).join('');
    choice.value = String(this.app.plots.span);
    choice.addEventListener('change', () => {
      this.app.plots.span = Number(choice.value);
      choice.blur();
      this.app.refresh();
    });
    this.element.after(choice);
  }

  open() {
    this.element.open = true;
    this.#fill();
    this.find.focus();
  }

  #fill() {
    const wanted = this.find.value.trim().toLowerCase();
    const kinds = new Map();
    for (const signal of this.app.plots.choices()) {
      if (`${signal.title} ${signal.label}`.toLowerCase().includes(wanted)) kinds.set(signal.title, [...(kinds.get(signal.title) ?? []), signal]);
    }
    const single = [...kinds.values()].filter((signals) => signals.length === 1 && !signals[0].label).flat();
    const named = [...kinds].filter(([title]) => !single.some((signal) => signal.title === title));
    this.list.replaceChildren(...named.map(([title, signals]) => this.#kind(title, signals)), ...(single.length ? [this.#kind('', single)] : []));
    if (!kinds.size) this.list.textContent = 'No such signal';
  }

  #kind(title, signals) {
    const box = document.createElement('fieldset');
    const inUnit = ({ unit }) => (unit ? ` [${unit}]` : '');
    if (title) box.innerHTML = `<legend>${escape(title)}${inUnit(signals[0])}</legend>`;
    for (const signal of signals) {
      const label = document.createElement('label');
      label.innerHTML = `<input type="checkbox"${this.app.plots.isShown(signal.track) ? ' checked' : ''}>${escape(signal.label || `${signal.title}${inUnit(signal)}`)}`;
      label.querySelector('input').addEventListener('change', (event) => {
        this.app.plots.choose(signal).then(() => this.app.refresh());
        event.target.blur();
      });
      box.append(label);
    }
    return box;
  }
}
