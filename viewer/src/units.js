// Numbers for people: three or four digits and a unit with its prefix.
const PREFIXES = [[1e9, 'G'], [1e6, 'M'], [1e3, 'k'], [1, ''], [1e-3, 'm'], [1e-6, 'µ'], [1e-9, 'n']];
const PREFIXED = new Set(['J', 'N', 'm', 'm/s', 's', 'N m', 'N s']);

export function digits(value, count = 4) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? '–' : value > 0 ? '∞' : '−∞';
  const size = Math.abs(value);
  if (value === 0) return '0';
  const text = size >= 1e5 || size < 1e-3 ? value.toExponential(Math.max(count - 2, 0)) : Number(value.toPrecision(count)).toString();
  return text.replace('-', '−').replace(/e\+?(.*)$/, (_, power) => `·10${superscript(power)}`);
}

export function superscript(power) {
  return [...String(Number(String(power).replace('−', '-')))].map((c) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[c] ?? '⁻').join('');
}

/** "12.3 mm"; the prefix goes with `reference` where many values stand together. */
export function quantity(value, unit, count = 3, reference = value) {
  if (!unit) return Number.isInteger(value) && Math.abs(value) < 1e6 ? String(value) : digits(value, count);
  if (!PREFIXED.has(unit) || !Number.isFinite(value)) return `${digits(value, count)} ${unit}`;
  const [scale, prefix] = prefixOf(reference);
  return `${digits(value / scale, count)} ${prefix}${unit}`;
}

export function prefixOf(value) {
  const size = Math.abs(value);
  if (!(size > 0) || !Number.isFinite(size)) return [1, ''];
  return PREFIXES.find(([scale]) => size >= 0.9995 * scale) ?? PREFIXES.at(-1);
}

/** The power of ten in front of a unit without prefixes, for numbers that digits() would write with one. */
export function powerOf(value) {
  const size = Math.abs(value);
  if (!(size > 0) || !Number.isFinite(size) || (size >= 1e-3 && size < 1e5)) return [1, ''];
  const power = Math.floor(Math.log10(size));
  return [10 ** power, `×10${superscript(power)} `];
}

export const prefixed = (unit) => PREFIXED.has(unit);

/** About `count` round numbers from low to high. */
export function ticks(low, high, count) {
  const span = high - low;
  if (!(span > 0)) return [low];
  const rough = span / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((f) => f * power >= rough * 0.999) ?? 10);
  const out = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * span; k++) out.push(k * step);
  return out;
}
