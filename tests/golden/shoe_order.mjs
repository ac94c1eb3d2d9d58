// Derives shoes by the published recipe `holecard-order/1` (services/shoe/order.py says it in words) without any of our code,
// in another language. Its output is the golden file:  node tests/golden/shoe_order.mjs > tests/golden/shoe_order.json
import { createHash, createHmac } from "node:crypto";

const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest();
const u64 = (n) => { const b = Buffer.alloc(8); b.writeBigUInt64BE(BigInt(n)); return b; };
const u32 = (n) => { const b = Buffer.alloc(4); b.writeUInt32BE(n); return b; };
const hmac = (seed, name, n) => createHmac("sha256", seed).update(name).update(u64(n)).digest();

function* words(seed, name) {
  for (let block = 0; ; block++) {
    const bytes = hmac(seed, name, block);
    for (let at = 0; at < 32; at += 4) yield bytes.readUInt32BE(at);
  }
}
function below(stream, bound) {
  const limit = 2 ** 32 - (2 ** 32 % bound);
  for (;;) { const word = stream.next().value; if (word < limit) return word % bound; }
}
function newStack(decks) {
  const deck = [];
  for (const suit of "cdhs") for (const rank of "23456789TJQKA") deck.push(rank + suit);
  return Array.from({ length: decks }, () => deck).flat();
}
function shuffled(stack, seed) {
  const cards = [...stack], stream = words(seed, "holecard-order/1:");
  for (let i = cards.length - 1; i > 0; i--) {
    const j = below(stream, i + 1);
    [cards[i], cards[j]] = [cards[j], cards[i]];
  }
  return cards;
}
const salt = (seed, position) => hmac(seed, "holecard-salt/1:", position);
const leaf = (position, card, s) => sha256(Buffer.from([0]), "holecard-card/1:", u32(position), card, s);
const node = (a, b) => sha256(Buffer.from([1]), a, b);
function split(n) { let k = 1; while (k * 2 < n) k *= 2; return k; }
function root(leaves) {
  if (leaves.length === 1) return leaves[0];
  const k = split(leaves.length);
  return node(root(leaves.slice(0, k)), root(leaves.slice(k)));
}
function path(leaves, m) {
  if (leaves.length === 1) return [];
  const k = split(leaves.length);
  return m < k ? [...path(leaves.slice(0, k), m), root(leaves.slice(k))] : [...path(leaves.slice(k), m - k), root(leaves.slice(0, k))];
}

const seeds = ["00".repeat(32), "ff".repeat(32), sha256("holecard golden seed 1").toString("hex"), sha256("holecard golden seed 2").toString("hex")];
const shoes = [];
for (const [index, hex] of seeds.entries()) {
  const decks = [1, 2, 6, 8][index], seed = Buffer.from(hex, "hex"), depth = 10 + 7 * index;
  const order = shuffled(newStack(decks), seed);
  const leaves = order.map((card, i) => leaf(i + 1, card, salt(seed, i + 1)));
  const proved = order.length - 3;
  shoes.push({
    seed: hex, decks, depth,
    seed_hash: sha256("holecard-seed/1:", seed).toString("hex"),
    order: order.join(""),
    dealt: [...order.slice(depth), ...order.slice(0, depth)].join(""),
    root: root(leaves).toString("hex"),
    proof: { stack_position: proved, salt: salt(seed, proved).toString("hex"), leaf: leaves[proved - 1].toString("hex"), path: path(leaves, proved - 1).map((b) => b.toString("hex")) },
    composition: sha256("holecard-composition/1:", newStack(1).flatMap((card) => Array(decks).fill(card)).join("")).toString("hex"),
  });
}
const machines = seeds.slice(2).map((hex) => {
  // One deck: 20 cards out, those at 1 to 10 back, 15 more out.
  const seed = Buffer.from(hex, "hex"), content = newStack(1), out = [];
  const draw = () => {
    const j = below(words(seed, Buffer.concat([Buffer.from("holecard-pick/1:"), u64(out.length + 1)])), content.length);
    out.push(content[j]); content[j] = content[content.length - 1]; content.pop();
  };
  for (let n = 0; n < 20; n++) draw();
  content.push(...out.slice(0, 10));
  for (let n = 0; n < 15; n++) draw();
  return { seed: hex, decks: 1, drawn: out.join("") };
});
console.log(JSON.stringify({ recipe: "holecard-order/1", shoes, machines }, null, 1));
