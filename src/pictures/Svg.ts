/** Renders a picture as SVG in the style of n8n's editor, light and dark. Pure. */
import { counted } from "../base/Plural.ts"
import { xml } from "../base/Xml.ts"
import * as geometry from "./geometry.ts"
import * as labels from "./labels.ts"
import { statusWords } from "./overlays.ts"
import type { Link, Node, Note, Picture, Status } from "./Picture.ts"
import {
  arrow,
  boldness,
  ellipsis,
  glyphAt,
  legend,
  markAt,
  n,
  sheet,
  signs,
  style,
  text,
  textWidth,
  titled,
  wrap
} from "./svgShapes.ts"

interface NoteLine {
  readonly line: string
  readonly size: number
  readonly isHeading: boolean
  readonly y: number
}

const [textSize, padding] = [14, 14]
const headingSizes = [20, 18, 16]

/** Marks around emphasized text, without a width; text of a note has none of its own. */
const [begin, end] = ["\uE000", "\uE001"]

/** Text of a line of Markdown, without the marks of headings and links, and with marks of its own for emphasis. */
const plain = (line: string) =>
  line.replace(/[\uE000\uE001]/g, "").replace(/^#{1,6}\s+/, "").replace(/^(\s*)[-*+]\s+/, "$1• ")
    .replace(/\*\*|__|`/g, "").replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/(?<![\p{L}\p{N}_*])([_*])(?=\S)([^_*]*[^_*\s])\1(?![\p{L}\p{N}_*])/gu, `${begin}$2${end}`).trimEnd()

/** Line as SVG, with its emphasized parts in italics; `goesOn` if it begins within one. */
const emphasized = (line: string, goesOn: boolean) =>
  `${goesOn ? begin : ""}${line}`.split(begin).map((part, index) => {
    const [inner = "", after] = index === 0 ? ["", part] : part.split(end)
    return (inner === "" ? "" : `<tspan font-style="italic">${xml(inner)}</tspan>`) + xml(after ?? "")
  }).join("")

/** Lines as SVG; emphasis that a line break divides goes on. */
const allEmphasized = (lines: ReadonlyArray<string>): ReadonlyArray<string> => {
  let goesOn = false
  return lines.map((line) => {
    const svg = emphasized(line, goesOn)
    goesOn = line.includes(begin) || line.includes(end) ? line.lastIndexOf(begin) > line.lastIndexOf(end) : goesOn
    return svg
  })
}

/** Lines that fit into a note. As in Markdown, any number of blank lines is one small gap. */
const noteLinesOf = (
  { height, text, width }: Note
): { readonly lines: ReadonlyArray<NoteLine>; readonly isCut: boolean } => {
  const lines: Array<NoteLine> = []
  const room = width - 2 * padding
  let [y, gap] = [10, 0]
  for (const raw of text.split(/\r?\n/)) {
    const level = /^#{1,6}(?=\s)/.exec(raw)?.[0].length
    const size = level === undefined ? textSize : headingSizes[level - 1] ?? textSize
    const measured = level === undefined ? size : size * boldness
    const wrapped = wrap(plain(raw), measured, room, 1 + Math.ceil(height / size))
    if (wrapped.length === 0) gap = lines.length === 0 ? 0 : 8
    for (const line of wrapped) {
      y += gap + Math.round(size * 1.3)
      gap = 0
      const last = lines.at(-1)
      if (last !== undefined && y > height - 6) {
        const shortened = ellipsis(`${last.line} …`, last.isHeading ? last.size * boldness : last.size, room)
        return { lines: [...lines.slice(0, -1), { ...last, line: shortened }], isCut: true }
      }
      lines.push({ line, size, isHeading: level !== undefined, y })
    }
  }
  return { lines, isCut: false }
}

/** Note with the text that fits; the pointer shows all of a longer one. */
const drawNote = (note: Note): string => {
  const { isCut, lines } = noteLinesOf(note)
  const texts = allEmphasized(lines.map(({ line }) => line))
  return [
    `<g>${isCut ? titled(note.text) : ""}<rect class="note${note.colour}" x="${n(note.x)}" y="${n(note.y)}" width="${
      n(note.width)
    }" height="${n(note.height)}" rx="6"/>`,
    ...lines.map(({ isHeading, size, y }, index) =>
      `<text x="${n(note.x + padding)}" y="${n(note.y + y)}" font-size="${size}"${
        isHeading ? ` font-weight="600"` : ""
      }>${texts[index]}</text>`
    ),
    "</g>"
  ].join("")
}

