document.documentElement.classList.add("js");
const counts = JSON.parse(document.getElementById("counts").textContent);
const slider = document.getElementById("threshold");
const sum = (values) => values.reduce((total, value) => total + value, 0);
const round = (value) => (value >= 1000 ? Math.round(value) : Number(value.toPrecision(4))).toLocaleString("en");
const share = (part, whole) => (whole > 0 ? (100 * part / whole).toFixed(1) + " %" : "–");
function show() {
  const at = Number(slider.value);
  const found = sum(counts.second.slice(at)), missed = sum(counts.second.slice(0, at));
  const alarms = sum(counts.first.slice(at)), spared = sum(counts.first.slice(0, at));
  const shown = {
    at: at + " %", precision: share(found, found + alarms), recall: share(found, found + missed),
    accuracy: share(found + spared, found + spared + missed + alarms),
    found: round(found), missed: round(missed), alarms: round(alarms), spared: round(spared),
  };
  for (const name in shown) document.getElementById("shown-" + name).textContent = shown[name];
}
slider.addEventListener("input", show);
show();
