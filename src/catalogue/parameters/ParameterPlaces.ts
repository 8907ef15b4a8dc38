/** Places of the values in a node's parameters that a type's properties describe. Pure. */
import { type Obj, obj, own, str } from "../../base/Json.ts"
import { type Description, groups, members, type Property } from "../types/NodeType.ts"

/** Value and its property; several properties with the same name give several places. */
export interface Place {
  /** Path below `parameters`. */
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

/** Objects of a value that is one object or a list. */
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

export const all = ({ properties }: Description, parameters: Obj): ReadonlyArray<Place> =>
  below(properties, parameters, [])

const extensions: Readonly<Record<string, string>> = {
  cssEditor: "css",
  htmlEditor: "html",
  jsEditor: "js",
  sqlEditor: "sql"
}

/** File extension for the code of a parameter, by its editor in n8n; `undefined` for other parameters. */
export const codeExtension = ({ typeOptions }: Property): string | undefined => {
  const editor = str(typeOptions?.["editor"]) ?? ""
  if (editor === "codeNodeEditor") return typeOptions?.["editorLanguage"] === "python" ? "py" : "js"
  return Object.hasOwn(extensions, editor) ? extensions[editor] : undefined
}
