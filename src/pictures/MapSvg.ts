/** Renders a map of workflows as SVG, light and dark, and the details of its page. Pure. */
import { defined } from "../base/Json.ts"
import { counted } from "../base/Plural.ts"
import type { Edge, WorkflowMap } from "../workflows/fleet/Map.ts"
import * as details from "./details.ts"
import * as geometry from "./geometry.ts"
import { glyphOf } from "./glyphs.ts"
import { type Frame, layOut, size } from "./mapLayout.ts"
import type { Status } from "./model.ts"
import type { Shown } from "./Page.ts"
import { glyphAt, markAt, n, text, titled } from "./shapes.ts"
import { ellipsis, width as textWidth, wrap, xml } from "./text.ts"
import { style as picturesStyle } from "./theme.ts"

const kinds = {
  calls: { words: "calls", colour: "blue", dash: "" },
  tool: { words: "uses as a tool", colour: "violet", dash: "7 4" },
  http: { words: "calls over HTTP", colour: "green", dash: "2 4" },
  error: { words: "error workflow", colour: "orange", dash: "10 3 2 3" }
} as const

/** Style of every map, constant so that a page can allow it by its hash. */
export const style: string = picturesStyle + [
  ...Object.entries(kinds).map(([kind, { colour, dash }]) =>
    `.wf .k-${kind}{stroke:var(--${colour})${dash === "" ? "" : `;stroke-dasharray:${dash}`}}` +
    `.wf .tip.k-${kind},.wf .dot.k-${kind}{fill:var(--${colour});stroke:none}`
  ),
  ".wf .k-broken{stroke:var(--bad);stroke-width:3}.wf .tip.k-broken{fill:var(--bad);stroke:none}",
  ".wf .faint{opacity:.4}.wf .frame{fill:none;stroke:var(--line);stroke-width:1.5}",
  ".wf .off>text{fill:var(--dim)}.wf .legend{fill:var(--box);stroke:var(--line)}.wf .m{font-size:14px}"
].join("")

/** Error workflows with more users are shown as a mark on each user. */
const fewUsers = 4

const keyOf = (
  { from, kind, node, to }: Pick<Edge, "from" | "node"> & { readonly kind: string; readonly to: string }
) => JSON.stringify([from, kind, node, to])

const facts = (map: WorkflowMap, isHidden: boolean) => {
  const show = details.show(isHidden)
  const nameOf = (id: string) => show.line(map.workflows.get(id)?.name ?? `missing: ${id}`)
  const broken = new Map(map.broken.map((each) => [keyOf(each), each]))
  const inCycle = new Set(map.cycles.flat())
  const orphans = new Set(map.orphans.map(({ id }) => id))
  const faulty = new Set(map.broken.map(({ from }) => from))
  const misfits = new Set(map.contracts.map(({ from }) => from))
  const users = Map.groupBy(map.edges.filter(({ kind }) => kind === "error"), ({ to }) => to)
  const isMark = ({ kind, to }: Edge) => kind === "error" && (users.get(to)?.length ?? 0) > fewUsers
  const faultsOf = (id: string): ReadonlyArray<readonly [Status, string]> => [
    ...faulty.has(id) ? [["error", "has links that fail"] as const] : [],
    ...map.workflows.has(id) ? [] : [["error", "does not exist"] as const],
    ...inCycle.has(id) ? [["renamed", "calls itself, by others or directly"] as const] : [],
    ...misfits.has(id) ? [["warning", "passes inputs that do not fit"] as const] : [],
    ...orphans.has(id) ? [["warning", "nothing calls it"] as const] : []
  ]
  const statusOf = (id: string) => faultsOf(id)[0]?.[0]
  const statusText = (id: string) => faultsOf(id).map(([, text]) => text).join(", ") || undefined
  return { show, nameOf, broken, isMark, statusOf, statusText, usersOf: (id: string) => users.get(id)?.length ?? 0 }
}

type Facts = ReturnType<typeof facts>

const lines = (title: string, all: ReadonlyArray<string>) =>
  all.length === 0 ? [] : [{ title, text: [...new Set(all)].join("\n") }]

