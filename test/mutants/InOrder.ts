/** Order of the test files in a run with mutants: first those of single modules, which kill the most in the least time. */
import { BaseSequencer, type TestSpecification } from "vitest/node"

const rooms = ["base", "workflow", "catalogue", "executions", "workflows", "answer", "fleet", "sync", "trials"]

const rankOf = ({ moduleId }: TestSpecification) => {
  const at = rooms.findIndex((room) => moduleId.includes(`/test/${room}/`))
  return at < 0 ? rooms.length : at
}

export class InOrder extends BaseSequencer {
  override async sort(files: Array<TestSpecification>) {
    return files.toSorted((a, b) => rankOf(a) - rankOf(b) || a.moduleId.localeCompare(b.moduleId))
  }
}
