/** Names of new files. */
import reservedNames from "./reservedNames.json" with { type: "json" }

const maxLength = 60

/** Names, without `.json`, of files that configure other programs. */
const reserved: ReadonlySet<string> = new Set(reservedNames.flatMap((line) => line.split(" ")))

/** Names by rule: `tsconfig`, `tsconfig.build`, `tailwind.config`, `tauri.conf`, `oxlintrc`; not `sync-config`, `arc`. */
const reservedLike =
  /[a-z]config(?:\.|$)|\.(?:config|conf|settings|lock)$|[a-z]{4,}rc$|^(?:appsettings|deno|docker-compose)\./

export const isReserved = (name: string): boolean => {
  const stem = name.normalize("NFKC").toLowerCase().replace(/\.json$/, "")
  return reserved.has(stem) || reservedLike.test(stem)
}

/** Whether Windows reserves this name for a device, whatever follows after a dot. */
const isDevice = (stem: string) => /^(?:con|prn|aux|nul|com\d|lpt\d)$/.test(stem)

/** Readable part of a workflow's name for a file: letters and digits of any script, else `-`. */
export const readable = (name: string): string => {
  const words = name.normalize("NFC").toLowerCase().replace(/\p{Variation_Selector}/gu, "")
    .replace(/[^\p{L}\p{M}\p{Nd}]+|(?<![\p{L}\p{M}])\p{M}+/gu, "-")
  return [...words.replace(/^-+/, "")].slice(0, maxLength).join("").replace(/-+$/, "") || "workflow"
}

const folded = (name: string) => name.normalize().toLowerCase()

const unused = function*(stem: string, used: ReadonlySet<string>): Generator<string> {
  for (let count = 1; count <= 100_000; count++) {
    const ending = count === 1 ? "" : `-${count}`
    const candidate = [...stem].slice(0, maxLength - ending.length).join("").replace(/-+$/, "") + ending
    const isFree = !used.has(`${candidate}.json`) && !isReserved(candidate) && !isDevice(candidate)
    if (isFree) yield candidate
  }
}

/** Names of a workflow's file without `.json`, the most readable first; those in `taken` are left out. */
export const free = (name: string, taken: ReadonlySet<string>): Generator<string> =>
  unused(readable(name), new Set([...taken].map(folded)))

/** Makes a function that names files, each differently, in a time that does not depend on their number. */
export const namer = (taken: ReadonlyArray<string>): (name: string) => string => {
  const used = new Set(taken.map(folded))
  const series = new Map<string, Generator<string>>()
  return (name) => {
    const stem = readable(name)
    const names = series.get(stem) ?? unused(stem, used)
    series.set(stem, names)
    const file = `${names.next().value ?? "workflow"}.json`
    used.add(folded(file))
    return file
  }
}