const summary = ({ broken, contracts, cycles, edges, orphans, workflows }: WorkflowMap) => {
  const count = (kind: Edge["kind"]) => edges.filter((edge) => edge.kind === kind).length
  const current = [...workflows.values()].filter(({ isArchived }) => !isArchived).length
  const links = [
    counted(count("calls"), "call"),
    counted(count("tool"), "tool"),
    counted(count("http"), "HTTP call"),
    `${count("error")} with an error workflow`,
    `${broken.length} broken`,
    counted(contracts.length, "mismatch").replace("mismatchs", "mismatches"),
    `${orphans.length} unused`,
    counted(cycles.length, "cycle")
  ]
  return { title: counted(current, "workflow"), subtitle: links.join(" · ") }
}

/** Title, summary, and details of every workflow, for the page. */
export const shown = (map: WorkflowMap, showsSecrets: boolean): Shown => {
  const about = facts(map, showsSecrets)
  const { nameOf, show } = about
  const [from, to] = [Map.groupBy(map.edges, ({ from }) => from), Map.groupBy(map.edges, ({ to }) => to)]
  const link = (edge: Edge, other: string) => {
    const why = about.broken.get(keyOf(edge))?.why
    const state = edge.state === undefined ? "" : `, ${edge.state}`
    return `${nameOf(other)} (${kinds[edge.kind].words}: ${show.line(edge.node)}${state})${
      why === undefined ? "" : ` ✗ ${why}`
    }`
  }
  // Those with a fault first.
  const ids = [...drawnIds(map)].toSorted((a, b) =>
    Number(about.statusOf(a) === undefined) - Number(about.statusOf(b) === undefined) ||
    nameOf(a).localeCompare(nameOf(b))
  )
  return {
    ...summary(map),
    sections: [
      ...lines(
        "Broken",
        map.broken.map((each) =>
          `${nameOf(each.from)}, ${show.line(each.node)} → ${nameOf(each.to).replace(/^missing: /, "")}: ${each.why}`
        )
      ),
      ...lines("Sub-workflows that nothing calls", map.orphans.map(({ id }) => nameOf(id))),
      ...lines("Cycles", map.cycles.map((ids) => ids.map(nameOf).join(" ⇄ "))),
      ...lines(
        "Shared",
        map.shared.map(({ kind, name, workflows }) =>
          `${kind} ${show.line(name)}: ${counted(workflows.length, "workflow")}`
        )
      )
    ],
    nodes: ids.map((id) => {
      const workflow = map.workflows.get(id)
      const state = workflow === undefined
        ? "missing"
        : workflow.isArchived
        ? "archived"
        : workflow.isPublished
        ? "published"
        : "unpublished"
      return defined({
        id,
        name: nameOf(id),
        label: `${state} · ${id}`,
        status: about.statusOf(id),
        statusText: about.statusText(id),
        sections: [
          ...lines(
            "Broken",
            map.broken.filter((each) => each.from === id).map((each) =>
              `${show.line(each.node)}: ${each.why} (${nameOf(each.to).replace(/^missing: /, "")})`
            )
          ),
          ...lines("Uses", (from.get(id) ?? []).map((edge) => link(edge, edge.to))),
          ...lines("Used by", (to.get(id) ?? []).map((edge) => link(edge, edge.from))),
          ...lines("Declared inputs", [...workflow?.inputs ?? []].map(([name, type]) => show.line(`${name}: ${type}`))),
          ...lines(
            "Inputs that do not fit",
            map.contracts.filter((each) => each.from === id || each.to === id).map((
              { from, missing = [], node, unknown = [], wrongType = [] }
            ) =>
              show.line(`${nameOf(from)}, ${node}: ${
                [
                  ...missing.map((each) => `missing ${each}`),
                  ...unknown.map((each) => `unknown ${each}`),
                  ...wrongType
                ].join("; ")
              }`)
            )
          ),
          ...lines(
            "Decided at run time",
            map.unresolved.filter((each) => each.from === id).map(({ by, node }) => show.line(`${node}: ${by}`))
          ),
          ...lines(
            "Shared credentials and tables",
            map.shared.filter(({ workflows }) => workflows.includes(id)).map(({ kind, name, workflows }) =>
              show.line(`${kind} ${name}, in ${counted(workflows.length, "workflow")}`)
            )
          )
        ]
      }) as Shown["nodes"][number]
    })
  }
}

