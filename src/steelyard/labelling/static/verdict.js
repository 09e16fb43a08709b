// The answer to "May I stop?", in words.

import { percent } from "./plot.js";

export const bounded = (measure, target) => `${measure === "error" ? "below" : "at least"} ${percent(target)}`;

export const isAllRead = (about, state) => state.read >= about.items;

// What has happened since a certificate passed, which it does not cover.
export function since({ learned_since: learned, added }) {
  const events = [];
  if (learned) events.push(`the model has learned ${learned} ${learned === 1 ? "label" : "labels"}`);
  if (added) events.push(`${added} ${added === 1 ? "document was" : "documents were"} added`);
  return `${events.join(" and ")} since then`;
}

export function verdict(about, state) {
  const last = state.estimates[state.estimates.length - 1], falling = about.measure === "error";
  const proof = state.certificate && state.certificate.passed ? state.certificate : null;
  const certified = proof && proof.reaches_goal && proof.up_to_date;
  const all = isAllRead(about, state);
  const met = all || certified || (last && last.met) ? "yes" : last ? "no" : "unknown";
  const answer = certified ? "Yes, certified" : all ? "Yes, all are read" : met === "yes" ? "You may stop" : "Not yet";
  const goal = bounded(about.measure, about.target);
  let why = `There is an estimate from 20 labels on. The goal: ${about.measure} ${goal}.`, pill = "Not yet: too few labels";
  if (!about.estimates && !falling) {
    const found = state.counts[about.classes.indexOf(about.positive)];
    why = `${found} ${about.positive} found. Read since the last one: ${state.dry}. Once hardly any come, try for a certificate: it goes on until it can prove that ${percent(about.target)} are found.`;
    pill = `Found ${found}, since then ${state.dry} others`;
  } else if (last && last.refused) { why = last.refused; pill = "No estimate"; }
  else if (last) {
    const bound = falling ? `at most ${percent(last.high)}` : `at least ${percent(last.low)}`, what = `${about.measure}${falling ? "" : ` of ${about.positive}`}`;
    const wide = met === "no" && last.high - last.low > 0.5;  // such a bound says nothing
    const known = wide ? `Too few labels to tell: the ${what} may be from ${percent(last.low)} to ${percent(last.high)}` : `The ${what} is ${bound}`;
    why = `${known}, with 95 % confidence. The goal is ${goal}.`;
    if (!wide) pill = `${met === "yes" ? "You may stop" : "Not yet"}: ${about.measure} ${bound}`;
  }
  if (certified) { why = `${proof.says}. Save the files now: further labels change the model.`; pill = "Certified"; }
  else if (proof && !proof.up_to_date) why = `${why} The certificate is outdated: ${since(proof)}.`;
  else if (proof) {  // something is proved, but not the goal
    const proved = `Certified: ${proof.measure} ${bounded(proof.measure, proof.target)}.`;
    const instead = proof.measure === about.measure && about.estimates && met !== "yes";  // it says more than the estimate
    why = instead ? `${proved} The goal is ${goal}.` : `${why} ${proved}`;
    if (instead) pill = `Not yet: certified ${bounded(proof.measure, proof.target)}`;
  }
  if (all && !certified) {
    why = `Every document has been read: nothing is left to ${falling ? "predict" : "find"}.`;
    pill = "All documents are read";
  }
  return { met, answer, why, pill };
}
