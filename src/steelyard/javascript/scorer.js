// Scores rows with a model that `steelyard export MODEL -o model.json` has written. No dependencies; for
// browsers, node and workers.
//
//   import { Scorer } from "./scorer.js";
//   const scorer = new Scorer(JSON.parse(text));
//   scorer.score({ text: "Free prize!" });   // { prediction, label, probabilities }

// What a token is: src/steelyard/token_rules.py, which the export writes here.
const RULES = TOKEN_RULES;

const MISSING = new TextEncoder().encode(RULES.missing);
const isIn = (ranges) => Uint8Array.from({ length: 256 }, (_, c) => ranges.some(([first, last]) => first <= c && c <= last));
const LETTERS = isIn(RULES.letters);
const BLANKS = isIn(RULES.blanks);
const CAPITALS = isIn([RULES.capitals]);
const lower = (c) => (CAPITALS[c] ? c + RULES.to_small : c);

function trim(text) {
  let first = 0;
  let end = text.length;
  while (first < end && BLANKS[text.charCodeAt(first)]) first++;
  while (end > first && BLANKS[text.charCodeAt(end - 1)]) end--;
  return text.slice(first, end);
}

function mixK1(k) {
  k = Math.imul(k, 0xcc9e2d51);
  return Math.imul((k << 15) | (k >>> 17), 0x1b873593);
}