export { xml } from "../base/Xml.ts"
export { style, variables } from "./svgShapes.ts"

interface Placed {
  readonly node: Node
  readonly box: geometry.Box
  readonly room: number
  readonly lines: ReadonlyArray<Line>
}

interface Line extends labels.Line {
  readonly classes: string
}

const [nameSize, smallSize, countSize, lineHeight] = [16, 12, 13, 18]
const belowPorts = 58

/** Available width for the text under each node, by the distance to its neighbours. */
const roomsOf = (boxes: ReadonlyArray<geometry.Box>) => (box: geometry.Box): number => {
  const middle = box.x + box.width / 2
  const nearest = boxes.reduce((least, other) => {
    const distance = Math.abs(other.x + other.width / 2 - middle)
    return other !== box && Math.abs(other.y + other.height - box.y - box.height) < 100 && distance > 0
      ? Math.min(least, distance)
      : least
  }, 208)
  return Math.max(box.width, nearest - 8)
}

const corners = { sharp: 8, round: 36 }

const outline = ({ kind }: Node, { height, width }: geometry.Box): string => {
  if (kind === "sub") {
    const r = height / 2
    return `<rect class="box" width="${n(width)}" height="${n(height)}" rx="${r}"/>`
  }
  const [left, right] = [kind === "trigger" ? corners.round : corners.sharp, corners.sharp]
  return `<path class="box" d="M${left} 0H${width - right}a${right} ${right} 0 0 1 ${right} ${right}V${
    height - right
  }a${right} ${right} 0 0 1 -${right} ${right}H${left}a${left} ${left} 0 0 1 -${left} -${left}V${left}a${left} ${left} 0 0 1 ${left} -${left}z"/>`
}

const pin = "M-4 -7h8l-1 2 0 3 3 3H1V8L0 9-1 8V1H-6L-3 -2V-5z"

const isParent = ({ inputs }: Node): boolean => inputs.some(({ type }) => type !== "main")

/** Text under a node, or the name beside the icon of a node with nodes below it. */
const linesOf = (node: Node, { height, width }: geometry.Box, room: number): ReadonlyArray<Line> => {
  const isWide = isParent(node)
  const [left, right] = isWide
    ? [66, width - (node.kind === "sub" ? 26 : 14)]
    : [width / 2 - room / 2, width / 2 + room / 2]
  const names = wrap(node.name, nameSize, right - left, isWide ? 3 : 2)
  const notes: ReadonlyArray<readonly [string, string]> = [
    ...(node.formerName === undefined ? [] : [[ellipsis(`was: ${node.formerName}`, smallSize, room), "dim"] as const]),
    ...(node.isDisabled ? [["(Deactivated)", "dim"] as const] : []),
    ...(node.figures === undefined
      ? []
      : [[ellipsis(node.figures, smallSize, Math.max(room, 96)), "figures"] as const]),
    ...(node.figures !== undefined || node.subtitle === undefined
      ? []
      : [[ellipsis(node.subtitle, smallSize, room), "dim"] as const])
  ]
  // A line fits under the name in the box, where it does not cover links.
  const isInside = isWide && names.length < 3 && notes.length === 1 &&
    textWidth(notes[0]?.[0] ?? "", smallSize) <= right - left - 12
  const nameY = isWide
    ? height / 2 + (isInside ? -2 : 6) - (names.length - 1) * lineHeight / 2
    : height + 24
  const notesY = isWide && !isInside ? height + belowPorts : nameY + names.length * lineHeight - 2
  return [
    ...names.map((line, index) => ({
      x: (left + right) / 2,
      y: nameY + index * lineHeight,
      line,
      size: nameSize,
      classes: "name"
    })),
    ...notes.map(([line, classes], index) => ({
      x: isInside ? (left + right) / 2 : width / 2,
      y: notesY + index * 15,
      line,
      size: smallSize,
      classes: `small${isInside ? "" : " halo"} ${classes}`
    }))
  ]
}

