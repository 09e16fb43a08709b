document.documentElement.classList.add("js");
const counts = JSON.parse(document.getElementById("counts").textContent);
const slider = document.getElementById("threshold");
const round = (value) => (value >= 1000 ? Math.round(value) : Number(value.toPrecision(4))).toLocaleString("en");
const share = (part, whole) => (whole > 0 ? (100 * part / whole).toFixed(1) + " %" : "–");
function show() {
  const at = Number(slider.value);
  const found = counts.found[at], missed = Math.max(0, counts.second - found);
  const alarms = counts.alarms[at], spared = Math.max(0, counts.first - alarms);
  const shown = {
    at: counts.at[at], precision: share(found, found + alarms), recall: share(found, found + missed),
    accuracy: share(found + spared, found + spared + missed + alarms),
    found: round(found), missed: round(missed), alarms: round(alarms), spared: round(spared),
  };
  for (const name in shown) document.getElementById("shown-" + name).textContent = shown[name];
  slider.setAttribute("aria-valuetext", shown.at);
}
slider.addEventListener("input", show);
show();
