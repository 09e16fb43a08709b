"""How the page looks: on a desk, on a phone, on paper."""

STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; color: #1c1c1c;
  background: #fff; margin: 0 auto; max-width: 70rem; padding: 1.2rem; overflow-wrap: break-word; }
h1 { font-size: 1.8rem; line-height: 1.2; margin: .6rem 0; }
h2 { font-size: 1.3rem; line-height: 1.3; margin: 2.6rem 0 .6rem; border-top: 1px solid #ddd;
  padding-top: 1.2rem; }
h3 { font-size: 1.05rem; margin: 1.6rem 0 .4rem; }
p, ul.judged { max-width: 44rem; }
a { color: #0b57a4; }
code { font-size: .9em; background: #f3f3f0; padding: 0 .2em; }
.lead { font-size: 1.1rem; color: #3c3c3c; }
.notice { border: 2px solid #8a5a00; background: #fff6e0; padding: .6rem .9rem; }
nav ul { columns: 2 20rem; list-style: none; padding: 0; }
.wide { overflow-x: auto; }
figure { margin: 1.4rem 0; }
figure svg { display: block; max-width: 100%; height: auto; }
figure svg text { font-family: "DejaVu Sans", Verdana, sans-serif !important; }
figcaption, .rows, footer { font-size: .9rem; color: #4a4a4a; text-align: left; }
figcaption { max-width: 44rem; margin-top: .4rem; }
table { border-collapse: collapse; font-size: .92rem; margin: .4rem 0; }
th, td { padding: .3rem .8rem .3rem 0; border-bottom: 1px solid #e1e1e1; text-align: left;
  vertical-align: top; }
th { border-bottom: 2px solid #999; }
td.number, td.short { white-space: nowrap; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
td.digest { font: .75rem/1.4 ui-monospace, Menlo, Consolas, monospace; min-width: 17rem;
  overflow-wrap: anywhere; }
.verdicts { width: 100%; table-layout: fixed; }
.verdicts th.part { background: #f3f3f0; border-bottom: 1px solid #999; padding-left: .5rem; }
.verdicts thead th:nth-child(-n + 6) { width: 20%; }
.verdicts thead th:nth-child(1) { width: 11%; }
.verdicts thead th:nth-child(3) { width: 8%; }
.verdicts thead th:nth-child(5) { width: 10%; }
.verdicts td:last-child { overflow-wrap: anywhere; }
.label { display: inline-block; border: 1px solid; border-radius: .3rem;
  padding: 0 .4rem; font-size: .85rem; font-weight: 600; }
.holds { color: #0b5c33; background: #e7f6ec; }
.partly { color: #6b4500; background: #fff4d6; }
.fails { color: #8d1717; background: #fdeaea; }
.noted { color: #444; background: #f0f0f0; }
ul.judged { list-style: none; padding: 0; }
ul.judged li { margin: .3rem 0; }
pre { background: #f3f3f0; padding: .8rem; overflow-x: auto; font-size: .85rem; }
@media screen and (max-width: 52rem) {
  figure svg { min-width: 30rem; }
  .verdicts thead { display: none; }
  .verdicts, .verdicts tbody, .verdicts tr, .verdicts td, .verdicts th.part { display: block; }
  .verdicts tr { border-bottom: 2px solid #999; padding: .4rem 0; }
  .verdicts td { border: 0; padding: .1rem 0; }
  .verdicts td:empty { display: none; }
  .verdicts td::before { content: attr(data-head) ": "; color: #5a5a5a; font-size: .85rem; }
}
@media print {
  html { font-size: 9pt; }
  body { max-width: none; padding: 0; }
  .verdicts { font-size: 8pt; }
  .verdicts .label { font-size: 7pt; padding: 0 .2rem; }
  td.digest { min-width: 0; }
  .wide { overflow: visible; }
  figure, tr, .notice { break-inside: avoid; }
  h2, h3, .table figcaption { break-after: avoid; }
  thead { display: table-header-group; }
  .label { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  pre { white-space: pre-wrap; }
}
"""