const portShape = ({ x, y }: geometry.Point, type: string) =>
  type === "main"
    ? `<circle class="port" cx="${n(x)}" cy="${n(y)}" r="7"/>`
    : `<path class="port" d="M${n(x)} ${n(y - 8)}l8 8-8 8-8-8z"/>`

const ports = ({ box, node }: Placed): string => {
  const local = { ...box, x: 0, y: 0 }
  return [
    ...node.inputs.map((port) => portShape(geometry.inputAt(node, local, port), port.type)),
    ...node.outputs.map((port) => portShape(geometry.outputAt(node, local, port), port.type))
  ].join("")
}

const description = (node: Node): string =>
  [
    node.name,
    node.label,
    ...(node.formerName === undefined ? [] : [`formerly ${node.formerName}`]),
    ...(node.statusText === undefined ? [] : [node.statusText]),
    ...(node.isDisabled ? ["deactivated"] : []),
    ...(node.isPinned ? ["pinned data"] : []),
    ...(node.isSubWorkflow ? ["runs a workflow"] : [])
  ].join(", ")

const drawNode = (placed: Placed, portLabels: string): string => {
  const { box: { height, width, x, y }, node } = placed
  const classes = [
    node.status === undefined ? "" : node.status === "idle" ? "idle" : `s-${node.status}`,
    node.isDisabled ? "off" : ""
  ].filter(Boolean)
  const onCircle = node.kind === "sub" && width === height
  const markPlace = onCircle ? [width - 10, height - 12] as const : [width - 16, height - 16] as const
  return [
    `<g data-node="${node.id}"${classes.length === 0 ? "" : ` class="${classes.join(" ")}"`} transform="translate(${
      n(x)
    } ${n(y)})" tabindex="0" role="button" aria-label="${xml(description(node))}">`,
    titled(description(node)),
    outline(node, placed.box),
    node.kind === "trigger"
      ? `<path class="bolt" transform="translate(-30 ${n(height / 2 - 9)})" d="M7 0L0 11h5l-2 8 9-12H7z"/>`
      : "",
    glyphAt(
      node.glyph,
      isParent(node) ? 40 : width / 2,
      height / 2,
      onCircle ? 1.4 : 1.7
    ),
    node.isSubWorkflow
      ? `<path class="glyph h-plain" transform="translate(${n(width - 20)} 8) scale(.55)" d="M6 18L18 6M9 6h9v9"/>`
      : "",
    node.isPinned ? `<path class="pin" transform="translate(14 ${n(height - 14)})" d="${pin}"/>` : "",
    node.isDisabled ? `<path class="strike" d="M-4 ${n(height / 2)}H${n(width + 4)}"/>` : "",
    node.status === undefined ? "" : markAt(node.status, ...markPlace),
    ports(placed),
    portLabels,
    ...placed.lines.map(({ classes, line, x, y }) => text(x, y, line, `mid ${classes}`)),
    "</g>"
  ].join("")
}

const drawGhost = ({ box, node }: Placed): string => {
  if (node.formerPlace === undefined) return ""
  const { x, y } = node.formerPlace
  const [fromX, fromY] = [x + box.width / 2, y + box.height / 2]
  const [toX, toY] = [box.x + box.width / 2, box.y + box.height / 2]
  return `<g class="was">${titled(`${node.name}: its former position`)}<rect class="ghost" x="${n(x)}" y="${
    n(y)
  }" width="${n(box.width)}" height="${n(box.height)}" rx="8"/><path class="ghost" d="M${n(fromX)} ${n(fromY)}L${
    n(toX)
  } ${n(toY)}"/></g>`
}

interface Drawn {
  readonly link: Link
  readonly path: geometry.Path
  readonly end: geometry.Point
}

const drawLink = ({ end: { x, y }, link, path: { d } }: Drawn): string => {
  const status = link.status === undefined || link.status === "idle" ? "" : ` ${link.status}`
  return link.output.type === "main"
    ? arrow(d, { x: x - 7, y }, status)
    : `<path class="edge${status} dash" d="${d}"/>`
}

