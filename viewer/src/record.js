// The record button: a film of what is shown.  WebM as the browser encodes it while it plays; where it cannot, or with Shift,
// pictures in PNG, each of its own moment, in a ZIP file that stores them as they are (PKWARE APPNOTE 6.3, method 0).
const RATE = 30; // pictures a second of the film
const MOST_BYTES = 1.5e9; // of pictures, in memory
const KINDS = ['video/webm;codecs=vp9', 'video/webm;codecs=vp8', 'video/webm'];

const TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1;
  return n;
});

export function crc32(bytes) {
  let sum = 0xffffffff;
  for (const byte of bytes) sum = TABLE[(sum ^ byte) & 255] ^ (sum >>> 8);
  return (sum ^ 0xffffffff) >>> 0;
}

const numbers = (...parts) => {
  const out = new DataView(new ArrayBuffer(parts.reduce((sum, [size]) => sum + size, 0)));
  let at = 0;
  for (const [size, value] of parts) {
    if (size === 2) out.setUint16(at, value, true);
    else out.setUint32(at, value, true);
    at += size;
  }
  return out.buffer;
};

/** Files of one day, 1 January 1980. */
export function zip(files) {
  const parts = [];
  const list = [];
  let at = 0;
  for (const { name, bytes } of files) {
    const label = new TextEncoder().encode(name);
    const facts = [[2, 20], [2, 0], [2, 0], [2, 0], [2, 33], [4, crc32(bytes)], [4, bytes.length], [4, bytes.length], [2, label.length], [2, 0]];
    parts.push(numbers([4, 0x04034b50], ...facts), label, bytes);
    list.push(numbers([4, 0x02014b50], [2, 20], ...facts, [2, 0], [2, 0], [2, 0], [4, 0], [4, at]), label);
    at += 30 + label.length + bytes.length;
  }
  const size = list.reduce((sum, part) => sum + part.byteLength, 0);
  const end = numbers([4, 0x06054b50], [2, 0], [2, 0], [2, files.length], [2, files.length], [4, size], [4, at], [2, 0]);
  return new Blob([...parts, ...list, end], { type: 'application/zip' });
}

export const videoKind = () => (globalThis.MediaRecorder && HTMLCanvasElement.prototype.captureStream
  ? KINDS.find((kind) => MediaRecorder.isTypeSupported(kind)) : undefined);

export class Recorder {
  on = false;

  constructor(app) { this.app = app; }

  /** Starts, or ends and saves. */
  toggle(pictures = false) {
    if (this.on) this.stop();
    else if (pictures || !videoKind()) this.#pictures();
    else this.#video();
  }

  stop() {
    this.on = false;
    if (this.media?.state === 'recording') this.media.stop();
  }

  #begin() {
    this.on = true;
    this.app.frameView();
    this.played = false;
    this.app.say(`Recording: press ${this.app.source.live ? 'again' : 'again, or wait for the end,'} to save`);
  }

  #save(blob, ending) {
    this.on = false;
    this.app.frameView();
    if (!blob.size) return this.app.say('The browser encoded nothing: Shift and Record saves pictures in PNG');
    const link = document.createElement('a');
    const name = (this.app.scene.name || 'run').replace(/[^\p{L}\p{N}]+/gu, '_').replace(/^_|_$/g, '') || 'run';
    link.href = URL.createObjectURL(blob);
    link.download = `${name}.${ending}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    this.saved = { name: link.download, blob };
    this.app.say(`Saved ${link.download}, ${(blob.size / 1e6).toFixed(1)} MB`);
    return null;
  }

  #video() {
    const type = videoKind();
    const stream = this.app.stage.canvas.captureStream(RATE);
    const parts = [];
    try {
      this.media = new MediaRecorder(stream, { mimeType: type, videoBitsPerSecond: 12e6 });
    } catch {
      this.#pictures();
      return;
    }
    this.media.ondataavailable = ({ data }) => { if (data.size) parts.push(data); };
    this.media.onstop = () => {
      for (const track of stream.getTracks()) track.stop();
      this.#save(new Blob(parts, { type: 'video/webm' }), 'webm');
    };
    this.#begin();
    this.media.start(1000);
    if (!this.app.player.playing) this.app.player.play(true);
  }

  /** A film of a recorded run ends with it. */
  watch() {
    const { player } = this.app;
    if (!this.on || !this.media || this.app.source.live) return;
    this.played ||= player.playing;
    if (this.played && !player.playing) this.stop();
  }

  async #pictures() {
    const { player, source, stage } = this.app;
    const files = [];
    let bytes = 0;
    this.media = null;
    this.#begin();
    if (!source.live) {
      player.play(false);
      if (player.atEnd) player.seek(player.start);
    }
    while (this.on && bytes < MOST_BYTES) {
      if (source.live) await new Promise((done) => { setTimeout(done, 1000 / RATE); });
      await source.ready(player.before());
      await source.ready(Math.min(player.before() + 1, source.time.length - 1));
      this.app.draw();
      const blob = await new Promise((done) => { stage.canvas.toBlob(done, 'image/png'); });
      const picture = new Uint8Array(await blob.arrayBuffer());
      files.push({ name: `${String(files.length).padStart(5, '0')}.png`, bytes: picture });
      bytes += picture.length;
      if (!source.live && player.atEnd) break;
      if (!source.live) player.seek(player.now + player.speed / RATE);
    }
    this.#save(zip(files), 'zip');
  }
}
