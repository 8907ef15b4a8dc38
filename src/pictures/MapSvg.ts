/** Renders a map of workflows as SVG, light and dark, and the details of its page. Pure. */
import { defined } from "../base/Json.ts"
import { counted } from "../base/Plural.ts"
import * as Rows from "../base/Rows.ts"
import { xml } from "../base/Xml.ts"
import type { Edge, WorkflowMap } from "../fleet/Map.ts"
import * as Arrangement from "../workflow/edit/Arrangement.ts"
import * as Graph from "../workflow/Graph.ts"
import * as details from "./details.ts"
import * as geometry from "./geometry.ts"
import { glyphOf } from "./glyphs.ts"
import type { Status } from "./Picture.ts"
import type { Shown } from "./PicturePage.ts"
import {
  arrow,
  ellipsis,
  glyphAt,
  legend,
  markAt,
  n,
  sheet,
  style as picturesStyle,
  text,
  titled,
  wrap
} from "./svgShapes.ts"

export const size = { width: 204, height: 56 }

/** Frame around workflows without callers that are linked to the same workflows in the same way. */
interface Frame extends geometry.Box {
  readonly ids: ReadonlyArray<string>
  /** Absent for workflows without links. */
  readonly edges: ReadonlyArray<Edge>
}

const [gap, padding, heading] = [12, 16, 28]
const gaps = { columns: 150, rows: 28, isCentred: true }
const leastInFrame = 3

/** Room for a link that leads back, below what it passes. */
const roomToReturn = 120

const frameOf = (ids: ReadonlyArray<string>, edges: ReadonlyArray<Edge>) => {
  const columns = Math.max(1, Math.round(Math.sqrt(ids.length * 0.7)))
  return {
    ids,
    edges,
    columns,
    width: 2 * padding + columns * (size.width + gap) - gap,
    height: heading + padding + Math.ceil(ids.length / columns) * (size.height + gap) - gap
  }
}

/** Places boxes in rows of about this width, the tallest first. */
const shelve = <A extends { readonly width: number; readonly height: number }>(all: ReadonlyArray<A>, most: number) => {
  let [x, y, tallest] = [0, 0, 0]
  return all.toSorted((a, b) => b.height - a.height).map((each) => {
    if (x > 0 && x + each.width > most) [x, y, tallest] = [0, y + tallest + 2 * gaps.rows, 0]
    const placed = { each, x, y }
    x += each.width + gaps.columns / 2
    tallest = Math.max(tallest, each.height)
    return placed
  })
}

