/** Colours and fonts after n8n's editor, light and dark. */
import colours from "./colours.json" with { type: "json" }

const declare = (mode: 0 | 1) => Object.entries(colours).map(([name, modes]) => `--${name}:${modes[mode]}`).join(";")

/** CSS variables of the light and the dark palette; `data-theme` on the element overrides the system's preference. */
export const variables = (element: string): string =>
  `${element}{${declare(0)}}` +
  `@media(prefers-color-scheme:dark){${element}:not([data-theme=light]){${declare(1)}}}` +
  `${element}[data-theme=dark]{${declare(1)}}`

const marks = {
  success: "ok",
  error: "bad",
  waiting: "warn",
  running: "warn",
  warning: "warn",
  added: "new",
  removed: "old",
  changed: "mod",
  renamed: "ren",
  incomplete: "blue"
}

/** Style of every picture, constant so that a page can allow it by its hash. */
export const style: string = [
  variables(".wf"),
  ".wf{font:16px Inter,system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\",\"Noto Sans\",\"Noto Sans CJK JP\",sans-serif;background:var(--bg)}",
  ".wf text{fill:var(--text);unicode-bidi:plaintext}",
  ".wf .bg{fill:var(--bg)}.wf .dot{fill:var(--dot)}",
  ".wf .mid{text-anchor:middle}.wf .end{text-anchor:end}",
  ".wf .name{font-weight:500}.wf .small{font-size:12px}.wf .dim{fill:var(--dim)}",
  ".wf .title{font-size:20px;font-weight:600}",
  ".wf .halo{paint-order:stroke;stroke:var(--bg);stroke-width:5px;stroke-linejoin:round}",
  ".wf .box{fill:var(--box);stroke:var(--line);stroke-width:1.5}",
  ".wf .edge{fill:none;stroke:var(--edge);stroke-width:2}.wf .dash{stroke-dasharray:6 5}",
  ".wf .tip{fill:var(--edge)}",
  ".wf .port{fill:var(--box);stroke:var(--edge);stroke-width:1.5}",
  ".wf .glyph{fill:none;stroke-width:2;stroke-linecap:round;stroke-linejoin:round}",
  ".wf .sign{fill:none;stroke:var(--box);stroke-width:2;stroke-linecap:round;stroke-linejoin:round}",
  ".wf .initials{font-size:24px;font-weight:700}",
  ...["plain", "orange", "pink", "green", "blue", "violet", "red"].map((hue) =>
    `.wf .h-${hue}{stroke:var(--${hue})}.wf text.h-${hue}{fill:var(--${hue});stroke:none}`
  ),
  ".wf .bolt{fill:var(--orange)}.wf .pin{fill:var(--violet)}",
  ".wf .ghost{fill:none;stroke:var(--dim);stroke-width:1.5;stroke-dasharray:4 4}",
  ".wf .strike{stroke:var(--dim);stroke-width:2}",
  ".wf .off .box{stroke-dasharray:5 4}",
  ...["off", "idle", "s-removed", "missed"].map((state) =>
    `.wf .${state} .glyph{stroke:var(--dim)}.wf .${state} .initials,.wf .${state} .name{fill:var(--dim)}`
  ),
  ...Object.entries(marks).map(([status, colour]) =>
    `.wf .s-${status} .box{stroke:var(--${colour});stroke-width:3}.wf .s-${status} .mark{fill:var(--${colour})}` +
    `.wf .s-${status} .figures{fill:var(--${colour})}`
  ),
  ".wf .s-removed .box{stroke-dasharray:6 4}",
  ".wf .ran{stroke:var(--ok)}.wf .added{stroke:var(--new);stroke-width:3}.wf .removed{stroke:var(--old);stroke-dasharray:3 5}",
  ".wf .tip.ran{fill:var(--ok);stroke:none}.wf .tip.added{fill:var(--new);stroke:none}.wf .tip.removed{fill:var(--old);stroke:none}",
  ".wf .count{fill:var(--ok);font-size:13px}",
  ...[1, 2, 3, 4, 5, 6, 7].map((colour) => `.wf .note${colour}{fill:var(--note${colour});stroke:var(--line)}`),
  ".wf [data-node]{cursor:pointer;outline:none}",
  ".wf [data-node]:focus-visible .box,.wf [data-node].picked .box{stroke:var(--violet);stroke-width:5;stroke-dasharray:none}",
  ".wf .missed .box{stroke:var(--line);stroke-width:1;stroke-dasharray:2 4}.wf .found .box{stroke:var(--violet);stroke-width:5}"
].join("")