function mix(h, k) {
  h ^= mixK1(k);
  return (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0;
}

function finish(h, k, length) {
  h ^= mixK1(k) ^ length;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

// MurmurHash3, x86, 32 bits
export function murmur(bytes, seed) {
  let h = seed;
  const whole = bytes.length & ~3;
  for (let i = 0; i < whole; i += 4) {
    h = mix(h, bytes[i] | (bytes[i + 1] << 8) | (bytes[i + 2] << 16) | (bytes[i + 3] << 24));
  }
  let k = 0;
  for (let i = whole; i < bytes.length; i++) k |= bytes[i] << (8 * (i - whole));
  return finish(h, k, bytes.length);
}

// A name made of digits is that number.
export function key(bytes, seed) {
  let number = 0n;
  for (const c of bytes) {
    if (c < 48 || c > 57) return murmur(bytes, seed);
    number = (number * 10n + BigInt(c - 48)) & 0xffffffffn;
  }
  return bytes.length ? (Number(number) + seed) % 4294967296 : murmur(bytes, seed);
}

function* wordKeys(text, seed, most) {
  const recent = [];
  for (let i = 0; i < text.length; ) {
    while (i < text.length && !LETTERS[text[i]]) i++;
    let end = i;
    while (end < text.length && LETTERS[text[end]]) end++;
    if (end === i) return;
    const word = key(text.subarray(i, end).map(lower), seed);
    i = end;
    yield word;
    recent.push(word);
    if (recent.length > most) recent.shift();
    for (let size = 2; size <= recent.length; size++) {
      let h = seed;
      for (const each of recent.slice(-size)) h = mix(h, each);
      yield finish(h, 0, 4 * size);
    }
  }
}

function* characterKeys(text, seed, [least, most]) {
  const plain = [];
  for (const c of text) {
    if (!BLANKS[c]) plain.push(lower(c));
    else if (plain.length && plain[plain.length - 1] !== 32) plain.push(32);
  }
  if (plain[plain.length - 1] === 32) plain.pop();
  const starts = [];
  plain.forEach((c, i) => {
    if (i === 0 || (c & 0xc0) !== 0x80 || plain[i - 1] < 128) starts.push(i);
  });
  starts.push(plain.length);
  for (let first = 0; first < starts.length - 1; first++) {
    for (let size = least; size <= most && first + size < starts.length; size++) {
      yield murmur(plain.slice(starts[first], starts[first + size]), seed);
    }
  }
}

// The tokens of a text in UTF-8, as key and value, in the order of their first occurrence.
export function* textFeatures(text, seed, { words, characters, repeated }) {
  const counts = new Map();
  const count = (each) => counts.set(each, (counts.get(each) ?? 0) + 1);
  if (words) for (const each of wordKeys(text, seed, words)) count(each);
  if (characters) for (const each of characterKeys(text, (seed ^ RULES.character_salt) >>> 0, characters)) count(each);
  let squares = 0;
  for (const [each, n] of counts) {
    const value = repeated === "counts" ? n : repeated === "binary" || n === 1 ? 1 : 1 + Math.log(n);
    counts.set(each, value);
    squares += value * value;
  }
  const length = repeated === "relative" ? Math.sqrt(squares) : 1;
  for (const [each, value] of counts) yield [each, value / length];
}

const asText = (cell) => (cell === null || Number.isNaN(cell) ? "" : String(cell));

export class Scorer {
  constructor(content) {
    if (content.steelyard !== 1) throw new Error("not a model that steelyard export has written");
    this.content = content;
    this.encoder = new TextEncoder();
    this.round = content.dtype === "float32" ? Math.fround : (x) => x;
    this.weights = content.models.map(
      (model) => new Map(model.indices.map((index, k) => [index, this.round(model.weights[k])])),
    );
    this.missing = new Set((content.missing ?? []).map((word) => word.toLowerCase()));
    this.columns = (content.columns ?? []).map((column) => ({
      ...column,
      seed: murmur(this.encoder.encode(column.name), 0),
    }));
    this.texts = this.columns.filter((column) => column.role === "text");
  }

  // An object by the names of the columns; a text, where there is just one; an array, for a matrix.
  score(row) {
    const raw = this.predict(row);
    const { classes } = this.content;
    if (!classes) return { prediction: raw[0] };
    const probabilities = this.probabilities(raw);
    const best = raw.length > 1 ? raw.indexOf(Math.max(...raw)) : Number(raw[0] > this.content.decision_point);
    return { prediction: raw.length > 1 ? raw : raw[0], label: classes[best], probabilities };
  }

  predict(row) {
    const { features, models } = this.content;
    const merged = new Map();
    let offset = 0;
    if (this.content.kind === "matrix") row.forEach((x, k) => merged.set(k, this.round(x)));
    else {
      if (typeof row === "string") row = { [this.texts[0].name]: row };
      for (const [each, value] of this.features(row)) {
        const index = (each & (features - 1)) >>> 0;
        merged.set(index, this.round((merged.get(index) ?? 0) + this.round(value)));
      }
      const base = this.columns.find((column) => column.role === "base");
      if (base && row[base.name] != null && row[base.name] !== "") offset = Number(row[base.name]);
    }
    return models.map((model, k) => {
      let total = 0;
      for (const [index, x] of merged) total += this.round((this.weights[k].get(index) ?? 0) * x);
      return total + model.bias + offset;
    });
  }

  *features(row) {
    for (const { name, role, seed } of this.columns) {
      if (!(name in row) || (role !== "number" && role !== "category")) continue;
      const text = trim(asText(row[name]));
      if (text === "") yield [murmur(MISSING, seed), 1];
      else if (role === "category") yield [key(this.encoder.encode(text), seed), 1];
      else if (typeof row[name] === "boolean") yield [seed, Number(row[name])];
      else if (Number.isFinite(Number(text))) yield [seed, Number(text)];
      else if (this.missing.has(text.toLowerCase())) yield [murmur(MISSING, seed), 1];
      else throw new Error(`${name} is ${text}, which is not a number`);
    }
    for (const { name, seed } of this.texts) {
      if (row[name] == null) continue;
      yield* textFeatures(this.encoder.encode(asText(row[name])), seed, this.content.text);
    }
  }

  // Of each class; undefined for a loss that has none and a model that was not calibrated.
  probabilities(raw) {
    const { calibration, classes, loss } = this.content;
    const sigmoid = (x) => 1 / (1 + Math.exp(x));
    const bent = (p, [slope, shift, bend = 0]) => {
      const x = Math.min(Math.max(slope * p + shift, -1e100), 1e100);
      return x / (1 + bend * Math.abs(x));
    };
    let own = null;
    if (calibration) own = raw.map((p, k) => sigmoid(bent(p, calibration[k])));
    else if (loss.name === "logistic") own = raw.map((p) => sigmoid(-p));
    else if (loss.name === "modified_huber") own = raw.map((p) => (1 + Math.min(Math.max(p, -1), 1)) / 2);
    else return undefined;
    if (own.length === 1) own = [1 - own[0], own[0]];
    const total = own.reduce((a, b) => a + b, 0);
    const best = raw.indexOf(Math.max(...raw));
    const share = (p, k) => (total > 0 ? p / total : Number(k === best));
    return Object.fromEntries(classes.map((name, k) => [name, share(own[k], k)]));
  }
}