/** Positions of workflows by id, and frames; those in `apart` are in no frame. */
export const layOut = (ids: ReadonlyArray<string>, edges: ReadonlyArray<Edge>, apart: ReadonlySet<string>) => {
  const graph = Graph.of(edges)
  const callersByLinks = Map.groupBy(
    ids.filter((id) => graph.into(id).length === 0 && !apart.has(id)),
    (id) => JSON.stringify(graph.out(id).map(({ kind, state, to }) => [to, kind, state ?? ""]).toSorted())
  )
  const framed = new Map(
    [...callersByLinks].flatMap(([key, [first = "", ...others]]) => {
      const edges = graph.out(first)
      return others.length + 1 >= leastInFrame || edges.length === 0
        ? [[key, frameOf([first, ...others], edges)] as const]
        : []
    })
  )
  const keyOf = new Map([...framed].flatMap(([key, { ids }]) => ids.map((id) => [id, key] as const)))
  const boxes = new Map<string, Pick<geometry.Box, "width" | "height">>([
    ...framed,
    ...ids.flatMap((id) => keyOf.has(id) ? [] : [[id, size] as const])
  ])
  const links = edges.map(({ from, to }) => ({ from: keyOf.get(from) ?? from, to }))
  const islands = Arrangement.islands([...boxes].map(([id, box]) => ({ id, ...box })), Graph.of(links), gaps).map(
    (island) => {
      const xOf = (key: string) => island.places.get(key)?.[0] ?? NaN
      const widthOf = (key: string) => boxes.get(key)?.width ?? 0
      // Only callers without callers are in frames: links to the right of a narrow box would cross them.
      const widest = Math.max(...[...island.places].map(([key, [x]]) => x === 0 ? widthOf(key) : 0))
      return {
        places: [...island.places].map(([key, [x, y]]) => [key, x === 0 ? widest - widthOf(key) : x, y] as const),
        width: island.width,
        height: island.height + (links.some(({ from, to }) => xOf(from) >= xOf(to)) ? roomToReturn : 0)
      }
    }
  )
  const area = islands.reduce(
    (sum, { height, width }) => sum + (width + gaps.columns / 2) * (height + 2 * gaps.rows),
    0
  )
  const most = Math.max(1_400, ...islands.map(({ width }) => width), Math.sqrt(area * 1.8))
  const corners = new Map(
    shelve(islands, most).flatMap(({ each: { places }, x, y }) =>
      places.map(([key, dx, dy]) => [key, { x: x + dx, y: y + dy }] as const)
    )
  )
  const frames = [...framed].map(([key, frame]) => ({ ...frame, ...corners.get(key) ?? { x: 0, y: 0 } }))
  const inFrames = frames.flatMap(({ columns, ids, x, y }) =>
    ids.map((id, index) =>
      [id, {
        x: x + padding + index % columns * (size.width + gap),
        y: y + heading + Math.floor(index / columns) * (size.height + gap)
      }] as const
    )
  )
  const alone = [...corners].filter(([key]) => !framed.has(key))
  return { places: new Map([...alone, ...inFrames]), frames: frames as ReadonlyArray<Frame> }
}

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
  ".wf .faint{stroke-width:1}.wf .frame{fill:none;stroke:var(--line);stroke-width:1.5}",
  ".wf .off>text{fill:var(--dim)}.wf .legend{fill:var(--box);stroke:var(--line)}.wf .m{font-size:14px}"
].join("")

/** Error workflows with more users are shown as a mark on each user. */
const fewUsers = 4

const keyOf = ({ from, kind, node, to }: Edge | WorkflowMap["broken"][number]) => JSON.stringify([from, kind, node, to])

const drawnIds = ({ edges, workflows }: WorkflowMap): ReadonlySet<string> =>
  new Set([
    ...[...workflows.values()].flatMap(({ id, isArchived }) => isArchived ? [] : [id]),
    ...edges.map(({ to }) => to)
  ])

const summary = ({ broken, contracts, cycles, edges, orphans, workflows }: WorkflowMap) => {
  const count = (kind: Edge["kind"]) => edges.filter((edge) => edge.kind === kind).length
  const current = [...workflows.values()].filter(({ isArchived }) => !isArchived).length
  const links: ReadonlyArray<readonly [number, string]> = [
    [count("calls"), counted(count("calls"), "call")],
    [count("tool"), counted(count("tool"), "tool")],
    [count("http"), counted(count("http"), "HTTP call")],
    [count("error"), `${count("error")} with an error workflow`],
    [broken.length, `${broken.length} broken`],
    [contracts.length, counted(contracts.length, "mismatch")],
    [orphans.length, `${orphans.length} unused`],
    [cycles.length, counted(cycles.length, "cycle")]
  ]
  const words = links.flatMap(([number, words]) => number === 0 ? [] : [words])
  return { title: counted(current, "workflow"), subtitle: words.join(" · ") || "no links between them" }
}

/** Names and faults of workflows, and links, in safe text. */
const wordsOf = (map: WorkflowMap, showsSecrets: boolean) => {
  const show = details.show(showsSecrets)
  const nameOf = (id: string) => show.line(map.workflows.get(id)?.name ?? `missing: ${id}`)
  const faults: ReadonlyArray<readonly [Status, string, ReadonlySet<string>]> = [
    ["error", "has links that fail", new Set(map.broken.map(({ from }) => from))],
    ["error", "does not exist", new Set(map.edges.flatMap(({ to }) => map.workflows.has(to) ? [] : [to]))],
    ["renamed", "calls itself, by others or directly", new Set(map.cycles.flat())],
    ["warning", "passes inputs that do not fit", new Set(map.contracts.map(({ from }) => from))],
    ["warning", "nothing calls it", new Set(map.orphans.map(({ id }) => id))]
  ]
  const broken = new Map(map.broken.map((each) => [keyOf(each), each.why]))
  return {
    line: show.line,
    nameOf,
    stateOf: (id: string) => {
      const own = faults.filter(([, , ids]) => ids.has(id))
      return { status: own[0]?.[0], statusText: own.map(([, words]) => words).join(", ") || undefined }
    },
    whyBroken: (edge: Edge) => broken.get(keyOf(edge)),
    link: (edge: Edge) => `${kinds[edge.kind].words}: ${show.line(edge.node)}`
  }
}