const drawnIds = ({ edges, workflows }: WorkflowMap): ReadonlySet<string> =>
  new Set([
    ...[...workflows.values()].flatMap(({ id, isArchived }) => isArchived ? [] : [id]),
    ...edges.map(({ to }) => to)
  ])

const inset = 14

const drawWorkflow = (
  map: WorkflowMap,
  about: Facts,
  id: string,
  { x, y }: geometry.Point,
  marks: ReadonlyArray<Edge>
) => {
  const workflow = map.workflows.get(id)
  const status = about.statusOf(id)
  const name = about.nameOf(id)
  const [trigger = ""] = workflow?.triggers ?? []
  const isOff = workflow?.isPublished !== true
  const words = [name, isOff ? "unpublished" : "published", about.statusText(id) ?? ""].filter(Boolean).join(", ")
  const names = wrap(name, 14, size.width - 46 - inset, 2)
  const glyph = trigger === ""
    ? { initials: "", hue: "plain" as const }
    : glyphOf(trigger, trigger.slice(trigger.lastIndexOf(".") + 1))
  return [
    `<g data-node="${xml(id)}" class="${
      [status === undefined ? "" : `s-${status}`, isOff ? "off" : ""].join(" ").trim()
    }" transform="translate(${n(x)} ${n(y)})" tabindex="0" role="button" aria-label="${xml(words)}">`,
    titled(words),
    `<rect class="box" width="${size.width}" height="${size.height}" rx="8"/>`,
    glyphAt({ glyph }, 24, size.height / 2, 0.95),
    ...names.map((line, index) => text(44, size.height / 2 + 5 - (names.length - 1) * 9 + index * 18, line, "m")),
    ...marks.map((edge, index) =>
      `<circle class="dot k-error" cx="${size.width - inset - index * 12}" cy="10" r="4">${
        titled(`error workflow: ${about.nameOf(edge.to)}`)
      }</circle>`
    ),
    about.usersOf(id) > fewUsers
      ? text(size.width / 2, size.height + 16, `error workflow of ${about.usersOf(id)}`, "mid small dim")
      : "",
    status === undefined ? "" : markAt(status, size.width - 2, size.height - 4),
    "</g>"
  ].join("")
}

const drawFrame = ({ edges, height, ids, width, x, y }: Frame, isAlone: boolean) =>
  `<rect class="frame" x="${n(x)}" y="${n(y)}" width="${n(width)}" height="${n(height)}" rx="12"/>` +
  text(
    x + 16,
    y + 19,
    ellipsis(
      isAlone
        ? `${counted(ids.length, "workflow")} without other links`
        : `${counted(ids.length, "workflow")}: ${[...new Set(edges.map(({ kind }) => kinds[kind].words))].join(", ")}`,
      12,
      width - 24
    ),
    "small dim"
  )

const drawEdge = (edge: Edge, from: geometry.Box, to: geometry.Box, about: Facts, lane: number) => {
  const isBroken = about.broken.has(keyOf(edge))
  const start = { x: from.x + from.width, y: from.y + from.height / 2 + lane }
  const end = { x: to.x - 9, y: to.y + to.height / 2 + lane }
  const path = geometry.path(start, end, "main")
  const classes = `k-${edge.kind}${isBroken ? " k-broken" : ""}${edge.state === undefined ? "" : " faint"}`
  const why = about.broken.get(keyOf(edge))?.why
  return {
    bounds: path.bounds,
    svg: `<path class="edge ${classes}" d="${path.d}">${
      titled(
        `${about.nameOf(edge.from)} → ${about.nameOf(edge.to)}: ${kinds[edge.kind].words}, ${
          about.show.line(edge.node)
        }${why === undefined ? "" : `: ${why}`}`
      )
    }</path><path class="tip ${classes}" d="M${n(end.x + 8)} ${n(end.y)}l-10 -6v12z"/>`
  }
}

