/** Runs each test as usual, and then once more with each mutant that it reached and no test before it has killed. */
import { appendFileSync } from "node:fs"
import { type RunnerTestCase, TestRunner } from "vitest"
import * as Results from "./Results.ts"

declare global {
  var mutant: (id: string) => boolean
}

/** Time and steps that a test may take with a mutant, beyond a multiple of those without one. */
const patience = { millis: 1_000, steps: 200_000 }

/** A slower test is run once only. */
const maxMillis = 2_500

/** Maximum number of tests that try a mutant in vain. */
const maxTries = 60

const state = { active: "", steps: 0, limit: Number.POSITIVE_INFINITY, reached: new Set<string>() }

globalThis.mutant = (id) => {
  if (++state.steps > state.limit) throw new Error("A mutant runs without end")
  state.reached.add(id)
  return state.active === id
}

const tries = new Map<string, number>()

const quietly = async <A>(run: () => Promise<A>) => {
  const { log, error } = console
  const write = process.stdout.write
  Object.assign(console, { log: () => {}, error: () => {} })
  process.stdout.write = () => true
  try {
    return await run()
  } finally {
    process.stdout.write = write
    Object.assign(console, { log, error })
  }
}

/** Whether the test passes within a time and a number of steps. */
const passes = (run: () => Promise<unknown>, millis: number, steps: number, active = "") =>
  quietly(async () => {
    Object.assign(state, { active, steps: 0, limit: steps })
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), millis)
    })
    try {
      return await Promise.race([run().then(() => true, () => false), late])
    } catch {
      return false
    } finally {
      clearTimeout(timer)
      Object.assign(state, { active: "", limit: Number.POSITIVE_INFINITY })
    }
  })

export default class extends TestRunner {
  /** Whether a mutant changed what the file's tests share, so that nothing after it means anything. */
  private isSpoilt = false

  async runTask(test: RunnerTestCase) {
    const run = async () => void await TestRunner.getTestFn(test)()
    Object.assign(state, { steps: 0, reached: new Set<string>() })
    const start = performance.now()
    await run()
    const millis = performance.now() - start
    const { reached, steps } = state
    appendFileSync(Results.files.reached, [...reached].map((id) => `${id}\n`).join(""))
    if (this.isSpoilt || millis > maxMillis) return
    const time = 10 * millis + patience.millis
    const again = () => passes(run, time, Number.POSITIVE_INFINITY)
    const killed = Results.isMatrix ? new Set() : new Set(Results.lines(Results.files.killed).map(Results.idOf))
    const name = `${test.file.name} > ${test.fullTestName}`
    let isRepeatable: boolean | undefined
    for (const id of reached) {
      const tried = tries.get(id) ?? 0
      if (killed.has(id) || tried >= maxTries && !Results.isMatrix) continue
      tries.set(id, tried + 1)
      isRepeatable ??= await again()
      if (!isRepeatable) return
      if (await passes(run, time, 20 * steps + patience.steps, id)) continue
      appendFileSync(Results.files.killed, `${id}\t${name}\n`)
      this.isSpoilt = !await again()
      if (this.isSpoilt) return
    }
  }
}
