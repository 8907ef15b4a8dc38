/** Known node types that a misspelled name may mean. */
import { fold } from "../../base/Nearest.ts"

/** Existing types, and a search for the names nearest to another. */
export interface Known {
  readonly types: ReadonlyArray<string>
  readonly nearest: (name: string, names: Iterable<string>) => ReadonlyArray<string>
}

/** Name without the package: `httpRequest` of `n8n-nodes-base.httpRequest`. */
export const shortName = (type: string) => type.slice(type.lastIndexOf(".") + 1)

/** Known types with the same name apart from package, case and separators. */
const namesakes = (type: string, types: ReadonlyArray<string>) => {
  const folded = fold(shortName(type))
  return types.filter((each) => fold(shortName(each)) === folded)
}

/** Type with its package: for a name without one (`webhook`, `HTTP Request`) the only known type of that name. */
export const withPackage = (type: string, types: ReadonlyArray<string>): string => {
  const [only, other] = type.includes(".") ? [] : namesakes(type, types)
  return other === undefined ? only ?? type : type
}

/** Known types with the same name in another package or spelling; otherwise the nearest by name. */
export const nearestTypes = (
  type: string,
  { nearest, types }: Known
): ReadonlyArray<string> => {
  const same = namesakes(type, types)
  if (same.length > 0) return same
  const byName = new Map(types.map((each) => [shortName(each), each]))
  return nearest(shortName(type), byName.keys()).flatMap((name) => byName.get(name) ?? [])
}
