/** Empties the folder of results; at the end, writes what survived and prints the counts. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import * as Results from "./Results.ts"

/** The tests, each with the number of mutants that none above it kills. */
const ranking = (kills: ReadonlyArray<string>): ReadonlyArray<string> => {
  const byTest = new Map(
    [...Map.groupBy(kills.map((line) => line.split("\t")), ([, test = ""]) => test)]
      .map(([test, all]) => [test, new Set(all.map(([id = ""]) => id))] as const)
  )
  const ranked: Array<string> = []
  while (byTest.size > 0) {
    const [test, ids] = [...byTest].reduce((a, b) => (b[1].size > a[1].size ? b : a))
    byTest.delete(test)
    for (const other of byTest.values()) for (const id of ids) other.delete(id)
    ranked.push(`${ids.size}\t${test}`)
  }
  return ranked
}

const write = (file: string, lines: ReadonlyArray<string>) =>
  writeFileSync(file, lines.map((line) => `${line}\n`).join(""))

export default () => {
  rmSync(Results.folder, { recursive: true, force: true })
  mkdirSync(Results.folder, { recursive: true })
  return () => {
    const kills = Results.lines(Results.files.killed)
    const killed = new Set(kills.map(Results.idOf))
    const survivors = Results.lines(Results.files.reached).filter((id) => !killed.has(id)).toSorted()
    write(Results.files.survivors, survivors)
    if (Results.isMatrix) write(Results.files.ranking, ranking(kills))
    process.stdout.write(
      `\n${Results.lines(Results.files.all).length} mutants: ${killed.size} killed, ` +
        `${survivors.length} survived (${Results.files.survivors}), the rest not reached within a test\n`
    )
  }
}