type Words = ReturnType<typeof wordsOf>

/** Line about workflows; `isCommon` if it also belongs to the overview. */
interface Line {
  readonly title: string
  readonly of: ReadonlyArray<string>
  readonly text: string
  readonly isCommon?: boolean
}

const linesOf = (map: WorkflowMap, { line, link, nameOf, whyBroken }: Words): ReadonlyArray<Line> => [
  ...map.broken.map(({ from, node, to, why }): Line => ({
    title: "Broken",
    of: [from],
    text: `${nameOf(from)}, ${line(node)} → ${map.workflows.has(to) ? nameOf(to) : line(to)}: ${why}`,
    isCommon: true
  })),
  ...map.orphans.map(({ id }) => ({
    title: "Sub-workflows that nothing calls",
    of: [],
    text: nameOf(id),
    isCommon: true
  })),
  ...map.cycles.map((ids) => ({ title: "Cycles", of: ids, text: ids.map(nameOf).join(" ⇄ "), isCommon: true })),
  ...map.edges.flatMap((edge): ReadonlyArray<Line> => {
    const why = whyBroken(edge)
    const about = `(${link(edge)}${edge.state === undefined ? "" : `, ${edge.state}`})${
      why === undefined ? "" : ` ✗ ${why}`
    }`
    return [
      { title: "Uses", of: [edge.from], text: `${nameOf(edge.to)} ${about}` },
      { title: "Used by", of: [edge.to], text: `${nameOf(edge.from)} ${about}` }
    ]
  }),
  ...[...map.workflows.values()].flatMap(({ id, inputs = new Map<string, string>() }) =>
    [...inputs].map(([name, type]) => ({ title: "Declared inputs", of: [id], text: line(`${name}: ${type}`) }))
  ),
  ...map.contracts.map(({ from, missing = [], node, to, unknown = [], wrongType = [] }) => ({
    title: "Inputs that do not fit",
    of: [from, to],
    text: line(
      `${nameOf(from)}, ${node}: ${
        [
          ...missing.map((each) => `missing ${each}`),
          ...unknown.map((each) => `unknown ${each}`),
          ...wrongType
        ].join(
          "; "
        )
      }`
    )
  })),
  ...map.unresolved.map(({ by, from, node }) => ({
    title: "Decided at run time",
    of: [from],
    text: line(`${node}: ${by}`)
  })),
  ...map.shared.map(({ kind, name, workflows }) => ({
    title: "Shared",
    of: workflows,
    text: `${kind} ${line(name)}: ${counted(workflows.length, "workflow")}`,
    isCommon: true
  }))
]

const sectionsOf = (lines: ReadonlyArray<Line>): ReadonlyArray<details.Section> =>
  Rows.grouped(lines, ({ title }) => title).map(({ first: { title }, rows }) => ({
    title,
    text: [...new Set(rows.map(({ text }) => text))].join("\n")
  }))

const publication = (workflow: ReturnType<WorkflowMap["workflows"]["get"]>) => {
  if (workflow === undefined) return "missing"
  if (workflow.isArchived) return "archived"
  return workflow.isPublished ? "published" : "unpublished"
}

/** Title, summary, and details of every workflow, for the page: those with a fault first. */
export const shown = (map: WorkflowMap, showsSecrets: boolean): Shown => {
  const words = wordsOf(map, showsSecrets)
  const lines = linesOf(map, words)
  const linesFor = Map.groupBy(lines.flatMap((line) => line.of.map((id) => ({ ...line, id }))), ({ id }) => id)
  const nodes = [...drawnIds(map)].map((id): Shown["nodes"][number] =>
    defined({
      id,
      name: words.nameOf(id),
      label: `${publication(map.workflows.get(id))} · ${id}`,
      ...words.stateOf(id),
      sections: sectionsOf(linesFor.get(id) ?? [])
    })
  )
  return {
    ...summary(map),
    sections: sectionsOf(lines.filter(({ isCommon }) => isCommon)),
    nodes: nodes.toSorted((a, b) =>
      Number(a.status === undefined) - Number(b.status === undefined) || a.name.localeCompare(b.name)
    )
  }
}

