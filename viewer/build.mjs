// Builds page.html, the page that the program writes around a run's data: one file, no network, no requests.
//     npm ci && npm run build
import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { readFile, readdir, writeFile } from 'node:fs/promises';

const here = new URL('.', import.meta.url);
const at = (name) => new URL(name, here);
const read = (name) => readFile(at(name), 'utf8');

const bundle = await build({
  entryPoints: [at('src/main.js').pathname],
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2022',
  charset: 'utf8',
  legalComments: 'none',
  write: false,
});
const style = await build({ entryPoints: [at('src/style.css').pathname], minify: true, write: false });
const licence = (await read('LICENSE.three')).trim();

// What it was built from, so that a test sees a page that was not built again (tests/view/fresh.py).
const hash = createHash('sha256');
const sources = (await readdir(at('src'))).map((name) => `src/${name}`);
for (const name of ['LICENSE.three', 'build.mjs', 'package-lock.json', ...sources].sort()) {
  hash.update(`${name}\n`).update(await readFile(at(name)));
}

// A replacement text is taken as it is: "$&" stands in minified code too.
const page = (await read('src/page.html'))
  .replace('/*sources*/', hash.digest('hex'))
  .replace('/*style*/', () => style.outputFiles[0].text.trim())
  .replace('/*licence*/', () => `three.js\n${licence}\n`)
  .replace('/*script*/', () => bundle.outputFiles[0].text.trim().replaceAll('</script', '<\\/script'));
await writeFile(at('page.html'), page);
console.log(`page.html: ${(page.length / 1024).toFixed(0)} KiB`);
