/** Order of test files by parts of their paths, instead of their sizes. */
import { BaseSequencer, type TestSequencerConstructor, type TestSpecification } from "vitest/node"

/** Runs first the files whose path has the first of these parts, and last those that have none. */
export const inOrder = (parts: ReadonlyArray<string>): TestSequencerConstructor => {
  const rankOf = ({ moduleId }: TestSpecification) => {
    const at = parts.findIndex((part) => moduleId.includes(part))
    return at < 0 ? parts.length : at
  }
  return class extends BaseSequencer {
    override async sort(files: Array<TestSpecification>) {
      return files.toSorted((a, b) => rankOf(a) - rankOf(b) || a.moduleId.localeCompare(b.moduleId))
    }
  }
}