const inset = 14

const drawWorkflow = (
  map: WorkflowMap,
  { nameOf, stateOf }: Words,
  id: string,
  { place: { x, y }, marks, users }: {
    readonly place: geometry.Point
    readonly marks: ReadonlyArray<Edge>
    readonly users: number
  }
) => {
  const workflow = map.workflows.get(id)
  const { status, statusText } = stateOf(id)
  const name = nameOf(id)
  const [trigger] = workflow?.triggers ?? []
  const isOff = workflow?.isPublished !== true
  const about = [name, isOff ? "unpublished" : "published", ...statusText === undefined ? [] : [statusText]].join(", ")
  const names = wrap(name, 14, size.width - 46 - inset, 2)
  const classes = [...status === undefined ? [] : [`s-${status}`], ...isOff ? ["off"] : []].join(" ")
  return [
    `<g data-node="${xml(id)}" class="${classes}" transform="translate(${n(x)} ${
      n(y)
    })" tabindex="0" role="button" aria-label="${xml(about)}">`,
    titled(about),
    `<rect class="box" width="${size.width}" height="${size.height}" rx="8"/>`,
    trigger === undefined
      ? ""
      : glyphAt(glyphOf(trigger, trigger.slice(trigger.lastIndexOf(".") + 1)), 24, size.height / 2, 0.95),
    ...names.map((line, index) => text(44, size.height / 2 + 5 - (names.length - 1) * 9 + index * 18, line, "m")),
    ...marks.map((edge, index) =>
      `<circle class="dot k-error" cx="${size.width - inset - index * 12}" cy="10" r="4">${
        titled(`error workflow: ${nameOf(edge.to)}`)
      }</circle>`
    ),
    users > fewUsers ? text(size.width / 2, size.height + 16, `error workflow of ${users}`, "mid small dim") : "",
    status === undefined ? "" : markAt(status, size.width - 2, size.height - 4),
    "</g>"
  ].join("")
}

const drawFrame = ({ edges, height, ids, width, x, y }: Frame) => {
  const links = [...new Set(edges.map(({ kind }) => kinds[kind].words))].join(", ")
  const title = `${counted(ids.length, "workflow")}${links === "" ? " without other links" : `: ${links}`}`
  return `<rect class="frame" x="${n(x)}" y="${n(y)}" width="${n(width)}" height="${n(height)}" rx="12"/>` +
    text(x + 16, y + 19, ellipsis(title, 12, width - 24), "small dim")
}

const drawEdge = (edge: Edge, from: geometry.Box, to: geometry.Box, words: Words, lane: number) => {
  const why = words.whyBroken(edge)
  const start = { x: from.x + from.width, y: from.y + from.height / 2 + lane }
  const end = { x: to.x - 9, y: to.y + to.height / 2 + lane }
  const { bounds, d } = geometry.path(start, end, "main")
  const classes = ` k-${edge.kind}${why === undefined ? "" : " k-broken"}${edge.state === undefined ? "" : " faint"}`
  const title = `${words.nameOf(edge.from)} → ${words.nameOf(edge.to)}: ${words.link(edge)}`
  const svg = arrow(d, { x: end.x + 8, y: end.y }, classes, why === undefined ? title : `${title}: ${why}`)
  return { bounds, svg }
}

