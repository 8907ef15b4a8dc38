/** Picture as a self-contained HTML page with pan, zoom, search and details, without network requests. Pure. */
import { defined } from "../base/Json.ts"
import { xml } from "../base/Xml.ts"
import { metaKey, type PictureMessage } from "./Message.ts"
import type { Node, Picture, Section } from "./Picture.ts"
import * as Svg from "./Svg.ts"

export interface Shown extends Pick<Picture, "title" | "subtitle" | "focus" | "sections"> {
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

const toShown = ({ focus, nodes, sections, subtitle, title }: Picture, most: number): Shown =>
  defined({
    title,
    subtitle,
    focus,
    sections: cut(sections, most),
    nodes: nodes.map(({ formerName, id, label, name, sections, status, statusText }) =>
      defined({ id, name, label, status, statusText, formerName, sections: cut(sections, most) })
    )
  })

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
