/** Answers about batches. */
import { arr, obj } from "../../src/base/Json.ts"

/** Ids of the workflows that an answer about a batch names as left out. */
export const leftOut = (refused: unknown): ReadonlyArray<string> =>
  arr(refused).flatMap((each) =>
    arr(obj(each)?.["workflows"]).map((text) => /\(([^()]*)\)$/.exec(String(text))?.[1] ?? String(text))
  )

/** Reasons for which an answer about a batch leaves workflows out. */
export const reasons = (refused: unknown): ReadonlyArray<string> =>
  arr(refused).map((each) => String(obj(each)?.["why"]))