const legend = (x: number, y: number) => {
  let at = x
  const next = (svg: (at: number) => string, words: string) => {
    const drawn = svg(at) + text(at + 44, y + 4, words, "small")
    at += 64 + textWidth(words, 12)
    return drawn
  }
  const line = (classes: string) => (at: number) => `<path class="edge ${classes}" d="M${n(at)} ${n(y)}h36"/>`
  const sign = (status: Status) => (at: number) => `<g class="s-${status}">${markAt(status, at + 26, y)}</g>`
  const svg = [
    ...Object.entries(kinds).map(([kind, { words }]) => next(line(`k-${kind}`), words)),
    next(line("k-broken"), "broken"),
    next((at) => `<circle class="dot k-error" cx="${n(at + 28)}" cy="${n(y)}" r="4"/>`, "has a common error workflow"),
    next(
      (at) => `<g class="off"><rect class="box" x="${n(at)}" y="${n(y - 9)}" width="36" height="18" rx="4"/></g>`,
      "unpublished"
    ),
    next(sign("error"), "has failing links"),
    next(sign("renamed"), "in a cycle"),
    next(sign("warning"), "unused, or inputs do not fit")
  ].join("")
  return { svg, width: at - x }
}

const [margin, header, legendHeight] = [40, 76, 34]

/** SVG of a map; `data-node` is a workflow's id. It loads nothing and contains no script. */
export const render = (
  map: WorkflowMap,
  { isBare = false, showsSecrets = false }: { readonly isBare?: boolean; readonly showsSecrets?: boolean } = {}
): string => {
  const about = facts(map, showsSecrets)
  const ids = [...drawnIds(map)]
  const edges = map.edges.filter((edge) => !about.isMark(edge))
  const marks = Map.groupBy(map.edges.filter(about.isMark), ({ from }) => from)
  const { frames, places } = layOut(ids, edges, new Set(ids.filter((id) => about.usersOf(id) > fewUsers)))
  const boxOf = (id: string): geometry.Box => ({ ...places.get(id) ?? { x: 0, y: 0 }, ...size })
  const linked = frames.filter((frame) => frame.edges.length > 0)
  const frameOf = new Map(linked.flatMap((frame) => frame.ids.map((id) => [id, frame] as const)))
  const lines = new Map(edges.map((edge) => {
    const frame = frameOf.get(edge.from)
    const key = JSON.stringify([
      frame?.ids[0] ?? edge.from,
      edge.to,
      edge.kind,
      about.broken.has(keyOf(edge)),
      edge.state
    ])
    return [key, { edge, from: frame ?? boxOf(edge.from) }]
  }))
  const between = new Map<string, number>()
  const drawn = [...lines.values()].map(({ edge, from }) => {
    const pair = `${from.x} ${from.y} ${edge.to}`
    const lane = between.get(pair) ?? 0
    between.set(pair, lane + 1)
    return drawEdge(edge, from, boxOf(edge.to), about, lane * 10)
  })
  const corners = [...ids.map(boxOf), ...frames, ...drawn.map(({ bounds }) => bounds)]
  const bounds = geometry.around([
    { x: 0, y: 0 },
    ...corners.flatMap(({ height, width, x, y }) => [{ x, y }, { x: x + width, y: y + height }])
  ])
  const { subtitle, title } = summary(map)
  const head = (isBare ? 0 : header) + legendHeight
  const [left, top] = [bounds.x - margin, bounds.y - margin - head]
  const key = legend(left + margin, top + head - 14)
  const width = Math.max(bounds.width, key.width, textWidth(subtitle, 16)) + 2 * margin
  const height = bounds.height + 2 * margin + head
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="wf" role="group" aria-label="${
      xml(`${title}: ${subtitle}`)
    }" width="${n(width)}" height="${n(height)}" viewBox="${n(left)} ${n(top)} ${n(width)} ${n(height)}">`,
    `<title>${xml(`${title}: ${subtitle}`)}</title><style>${style}</style>`,
    `<rect class="bg" x="${n(left)}" y="${n(top)}" width="${n(width)}" height="${n(height)}"/>`,
    ...isBare ? [] : [text(left + margin, top + 42, title, "title"), text(left + margin, top + 66, subtitle, "dim")],
    key.svg,
    ...frames.map((frame) => drawFrame(frame, frame.edges.length === 0)),
    ...drawn.map(({ svg }) => svg),
    ...ids.map((id) => drawWorkflow(map, about, id, places.get(id) ?? { x: 0, y: 0 }, marks.get(id) ?? [])),
    "</svg>"
  ].join("")
}
