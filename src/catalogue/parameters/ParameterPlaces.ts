/** Where in a node's parameters the values stand that a type's properties describe. Pure. */
import { type Obj, obj, own, str } from "../../base/Json.ts"
import { type Description, groups, members, type Property } from "../types/NodeType.ts"

/** A value and the property that describes it; of several properties of one name each gives a place. */
export interface Place {
  /** Below `parameters`. */
  readonly path: ReadonlyArray<string | number>
  readonly property: Property
  readonly value: unknown
}

const below = (properties: ReadonlyArray<Property>, values: Obj, path: Place["path"]): ReadonlyArray<Place> =>
  properties.flatMap((property) => {
    if (!Object.hasOwn(values, property.name)) return []
    const value = values[property.name]
    const here = [...path, property.name]
    return [{ path: here, property, value }, ...inside(property, value, here)]
  })

/** One object, or a list of them. */
const each = (properties: ReadonlyArray<Property>, value: unknown, path: Place["path"]): ReadonlyArray<Place> =>
  Array.isArray(value)
    ? value.flatMap((element, index) => below(properties, obj(element) ?? {}, [...path, index]))
    : below(properties, obj(value) ?? {}, path)

const inside = (property: Property, value: unknown, path: Place["path"]): ReadonlyArray<Place> =>
  property.type === "fixedCollection"
    ? groups(property).flatMap(({ name, values }) => each(values, own(value, name), [...path, name]))
    : property.type === "collection"
    ? each(members(property), value, path)
    : []

/** Every value that the description has a property for. */
export const all = ({ properties }: Description, parameters: Obj): ReadonlyArray<Place> =>
  below(properties, parameters, [])

const extensions: Readonly<Record<string, string>> = {
  cssEditor: "css",
  htmlEditor: "html",
  jsEditor: "js",
  sqlEditor: "sql"
}

/** What files with the code of a parameter end in, by the editor that n8n opens for it; `undefined` for any other. */
export const codeExtension = ({ typeOptions }: Property): string | undefined => {
  const editor = str(typeOptions?.["editor"]) ?? ""
  if (editor === "codeNodeEditor") return typeOptions?.["editorLanguage"] === "python" ? "py" : "js"
  return Object.hasOwn(extensions, editor) ? extensions[editor] : undefined
}
