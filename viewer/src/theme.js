// Colours, light and dark.  What is drawn in 3-D takes them from here, what is drawn by the browser from style.css.
export const THEMES = {
  light: {
    sky: 0xe9edf1, haze: 0xe9edf1, ground: 0xf3f5f7, line: 0x8794a3, bright: 0x4a5563,
    ambient: 1.35, sun: 2.1, sky2: 0xffffff, floor: 0xc9ced6,
    stick: 0x1668d9, slip: 0xe8710a, open: 0x7b8794, selected: 0x0a84ff,
  },
  dark: {
    sky: 0x14181d, haze: 0x14181d, ground: 0x1d2329, line: 0x56616e, bright: 0x8b97a5,
    ambient: 0.85, sun: 2.0, sky2: 0xbfd4ea, floor: 0x59636f,
    stick: 0x4aa3ff, slip: 0xffa033, open: 0x8593a3, selected: 0x4db2ff,
  },
};

// Of plots, in order; told apart by those who see red and green alike (after Okabe and Ito).
export const SERIES = {
  light: ['#0f6fc5', '#d8660a', '#15181c', '#009e73', '#a8479b', '#8a6d00', '#5b6b7b', '#c23b3b'],
  dark: ['#5cb3ff', '#ff9d47', '#e8edf2', '#3fd0a4', '#e08fd4', '#e5c54f', '#9fb0c0', '#ff8080'],
};

/** Bodies that the scene gave no colour: one of these, by tree. */
export const PALETTE = [0x6f9bc8, 0xd98d5f, 0x7fb08a, 0xb58bbd, 0xc9b063, 0x6fb3b3, 0xc97f8b, 0x8f98b8];

/** White to deep red, for depth of penetration, 0 .. 1. */
export function depthColor(f, out) {
  const t = Math.min(Math.max(f, 0), 1);
  return out.setRGB(1 - 0.25 * t * t, 0.93 * (1 - t) ** 1.3, 0.86 * (1 - t) ** 1.8);
}

export function initialTheme() {
  const asked = new URLSearchParams(location.search).get('theme');
  return asked === 'dark' || asked === 'light' ? asked
    : matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}
