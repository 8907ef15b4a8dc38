import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"

const folder = new URL("../../.github/workflows/", import.meta.url)
const files = readdirSync(folder).map((name) => ({ name, text: readFileSync(new URL(name, folder), "utf8") }))

/** The jobs of a workflow file, by name: what stands under each. */
const jobsOf = (text: string) => {
  const [, jobs = ""] = text.split(/^jobs:$/m)
  return new Map(
    jobs.split(/^ {2}(?=\w[\w-]*:$)/m).slice(1).map((job) => [job.slice(0, job.indexOf(":")), job] as const)
  )
}

describe("the workflows of the repository", () => {
  it.each(files)("use actions by commit, for a tag can be moved: $name", ({ text }) => {
    for (const [, action = ""] of text.matchAll(/uses: (\S+)/g)) {
      if (!action.startsWith("./")) assert.match(action, /^[\w-]+\/[\w-]+@[\da-f]{40}$/)
    }
  })

  it.each(files)("give no job rights that runs the code of packages: $name", ({ text }) => {
    const privileged = [...jobsOf(text)].filter(([, job]) => /: write/.test(job))
    for (const [name, job] of privileged) {
      assert.notMatch(job, /checkout|pnpm|\.ci\/run|npm (?:ci|install)/, name)
      assert.notMatch(job, /npm publish(?!.*--ignore-scripts)/, name)
    }
    assert.notMatch(text.slice(0, text.indexOf("jobs:")), /: write/)
  })

  it("publish what another job has built", () => {
    const { text = "" } = files.find(({ name }) => name === "release.yml") ?? {}
    assert.deepStrictEqual([...jobsOf(text).keys()], ["check", "build", "publish", "register"])
    assert.include(jobsOf(text).get("publish"), "download-artifact")
  })
})
