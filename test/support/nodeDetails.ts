import * as Minimize from "../../src/answer/Minimize.ts"
import type * as NodeDetails from "../../src/catalogue/types/NodeDetails.ts"
import { budget } from "../../src/tools/nodes/nodeGet.ts"

/** Details of a node type as node_get answers them. */
export const answered = ({ at, steps }: NodeDetails.Described): NodeDetails.Details =>
  Minimize.fitPage(steps, 40_000, (step) => {
    const value = at(step)
    return { value, budget: budget({}), next: () => undefined }
  })
