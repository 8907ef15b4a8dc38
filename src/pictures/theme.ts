/** Colours and fonts after n8n's editor, light and dark. */
import colours from "./colours.json" with { type: "json" }
import rules from "./style.json" with { type: "json" }

const { base, links, marks, nodes, page } = rules

const declare = (mode: 0 | 1) => Object.entries(colours).map(([name, modes]) => `--${name}:${modes[mode]}`).join(";")

/** CSS variables of the light and the dark palette; `data-theme` on the element overrides the system's preference. */
export const variables = (element: string): string =>
  `${element}{${declare(0)}}` +
  `@media(prefers-color-scheme:dark){${element}:not([data-theme=light]){${declare(1)}}}` +
  `${element}[data-theme=dark]{${declare(1)}}`

/** Style of every picture, constant so that a page can allow it by its hash; the order of the rules matters. */
export const style: string = [
  variables(".wf"),
  ...base,
  ...["plain", "orange", "pink", "green", "blue", "violet", "red"].map((hue) =>
    `.wf .h-${hue}{stroke:var(--${hue})}.wf text.h-${hue}{fill:var(--${hue});stroke:none}`
  ),
  ...nodes,
  ...["off", "idle", "s-removed", "missed"].map((state) =>
    `.wf .${state} .glyph{stroke:var(--dim)}.wf .${state} .initials,.wf .${state} .name{fill:var(--dim)}`
  ),
  ...Object.entries(marks).map(([status, colour]) =>
    `.wf .s-${status} .box{stroke:var(--${colour});stroke-width:3}.wf .s-${status} .mark{fill:var(--${colour})}` +
    `.wf .s-${status} .figures{fill:var(--${colour})}`
  ),
  ...links,
  ...[1, 2, 3, 4, 5, 6, 7].map((colour) => `.wf .note${colour}{fill:var(--note${colour});stroke:var(--line)}`),
  ...page
].join("")
