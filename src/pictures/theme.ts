/** Colours and fonts after n8n's editor, light and dark. */

type Palette = { readonly [name: string]: string }

const light: Palette = {
  bg: "#f5f5f5",
  dot: "#d4d4d4",
  box: "#ffffff",
  line: "#cccccc",
  edge: "#b0b0b0",
  text: "#2b2b2b",
  dim: "#696969",
  plain: "#333333",
  orange: "#d9730b",
  pink: "#d6256c",
  green: "#0a7a5c",
  blue: "#2563c9",
  violet: "#7a3ff2",
  red: "#c93a2b",
  ok: "#21855a",
  bad: "#d11f1f",
  warn: "#9a6400",
  new: "#21855a",
  old: "#d11f1f",
  mod: "#b35900",
  ren: "#5a4fcf",
  note1: "#fff4cf",
  note2: "#f9ddc4",
  note3: "#fad3d3",
  note4: "#d3f0df",
  note5: "#d3e4fb",
  note6: "#e6dafb",
  note7: "#ececec"
}

const dark: Palette = {
  bg: "#171717",
  dot: "#333333",
  box: "#2b2b2b",
  line: "#4a4a4a",
  edge: "#6a6a6a",
  text: "#f2f2f2",
  dim: "#a8a8a8",
  plain: "#e2e2e2",
  orange: "#ff9d42",
  pink: "#ff5c97",
  green: "#3cc79a",
  blue: "#77a8ff",
  violet: "#b191ff",
  red: "#ff7a6b",
  ok: "#4cc38a",
  bad: "#ff6369",
  warn: "#f0b429",
  new: "#4cc38a",
  old: "#ff6369",
  mod: "#ff9d42",
  ren: "#a79bff",
  note1: "#4a4222",
  note2: "#4d3a2a",
  note3: "#4d2d2d",
  note4: "#23432f",
  note5: "#23374f",
  note6: "#3a2f52",
  note7: "#262626"
}

const declare = (palette: Palette) => Object.entries(palette).map(([name, colour]) => `--${name}:${colour}`).join(";")

/** CSS variables of both palettes; `data-theme` on the element overrides the system's preference. */
export const variables = (element: string): string =>
  `${element}{${declare(light)}}` +
  `@media(prefers-color-scheme:dark){${element}:not([data-theme=light]){${declare(dark)}}}` +
  `${element}[data-theme=dark]{${declare(dark)}}`

const marks = {
  success: "ok",
  error: "bad",
  waiting: "warn",
  running: "warn",
  warning: "warn",
  added: "new",
  removed: "old",
  changed: "mod",
  renamed: "ren"
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
  ".wf .ghost{fill:none;stroke:var(--dim);stroke-width:1.5;stroke-dasharray:4 4;opacity:.55}",
  ".wf .strike{stroke:var(--dim);stroke-width:2}",
  ".wf .off .box{stroke-dasharray:5 4}.wf .off .glyph,.wf .off .initials,.wf .idle .glyph,.wf .idle .initials{opacity:.4}",
  ".wf .idle .name{fill:var(--dim)}",
  ...Object.entries(marks).map(([status, colour]) =>
    `.wf .s-${status} .box{stroke:var(--${colour});stroke-width:3}.wf .s-${status} .mark{fill:var(--${colour})}` +
    `.wf .s-${status} .figures{fill:var(--${colour})}`
  ),
  ".wf .s-removed{opacity:.75}.wf .s-removed .box{stroke-dasharray:6 4}",
  ".wf .ran{stroke:var(--ok)}.wf .added{stroke:var(--new);stroke-width:3}.wf .removed{stroke:var(--old);stroke-dasharray:3 5}",
  ".wf .tip.ran{fill:var(--ok);stroke:none}.wf .tip.added{fill:var(--new);stroke:none}.wf .tip.removed{fill:var(--old);stroke:none}",
  ".wf .count{fill:var(--ok);font-size:13px}",
  ...[1, 2, 3, 4, 5, 6, 7].map((colour) => `.wf .note${colour}{fill:var(--note${colour});stroke:var(--line)}`),
  ".wf [data-node]{cursor:pointer;outline:none}",
  ".wf [data-node]:focus-visible .box,.wf [data-node].picked .box{stroke:var(--violet);stroke-width:5;stroke-dasharray:none}",
  ".wf.finding [data-node]:not(.found){opacity:.25}"
].join("")
