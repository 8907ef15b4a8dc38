/** A picture as a page of one file: it can be moved, searched and asked, and asks the network for nothing. Pure. */
import { metaKey, type PictureMessage } from "./Message.ts"
import type { Node, Picture, Section, Status } from "./Picture.ts"
import * as Svg from "./Svg.ts"
import { xml } from "./text.ts"

/** What the page tells of a picture. */
export interface Shown {
  readonly title: string
  readonly subtitle: string
  readonly focus?: string
  readonly sections: ReadonlyArray<Section>
  readonly nodes: ReadonlyArray<{
    readonly id: string
    readonly name: string
    readonly label: string
    readonly status?: Status
    readonly statusText?: string
    readonly formerName?: string
    readonly sections: ReadonlyArray<Section>
  }>
}

/** Where the parts of a page go, in the file that the build makes. */
export const places = { title: "<!--title-->", picture: "<!--picture-->", data: "<!--data-->" } as const

const cut = (sections: ReadonlyArray<Section>, most: number): ReadonlyArray<Section> =>
  sections.map((section) =>
    section.text.length <= most
      ? section
      : { ...section, text: `${section.text.slice(0, most).toWellFormed()}…` }
  )

const toShown = (
  { focus, nodes, sections, subtitle, title }: Picture,
  most: number
): Shown => ({
  title,
  subtitle,
  ...(focus === undefined ? {} : { focus }),
  sections: cut(sections, most),
  nodes: nodes.map(({ formerName, id, label, name, sections, status, statusText }: Node) => ({
    id,
    name,
    label,
    ...(status === undefined ? {} : { status }),
    ...(statusText === undefined ? {} : { statusText }),
    ...(formerName === undefined ? {} : { formerName }),
    sections: cut(sections, most)
  }))
})

/** The most characters of what a page tells: with more, each part is shorter. */
const room = 2_000_000

/** What the page tells of a picture, within `maxChars`. */
export const shown = (picture: Picture, maxChars: number = room): Shown => {
  for (const most of [Infinity, 2_000, 600, 150]) {
    const all = toShown(picture, most)
    if (JSON.stringify(all).length <= maxChars) return all
  }
  return toShown(picture, 0)
}

/** JSON that cannot end the element that it stands in. */
const inScript = (value: unknown) =>
  JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (sign) => `\\u${(sign.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`
  )

const fill = (template: string, parts: { readonly [Place in keyof typeof places]: string }): string =>
  // In one pass: nothing of a part is taken for a place.
  template.replace(/<!--(title|picture|data)-->/g, (_, place: keyof typeof places) => parts[place])

/** The page of a picture whose nodes have places; `template` is `dist/picture.html`. */
export const html = (template: string, picture: Picture): string =>
  fill(template, {
    title: xml(picture.title),
    picture: Svg.render(picture, { isBare: true }),
    data: inScript(shown(picture))
  })

/** The page without a picture, which an MCP client hands one. */
export const app = (template: string): string => fill(template, { title: "n8n workflow", picture: "", data: "null" })

/** The most characters of details that a tool's answer carries. */
const messageRoom = 400_000

/** What a tool's answer carries for the page, in `_meta`. */
export const message = (picture: Picture): { readonly [metaKey]: PictureMessage } => ({
  [metaKey]: { svg: Svg.render(picture, { isBare: true }), shown: shown(picture, messageRoom) }
})
