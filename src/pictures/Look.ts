/** Appearance of nodes by type. Pure. */
import type { Obj } from "../base/Json.ts"
import type { Port } from "../catalogue/types/Ports.ts"

/** Appearance of a node, from its type. */
export interface Look {
  /** Display name of the type, such as `HTTP Request`. */
  readonly label: string
  readonly isTrigger: boolean
  /** Declared ports, if known. */
  readonly inputs: ReadonlyArray<Port> | undefined
  readonly outputs: ReadonlyArray<Port> | undefined
  /** Operation of the node, such as `post: message`. */
  readonly subtitle?: string
}

/** Appearance of a node, or `undefined` if its type is unknown. */
export type LookOf = (node: Obj) => Look | undefined

/** Appearance without any knowledge of types. */
export const unknown: LookOf = () => undefined
