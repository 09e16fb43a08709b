// The answer to "May I stop?", in words.

import { percent } from "./plot.js";

export const bounded = (measure, target) => `${measure === "error" ? "below" : "at least"} ${percent(target)}`;

export const isAllRead = (about, state) => state.read >= about.items;

// What has happened since a certificate passed, of which it does not speak.
export function since({ learned_since: learned, added }) {
  const events = [];
  if (learned) events.push(`the model has learned ${learned} ${learned === 1 ? "label" : "labels"}`);
  if (added) events.push(`${added} ${added === 1 ? "document was" : "documents were"} added`);
  return `${events.join(" and ")} since then`;
}

export function verdict(about, state) {
  const last = state.estimates[state.estimates.length - 1], falling = about.measure === "error";
  const ended = state.certificate && state.certificate.passed ? state.certificate : null;
  const certified = ended && ended.reaches_goal && ended.up_to_date;
  const all = isAllRead(about, state);
  const met = all || certified || (last && last.met) ? "yes" : last ? "no" : "unknown";
  const answer = certified ? "Yes, certified" : all ? "Yes, all are read" : met === "yes" ? "You may stop" : "Not yet";
  const goal = bounded(about.measure, about.target);
  let why = `There is an estimate from 20 labels on. The goal: ${about.measure} ${goal}.`, pill = "Not yet: too few labels";
  if (!about.estimates && !falling) {
    const found = state.counts[about.classes.indexOf(about.positive)];
    why = `${found} ${about.positive} found. Read since the last one: ${state.dry}. When hardly any come, try for a certificate: it proves that ${percent(about.target)} are found, or goes on until they are.`;
    pill = `Found ${found}, since then ${state.dry} others`;
  } else if (last && last.refused) { why = last.refused; pill = "No estimate"; }
  else if (last) {
    const bound = falling ? `at most ${percent(last.high)}` : `at least ${percent(last.low)}`, what = `${about.measure}${falling ? "" : ` of ${about.positive}`}`;
    const wide = met === "no" && last.high - last.low > 0.5;  // that bound would say nothing
    const known = wide ? `Too few labels to tell: the ${what} may be from ${percent(last.low)} to ${percent(last.high)}` : `The ${what} is ${bound}`;
    why = `${known}, with 95 % confidence. The goal is ${goal}.`;
    if (!wide) pill = `${met === "yes" ? "You may stop" : "Not yet"}: ${about.measure} ${bound}`;
  }
  if (certified) { why = `${ended.says}. Save the files now: with further labels the model learns on.`; pill = "Certified"; }
  else if (ended && !ended.up_to_date) why = `${why} The certificate is outdated: ${since(ended)}.`;
  else if (ended) {  // something is proved, but not what is wanted
    const proved = `Certified: ${ended.measure} ${bounded(ended.measure, ended.target)}.`;
    const instead = ended.measure === about.measure && about.estimates && met !== "yes";  // it says more than the estimate
    why = instead ? `${proved} The goal is ${goal}.` : `${why} ${proved}`;
    if (instead) pill = `Not yet: certified ${bounded(ended.measure, ended.target)}`;
  }
  if (all && !certified) {
    why = `Every document has been read: nothing is left to ${falling ? "predict" : "find"}.`;
    pill = "All documents are read";
  }
  return { met, answer, why, pill };
}
