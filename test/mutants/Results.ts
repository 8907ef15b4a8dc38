/** Results of a run with mutants: all of them, those that a test reached, and those that a test killed. */
import { existsSync, readFileSync } from "node:fs"

export const folder = process.env["N8N_MCP_MUTANTS"] ?? "coverage/mutants"

export const files = {
  all: `${folder}/all.txt`,
  reached: `${folder}/reached.txt`,
  /** `id`, a tab, and the test that killed it. */
  killed: `${folder}/killed.txt`,
  survivors: `${folder}/survivors.txt`,
  ranking: `${folder}/ranking.txt`
}

/** Beginnings of the modules below `src` that are changed. */
const chosen = (process.env["N8N_MCP_MUTANTS_IN"] ?? "base/ workflow/ executions/ catalogue/code/").split(" ")

export const isChosen = (file: string): boolean => chosen.some((start) => file.startsWith(start))

/** One of this number of mutants is tried. */
export const oneIn = Number(process.env["N8N_MCP_MUTANTS_ONE_IN"] ?? 6)

/** Whether each test tries all mutants that it reaches, also those that another killed. */
export const isMatrix = process.env["N8N_MCP_MUTANTS_MATRIX"] !== undefined

export const lines = (file: string): ReadonlyArray<string> =>
  existsSync(file) ? [...new Set(readFileSync(file, "utf8").split("\n"))].filter((line) => line !== "") : []

export const idOf = (line: string): string => line.split("\t")[0] ?? ""
