// The estimate and its interval against the number of labels, drawn as SVG.

const WIDTH = 320, HEIGHT = 170, LEFT = 38, RIGHT = 8, TOP = 10, BOTTOM = 24;
const TOPS = [0.04, 0.1, 0.2, 0.4, 0.6, 0.8, 1];

function add(parent, name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

export function percent(share) {
  const value = 100 * share;
  return `${value >= 10 ? Math.round(value) : Math.round(10 * value) / 10}\u00a0%`;
}

export function draw(svg, estimates, target, falling) {
  svg.replaceChildren();
  const known = estimates.filter((each) => each.refused === undefined);
  const last = known.length ? known[known.length - 1].answers : 0;
  const right = Math.max(50, last * 1.06);
  let top = 1, bottom = 0;
  if (falling && known.length) {
    const recent = known.slice(-Math.max(12, Math.ceil(known.length / 2)));
    const highest = Math.max(target * 1.6, ...recent.map((each) => each.high));
    top = TOPS.find((each) => each >= highest) ?? 1;
  }
  const x = (answers) => LEFT + (WIDTH - LEFT - RIGHT) * answers / right;
  const y = (share) => TOP + (HEIGHT - TOP - BOTTOM) * (top - Math.min(Math.max(share, bottom), top)) / (top - bottom);
  for (const share of [bottom, top / 2, top]) {
    add(svg, "line", { class: "axis", x1: LEFT, x2: WIDTH - RIGHT, y1: y(share), y2: y(share) });
    add(svg, "text", { x: LEFT - 6, y: y(share) + 3.5, "text-anchor": "end" }, percent(share));
  }
  add(svg, "text", { x: LEFT, y: HEIGHT - 7 }, "0");
  add(svg, "text", { x: WIDTH - RIGHT, y: HEIGHT - 7, "text-anchor": "end" }, `${Math.round(right)} labels`);
  add(svg, "line", { class: "target", x1: LEFT, x2: WIDTH - RIGHT, y1: y(target), y2: y(target) });
  if (known.length) estimated(svg, known, falling, x, y);
  const above = y(target) - 4 > TOP + 6;  // last, so that nothing hides it
  add(svg, "text", { class: "target-text", x: WIDTH - RIGHT, y: y(target) + (above ? -4 : 12), "text-anchor": "end" }, `target ${percent(target)}`);
}

function estimated(svg, known, falling, x, y) {
  const path = (name) => known.map((each, k) => `${k ? "L" : "M"}${x(each.answers).toFixed(1)} ${y(each[name]).toFixed(1)}`).join("");
  const back = known.slice().reverse().map((each) => `L${x(each.answers).toFixed(1)} ${y(each.low).toFixed(1)}`).join("");
  add(svg, "path", { class: "band", d: `${path("high")}${back}Z` });
  add(svg, "path", { class: "edge", d: path(falling ? "high" : "low") });
  const valued = known.filter((each) => each.value !== null);
  if (!valued.length) return;
  add(svg, "path", { class: "line", d: valued.map((each, k) => `${k ? "L" : "M"}${x(each.answers).toFixed(1)} ${y(each.value).toFixed(1)}`).join("") });
  const end = valued[valued.length - 1];
  add(svg, "circle", { class: "now", cx: x(end.answers), cy: y(end.value), r: 3.4 });
}
