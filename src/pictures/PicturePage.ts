/** Picture as a self-contained HTML page with pan, zoom, search and details, without network requests. Pure. */
import * as Effect from "effect/Effect"
import { readFile } from "node:fs/promises"
import * as Assets from "../base/Assets.ts"
import * as Errors from "../base/Errors.ts"
import { defined } from "../base/Json.ts"
import { xml } from "../base/Xml.ts"
import { metaKey, type PictureMessage } from "./Message.ts"
import type { Node, Picture, Section } from "./Picture.ts"
import * as Svg from "./Svg.ts"

export interface Shown extends Pick<Picture, "title" | "subtitle" | "focus" | "sections"> {
  /** Ids of the nodes that the page shows closely when it opens. */
  readonly near?: ReadonlyArray<string>
  readonly nodes: ReadonlyArray<
    Pick<Node, "id" | "name" | "label" | "status" | "statusText" | "formerName" | "sections">
  >
}

/** Placeholders in the built template. */
export const places = { title: "<!--title-->", picture: "<!--picture-->", data: "<!--data-->" } as const

const cut = (sections: ReadonlyArray<Section>, most: number): ReadonlyArray<Section> =>
  sections.map((section) =>
    section.text.length <= most
      ? section
      : { ...section, text: `${section.text.slice(0, most).toWellFormed()}…` }
  )

/** Statuses that open the list of nodes, in this order; an execution is listed as it ran. */
const first: ReadonlyArray<Node["status"]> = [
  "error",
  "added",
  "removed",
  "changed",
  "renamed",
  "warning",
  "incomplete"
]

const rank = ({ formerPlace, status }: Node) => {
  const at = first.indexOf(status)
  return at >= 0 ? at : formerPlace === undefined ? first.length + 1 : first.length
}

const toShown = ({ focus, links, nodes, overlay, sections, subtitle, title }: Picture, most: number): Shown => {
  const ordered = overlay === "Execution" ? nodes : nodes.toSorted((a, b) => rank(a) - rank(b))
  const changed = overlay === "Difference" ? ordered.filter((node) => rank(node) < first.length) : []
  const near = changed.length > 0
    ? changed.map(({ id }) => id)
    : links.flatMap(({ from, status, to }) => status === "added" || status === "removed" ? [from, to] : [])
  return defined({
    title,
    subtitle,
    focus: focus ?? changed[0]?.id,
    near: near.length === 0 ? undefined : near,
    sections: cut(sections, most),
    nodes: ordered.map(({ formerName, id, label, name, sections, status, statusText }) =>
      defined({ id, name, label, status, statusText, formerName, sections: cut(sections, most) })
    )
  })
}

const room = 2_000_000

export const shown = (picture: Picture, maxChars: number = room): Shown => {
  for (const most of [Infinity, 2_000, 600, 150]) {
    const all = toShown(picture, most)
    if (JSON.stringify(all).length <= maxChars) return all
  }
  return toShown(picture, 0)
}

/** JSON that cannot close the surrounding script element. */
const inScript = (value: unknown) =>
  JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (sign) => `\\u${(sign.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`
  )

const fill = (template: string, parts: { readonly [Place in keyof typeof places]: string }): string =>
  // In one pass, so that a placeholder within a part stays as it is.
  template.replace(/<!--(title|picture|data)-->/g, (_, place: keyof typeof places) => parts[place])

/** Page of a drawing and its details; `template` is `dist/picture.html`. */
export const of = (template: string, svg: string, details: Shown): string =>
  fill(template, { title: xml(details.title), picture: svg, data: inScript(details) })

export const html = (template: string, picture: Picture): string =>
  of(template, Svg.render(picture, { isBare: true }), shown(picture))

/** Page without a picture, for MCP clients that pass one. */
export const app = (template: string): string => fill(template, { title: "n8n workflow", picture: "", data: "null" })

const messageRoom = 400_000

export const message = (picture: Picture): { readonly [metaKey]: PictureMessage } => ({
  [metaKey]: { svg: Svg.render(picture, { isBare: true }), shown: shown(picture, messageRoom) }
})

const files = () => Assets.places("picture.html")

/** Reads the template; fails if it has not been built. */
export const template: Effect.Effect<string, Errors.ValidationError> = Effect.tryPromise({
  try: () => {
    const [first, second = first] = files()
    return readFile(first, "utf8").catch(() => readFile(second, "utf8"))
  },
  catch: () =>
    new Errors.ValidationError({
      reason: `The page of pictures is missing: ${files()[0]}`,
      hint: "Install the package again, or build it: pnpm build.",
      isServerFault: true
    })
})