const countOf = ({ link: { items, output }, path: { label } }: Drawn): ReadonlyArray<labels.Line> =>
  items === undefined || output.type !== "main"
    ? []
    : [{ x: label.x, y: label.y - 6, line: counted(items, "item"), size: countSize }]

const linkPath = (places: ReadonlyMap<string, Placed>, obstacles: ReadonlyArray<geometry.Box>) =>
(
  link: Link
): ReadonlyArray<Drawn> => {
  const [from, to] = [places.get(link.from), places.get(link.to)]
  if (from === undefined || to === undefined) return []
  const end = geometry.inputAt(to.node, to.box, link.input)
  const start = geometry.outputAt(from.node, from.box, link.output)
  return [{ link, end, path: geometry.path(start, end, link.output.type, obstacles) }]
}

const legendOf = (picture: Picture) =>
  legend(
    (Object.keys(signs) as ReadonlyArray<Status>).filter((status) =>
      picture.nodes.some((node) => node.status === status)
    ).map((status) => [
      (x, y) => `<g class="s-${status}">${markAt(status, x + 10, y)}</g>`,
      picture.overlay === "Problems" && status === "error" ? "error" : statusWords[status] ?? status
    ]),
    { room: 18 }
  )

/** Maximum number of nodes beside which links lead back: each of them is compared with each link. */
const mostAvoided = 300

/** Options of the drawing. */
export interface Options {
  /** Whether to omit the title and legend, for pages that show them beside the picture. */
  readonly isBare?: boolean
}

/** SVG of a placed picture (`Layout.place`), without scripts; nodes are focusable, `data-node` is their key. */
export const render = (picture: Picture, { isBare = false }: Options = {}): string => {
  const bare = picture.nodes.map((node) => ({ node, box: { ...node.place ?? { x: 0, y: 0 }, ...geometry.size(node) } }))
  const roomOf = roomsOf(bare.map(({ box }) => box))
  const placed = bare.map(({ box, node }): Placed => {
    const room = roomOf(box)
    return { node, box, room, lines: linesOf(node, box, room) }
  })
  const places = new Map(placed.map((each) => [each.node.id, each]))
  const texts = placed.flatMap(({ box, lines }) =>
    lines.map((line) => labels.boxAround({ ...line, x: box.x + line.x, y: box.y + line.y }))
  )
  const obstacles = placed.length > mostAvoided ? [] : [...texts, ...placed.map(({ box }) => box)]
  const drawn = picture.links.flatMap(linkPath(places, obstacles))
  const counts = drawn.flatMap(countOf)
  const portLabels = labels.portLabels(placed, [...counts.map(labels.boxAround), ...texts])
  const bounds = geometry.around([
    ...placed.flatMap(({ box, node, room }) => {
      const aside = Math.max(0, (room - box.width) / 2)
      return [{ x: box.x - Math.max(aside, 30), y: box.y - (node.kind === "sub" ? 24 : 0) }, {
        x: box.x + box.width + aside,
        y: box.y + box.height + (isParent(node) ? 84 : 60)
      }]
    }),
    ...placed.flatMap(({ box, node: { formerPlace: at } }) =>
      at === undefined ? [] : [at, { x: at.x + box.width, y: at.y + box.height }]
    ),
    ...picture.notes.flatMap(({ height, width, x, y }) => [{ x, y }, { x: x + width, y: y + height }]),
    ...drawn.flatMap(({ path: { bounds: { height, width, x, y } } }) => [{ x, y }, { x: x + width, y: y + height }]),
    ...(placed.length + picture.notes.length === 0 ? [{ x: 0, y: 0 }, { x: 320, y: 96 }] : [])
  ])
  return sheet({
    ...picture,
    style,
    bounds,
    isBare,
    key: legendOf(picture),
    body: [
      ...picture.notes.map(drawNote),
      ...placed.map(drawGhost),
      ...drawn.map(drawLink),
      ...placed.map((each) => drawNode(each, portLabels.get(each.node.id) ?? "")),
      ...counts.map(({ line, x, y }) => text(x, y, line, "mid halo count")),
      picture.nodes.length === 0 ? text(bounds.x + 160, bounds.y + 56, "This workflow has no nodes", "mid dim") : ""
    ]
  })
}