/** Legend of what is drawn. */
const legendOf = (body: string, most: number) => {
  const line = (classes: string) => (x: number, y: number) => `<path class="edge ${classes}" d="M${n(x)} ${n(y)}h36"/>`
  const sign = (status: Status) => (x: number, y: number) => `<g class="s-${status}">${markAt(status, x + 26, y)}</g>`
  const entries: ReadonlyArray<readonly [classes: string, ...Parameters<typeof legend>[0][number]]> = [
    ...Object.entries(kinds).map(([kind, { words }]) => [`edge k-${kind}`, line(`k-${kind}`), words] as const),
    ["k-broken", line("k-broken"), "broken"],
    [
      "dot k-error",
      (x, y) => `<circle class="dot k-error" cx="${n(x + 28)}" cy="${n(y)}" r="4"/>`,
      "has a common error workflow"
    ],
    [
      "off",
      (x, y) => `<g class="off"><rect class="box" x="${n(x)}" y="${n(y - 9)}" width="36" height="18" rx="4"/></g>`,
      "unpublished"
    ],
    ["s-error", sign("error"), "has failing links"],
    ["s-renamed", sign("renamed"), "in a cycle"],
    ["s-warning", sign("warning"), "unused, or inputs do not fit"]
  ]
  const classes = new Set([...body.matchAll(/ class="([^"]*)"/g)].map(([, names = ""]) => names))
  const has = (wanted: string) =>
    [...classes].some((names) => wanted.split(" ").every((name) => names.split(" ").includes(name)))
  return legend(entries.flatMap(([wanted, ...entry]) => has(wanted) ? [entry] : []), { room: 36, most })
}

/** SVG of a map; `data-node` is a workflow's id. It loads nothing and contains no script. */
export const render = (
  map: WorkflowMap,
  { isBare = false, showsSecrets = false }: { readonly isBare?: boolean; readonly showsSecrets?: boolean } = {}
): string => {
  const words = wordsOf(map, showsSecrets)
  const ids = [...drawnIds(map)]
  const users = Map.groupBy(map.edges.filter(({ kind }) => kind === "error"), ({ to }) => to)
  const usersOf = (id: string) => users.get(id)?.length ?? 0
  const isMark = ({ kind, to }: Edge) => kind === "error" && usersOf(to) > fewUsers
  const marks = Map.groupBy(map.edges.filter(isMark), ({ from }) => from)
  const edges = map.edges.filter((edge) => !isMark(edge))
  const { frames, places } = layOut(ids, edges, new Set(ids.filter((id) => usersOf(id) > fewUsers)))
  const placeOf = (id: string) => places.get(id) ?? { x: 0, y: 0 }
  const boxOf = (id: string): geometry.Box => ({ ...placeOf(id), ...size })
  const frameOf = new Map(frames.flatMap((frame) => frame.ids.map((id) => [id, frame] as const)))
  // Links of workflows with the same links are one line from their frame.
  const lines = new Map(edges.map((edge) => {
    const from = frameOf.get(edge.from) ?? boxOf(edge.from)
    return [JSON.stringify([from.x, from.y, edge.to, edge.kind, words.whyBroken(edge), edge.state]), { edge, from }]
  }))
  const drawn = [...Map.groupBy(lines.values(), ({ edge, from }) => `${from.x} ${from.y} ${edge.to}`).values()].flatMap(
    (lanes) => lanes.map(({ edge, from }, lane) => drawEdge(edge, from, boxOf(edge.to), words, lane * 10))
  )
  const all = geometry.around(
    [{ x: 0, y: 0, width: 0, height: 0 }, ...ids.map(boxOf), ...frames, ...drawn.map(({ bounds }) => bounds)]
      .flatMap(({ height, width, x, y }) => [{ x, y }, { x: x + width, y: y + height }])
  )
  const body = [
    ...frames.map(drawFrame),
    ...drawn.map(({ svg }) => svg),
    ...ids.map((id) =>
      drawWorkflow(map, words, id, { place: placeOf(id), marks: marks.get(id) ?? [], users: usersOf(id) })
    )
  ]
  const key = legendOf(body.join(""), Math.max(all.width, 320))
  const above = key.svg === "" ? 0 : key.height + 44
  return sheet({
    ...summary(map),
    style,
    isBare,
    bounds: { x: all.x, y: all.y - above, width: Math.max(all.width, key.width), height: all.height + above },
    body: [
      key.svg === "" ? "" : `<g class="key" transform="translate(${n(all.x)} ${n(all.y - above + 12)})">${key.svg}</g>`,
      ...body
    ]
  })
}
