"""The look of every page: one style sheet for screen (light and dark) and for paper.

No colour carries meaning alone. Figures are drawn in two tokens, ink and paper, which follow the
colour scheme of the reader, and in a few middle tones that stand out from both.
"""

from __future__ import annotations

FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', sans-serif"
MONO = "ui-monospace, 'Cascadia Mono', Menlo, Consolas, 'Liberation Mono', monospace"

_COLOURS = """
:root {
  color-scheme: light dark;
  --ink: #1b1f24; --soft: #57606a; --paper: #ffffff; --page: #f5f6f8;
  --line: #c9d0d8; --box: #eef3fa; --edge: #3567a8;
  --good: #1d6b3a; --care: #8a5300; --stop: #a4161a;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e4e8ee; --soft: #a3adb9; --paper: #16191e; --page: #0d0f12;
    --line: #3a424d; --box: #1b2430; --edge: #7aa7e0;
    --good: #6ccf8e; --care: #f0b45a; --stop: #ff8a8a;
  }
}
"""

_SCREEN = f"""
* {{ box-sizing: border-box; }}
html {{ background: var(--page); }}
body {{
  max-width: 62rem; margin: 0 auto; padding: 2rem 1.5rem 4rem; min-height: 100vh;
  background: var(--paper); color: var(--ink);
  font: 1rem/1.55 {FONTS};
}}
h1, h2, h3, p, li, caption, figcaption, pre {{ overflow-wrap: anywhere; }}
h1 {{ font-size: 1.8rem; line-height: 1.25; margin: 0 0 .25rem; }}
h2 {{
  font-size: 1.25rem; margin: 2.5rem 0 .75rem; padding-bottom: .25rem;
  border-bottom: 1px solid var(--line);
}}
h3 {{ font-size: 1.05rem; margin: 1.5rem 0 .5rem; }}
p {{ margin: .5rem 0 1rem; max-width: 46rem; }}
.subtitle {{ color: var(--soft); margin: 0 0 1.5rem; }}
.box {{
  border: 1px solid var(--edge); border-left-width: .4rem; background: var(--box);
  border-radius: .3rem; padding: .75rem 1.25rem; margin: 1.25rem 0;
}}
.box p {{ margin: .35rem 0; max-width: none; }}
.box p:first-child {{ font-weight: 650; }}
ul {{ padding-left: 1.4rem; max-width: 46rem; }}
li {{ margin: .25rem 0; }}
.scroll {{ overflow-x: auto; margin: 1rem 0 1.5rem; }}
table {{ border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; }}
caption {{ text-align: left; color: var(--soft); padding: .25rem 0 .5rem; caption-side: top; }}
th, td {{ padding: .35rem .7rem; text-align: left; vertical-align: top; min-width: 3.2rem; }}
tbody th, td {{ border-top: 1px solid var(--line); }}
thead th {{ border-bottom: 2px solid var(--soft); vertical-align: bottom; }}
tbody tr:last-child > * {{ border-bottom: 1px solid var(--line); }}
tbody th {{ font-weight: 550; }}
.right {{ text-align: right; }}
td.right {{ white-space: nowrap; }}
.center {{ text-align: center; }}
figure {{ margin: 1.25rem 0 1.75rem; }}
figure svg {{ display: block; fill: var(--ink); max-width: 100%; height: auto; }}
figure svg * {{ stroke-linejoin: round; stroke-linecap: butt; }}
figcaption {{ color: var(--soft); font-size: .92rem; margin-top: .4rem; max-width: 46rem; }}
pre {{
  background: var(--page); border: 1px solid var(--line); border-radius: .3rem;
  padding: .75rem 1rem; font: .85rem/1.5 {MONO}; white-space: pre-wrap;
}}
.verdict {{
  border: 2px solid var(--tone); border-left-width: .9rem; border-radius: .3rem;
  padding: .75rem 1.25rem; margin: 1rem 0; background: var(--paper);
}}
.verdict .word {{ font-size: 1.45rem; line-height: 1.25; font-weight: 700; color: var(--tone); }}
.verdict p {{ margin: .35rem 0; max-width: none; }}
.verdict.low {{ --tone: var(--good); }}
.verdict.raised {{ --tone: var(--care); }}
.verdict.high, .verdict.policy, .verdict.unknown {{ --tone: var(--stop); }}
.cards td:nth-child(2), .cards td:nth-child(3) {{ white-space: nowrap; }}
@media screen and (max-width: 30rem) {{
  body {{ padding: 1rem .8rem 2rem; }}
  th, td {{ padding: .3rem .4rem; }}
}}
@media screen and (max-width: 40rem) {{
  pre {{ white-space: pre; overflow-x: auto; }}
  .cards table, .cards tbody, .cards tr, .cards th, .cards td, .cards caption {{
    display: block; width: 100%;
  }}
  .cards thead {{ display: none; }}
  .cards tr {{ border: 1px solid var(--line); border-radius: .3rem; margin: 0 0 .75rem; }}
  .cards td {{ display: flex; gap: 1rem; justify-content: space-between; text-align: right; }}
  .cards td::before {{ content: attr(data-label); color: var(--soft); text-align: left; }}
}}
hr.sheet {{ border: 0; border-top: 1px dashed var(--line); margin: 2.5rem 0; }}
.sign {{ display: flex; flex-wrap: wrap; gap: 1rem; margin: 1.5rem 0 .5rem; }}
.sign span {{
  flex: 1 1 11rem; border-bottom: 1px solid var(--ink); min-height: 3.2rem; font-size: .85rem;
  color: var(--soft);
}}
ul.boxes {{ list-style: none; padding-left: 0; }}
ul.boxes li::before {{ content: "\2610\00a0\00a0"; }}
footer {{ color: var(--soft); font-size: .85rem; margin-top: 3rem; }}
"""

_PRINT = """
@page { margin: 16mm 14mm; }
@media print {
  :root {
    --ink: #000000; --soft: #333333; --paper: #ffffff; --page: #ffffff;
    --line: #999999; --box: #ffffff; --edge: #000000;
    --good: #1d6b3a; --care: #8a5300; --stop: #a4161a;
  }
  .verdict { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  hr.sheet { border: 0; margin: 0; break-after: page; page-break-after: always; }
  .sign { break-inside: avoid; }
  h2 { margin: 1.3rem 0 .4rem; }
  th, td { padding: .22rem .6rem; }
  html { font-size: 10.5pt; }
  body { max-width: none; padding: 0; min-height: 0; }
  h1, h2, h3, caption { break-after: avoid; page-break-after: avoid; }
  figure, .box, tr, caption { break-inside: avoid; page-break-inside: avoid; }
  thead { display: table-header-group; }
  p, li { orphans: 3; widows: 3; }
  .scroll { overflow: visible; }
  table { font-size: .85rem; }
  pre { border-color: #999999; }
}
"""

CSS = _COLOURS + _SCREEN + _PRINT
