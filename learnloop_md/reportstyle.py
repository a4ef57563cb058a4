"""The style of the report page; light, dark, narrow and on paper, with filters that need no script."""

from __future__ import annotations

from collections.abc import Sequence

_BASE = """
:root{color-scheme:light dark;--bg:#fff;--card:#f6f8fa;--ink:#1b1f24;--dim:#57606a;--line:#c4cbd3;--link:#0a58ca;
--can:#7a4d00;--can-bg:#fff3d1;--can-bar:#b87a00;--cur:#0f5323;--cur-bg:#d8f5e0;--cur-bar:#1a7f37;--arc:#4c555e;
--arc-bg:#e6e9ed;--arc-bar:#7c8690;--bad:#a40e26;--bad-bg:#ffe3e6}
@media (prefers-color-scheme:dark){:root{--bg:#0d1117;--card:#161b22;--ink:#e6edf3;--dim:#9da7b1;--line:#3a424c;
--link:#7ab7ff;--can:#f0c35a;--can-bg:#33270a;--can-bar:#c99a2c;--cur:#6ee08a;--cur-bg:#12301c;--cur-bar:#3fa55b;
--arc:#aeb7c0;--arc-bg:#262d35;--arc-bar:#7d8791;--bad:#ff9aa5;--bad-bg:#3d1519}}
*{box-sizing:border-box}
body{margin:0 auto;padding:0 1rem 3rem;max-width:72rem;background:var(--bg);color:var(--ink);
font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.6rem;margin:1.5rem 0 0}h2{font-size:1.25rem;margin:2.5rem 0 .75rem}h3{font-size:1rem;margin:0 0 .5rem}
details+h3{margin-top:1.25rem}
p{margin:.4rem 0}a{color:var(--link)}.dim,caption,figcaption{color:var(--dim)}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:1rem;background:var(--bg);padding:.5rem;z-index:1}
nav ul,.board ul,.tiles{list-style:none;margin:0;padding:0}nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(11rem,1fr));gap:.75rem}
.tiles>div,.board>section,.l,fieldset{background:var(--card);border:1px solid var(--line);border-radius:.5rem}
.tiles>div{padding:.75rem 1rem;display:flex;flex-direction:column}
.tiles dt{order:1}.tiles dd{margin:0;font-size:1.5rem;font-weight:600;line-height:1.3}
.tiles .more{order:2;font-size:.9rem;font-weight:400;color:var(--dim)}
figure{margin:1rem 0 .5rem}figure svg{display:block;width:100%;height:9rem;background:var(--card);
border:1px solid var(--line);border-radius:.5rem}
.area{fill:var(--cur-bar);opacity:.25}
.curve{fill:none;stroke:var(--cur-bar);stroke-width:2;vector-effect:non-scaling-stroke}
.board{display:grid;grid-template-columns:repeat(auto-fit,minmax(16rem,1fr));gap:.75rem}
.board>section{padding:.75rem 1rem;max-height:26rem;overflow:auto}
.board li{padding:.2rem 0;border-top:1px solid var(--line)}
i{display:inline-block;border-radius:.75rem;padding:0 .55rem;font:600 .85rem/1.5 system-ui,sans-serif;
background:var(--arc-bg);color:var(--arc)}
.candidate{background:var(--can-bg);color:var(--can)}.current{background:var(--cur-bg);color:var(--cur)}
.relapsed{background:var(--bad-bg);color:var(--bad)}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%}caption{text-align:left;padding:.25rem 0}
th,td{text-align:left;vertical-align:top;padding:.3rem .6rem .3rem 0;border-top:1px solid var(--line)}
th[scope=row]{font-weight:400}td{white-space:nowrap}td.bar{width:40%;min-width:9rem;vertical-align:middle}
.bar svg{display:block;width:100%;height:.8rem;background:var(--card)}
.b-candidate{fill:var(--can-bar)}.b-current{fill:var(--cur-bar)}.b-archived{fill:var(--arc-bar)}
.key span{margin-right:1rem}.key b{display:inline-block;width:.8rem;height:.8rem;margin-right:.35rem;
background:var(--arc-bar)}.key .candidate{background:var(--can-bar)}.key .current{background:var(--cur-bar)}
fieldset{margin:0 0 .75rem;padding:.25rem 1rem .6rem}legend{font-weight:600;padding:0 .3rem}
fieldset label{display:inline-flex;gap:.35rem;align-items:center;margin-right:1rem;min-height:1.75rem}
.l{margin:.5rem 0;padding:0 1rem}.l>summary{padding:.6rem 0;cursor:pointer}.l[open]{padding-bottom:.75rem}
.l small,.l dt{color:var(--dim)}.l small{font-size:.9rem}.l>p,.l dd{unicode-bidi:plaintext;white-space:pre-line}
.l dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;margin:.6rem 0}.l dd{margin:0}
.l ul{margin:.5rem 0;padding-left:1.25rem}.l li{margin:.3rem 0}code{font:.9em ui-monospace,monospace}
pre{font:.85rem/1.45 ui-monospace,monospace;margin:.25rem 0;padding:.4rem .6rem;background:var(--bg);
border:1px solid var(--line);border-radius:.3rem;white-space:pre-wrap}
ins,del,pre span{text-decoration:none;display:block}ins{background:var(--cur-bg);color:var(--cur)}
del{background:var(--bad-bg);color:var(--bad)}
@media (max-width:40rem){td.day,th.day{display:none}.l dl{grid-template-columns:1fr}.l dd{margin-bottom:.4rem}}
@media print{nav,fieldset,.skip{display:none}.board>section{max-height:none}.l{break-inside:avoid}}
"""


def css(states: Sequence[str], types: Sequence[str]) -> str:
    """The whole style, with one rule for each filter: what does not fit the chosen button is not displayed."""
    rules = [f"body:has(#f-{name}:checked) [data-s]:not([data-s~={name}]){{display:none}}" for name in states]
    rules += [f"body:has(#t-{name}:checked) [data-t]:not([data-t={name}]){{display:none}}" for name in types]
    return _BASE + "\n".join(rules) + "\n"
