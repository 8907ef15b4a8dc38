/** The known node types that a wrong name may stand for. */
import { fold } from "../../base/Nearest.ts"

/** The types that exist, and a way to find the names nearest to one. */
export interface Known {
  readonly types: ReadonlyArray<string>
  readonly nearest: (name: string, names: Iterable<string>) => ReadonlyArray<string>
}

/** Such as `httpRequest` of `n8n-nodes-base.httpRequest`. */
export const shortName = (type: string) => type.slice(type.lastIndexOf(".") + 1)

/** Known types like an unknown one: of the same name but for package, case and separators; else the nearest by name. */
export const nearestTypes = (
  type: string,
  { nearest, types }: Known
): ReadonlyArray<string> => {
  const wanted = fold(shortName(type))
  const same = types.filter((each) => fold(shortName(each)) === wanted)
  if (same.length > 0) return same
  const byName = new Map(types.map((each) => [shortName(each), each]))
  return nearest(shortName(type), byName.keys()).flatMap((name) => byName.get(name) ?? [])
}
