/** What is known of how a node looks. Pure. */
import type { Obj } from "../base/Json.ts"
import type { Port } from "../catalogue/types/Ports.ts"

/**
 * What a node's type says of it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Look {
  /** What people call the type: `HTTP Request`. */
  readonly label: string
  readonly isTrigger: boolean
  /** `undefined` where they are unknown. */
  readonly inputs: ReadonlyArray<Port> | undefined
  readonly outputs: ReadonlyArray<Port> | undefined
  /** What the node does, such as `post: message`. */
  readonly subtitle?: string
}

/**
 * The look of a node; `undefined` where its type is unknown.
 *
 * @category models
 * @since 0.1.0
 */
export type LookOf = (node: Obj) => Look | undefined

/** Of nodes of which nothing is known. */
export const unknown: LookOf = () => undefined
