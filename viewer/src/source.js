// Where frames come from.  All that the page asks of a source:
//
//     scene      what describe.c wrote: bodies, shapes, cameras, tracks, units
//     meshes     [{ position, normal, index }] by number
//     time       seconds of each frame there is; grows if the source is live
//     track      one array a track, as long as `time`
//     frame(k)   { pose, at, contacts } of frame k, `at` being where its poses start; null while it is being fetched
//     ready(k)   a promise: frame k can be had
//     live       whether more frames come; then `listen(f)` calls f at each, and `send(command)` drives the simulation
//
// A recorded run keeps all this in data blocks of the page; one that goes on answers the same from a socket (live.js).
import { readFrames, readMesh, readTracks, unpack } from './decode.js';

const MOST_BLOCKS = 12; // decoded, at a time

const blocks = (kind) => [...document.querySelectorAll(`script[type="sim/${kind}"]`)].map((e) => e.textContent);

export class Recorded {
  live = false;
  #packed = blocks('frames');
  #block = new Map(); // number to block, or to the promise of one; the oldest first

  static async open() {
    const [scene] = blocks('scene');
    if (!scene) throw new Error('this page holds no run');
    const source = new Recorded();
    source.scene = JSON.parse(new TextDecoder().decode(await unpack(scene)));
    source.meshes = await Promise.all(blocks('mesh').map(async (text) => readMesh(await unpack(text))));
    Object.assign(source, readTracks(await unpack(blocks('tracks')[0]), source.scene));
    await source.ready(0);
    return source;
  }

  #fetch(number) {
    const known = this.#block.get(number);
    if (known || !this.#packed[number]) return known;
    const coming = unpack(this.#packed[number]).then((bytes) => {
      const block = readFrames(bytes, this.scene);
      this.#block.set(number, block);
      return block;
    });
    this.#block.set(number, coming);
    if (this.#block.size > MOST_BLOCKS) this.#block.delete(this.#block.keys().next().value);
    return coming;
  }

  async ready(k) {
    await this.#fetch(Math.floor(k / this.scene.block));
  }

  frame(k) {
    const number = Math.floor(k / this.scene.block);
    const block = this.#fetch(number);
    this.#fetch(number + 1);
    if (!block || block instanceof Promise) return null;
    this.#block.delete(number); // now the youngest
    this.#block.set(number, block);
    const within = k - number * this.scene.block;
    return { pose: block.pose, at: within * block.width, contacts: block.contacts[within] };
  }
}
