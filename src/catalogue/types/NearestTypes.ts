/** Known node types that a misspelled name may mean. */
import { fold } from "../../base/Nearest.ts"

/** Existing types, and a search for the names nearest to another. */
export interface Known {
  readonly types: ReadonlyArray<string>
  readonly nearest: (name: string, names: Iterable<string>) => ReadonlyArray<string>
}

/** Name without the package: `httpRequest` of `n8n-nodes-base.httpRequest`. */
export const shortName = (type: string) => type.slice(type.lastIndexOf(".") + 1)

/** Known types with the same name apart from package, case and separators; otherwise the nearest by name. */
export const nearestTypes = (
  type: string,
  { nearest, types }: Known
): ReadonlyArray<string> => {
  const folded = fold(shortName(type))
  const same = types.filter((each) => fold(shortName(each)) === folded)
  if (same.length > 0) return same
  const byName = new Map(types.map((each) => [shortName(each), each]))
  return nearest(shortName(type), byName.keys()).flatMap((name) => byName.get(name) ?? [])
}
