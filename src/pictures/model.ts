/** Parts of a picture. */
import type { Obj } from "../base/Json.ts"
import type { MissingCredential, Problem } from "../base/Problem.ts"
import type * as Ports from "../catalogue/types/Ports.ts"
import type * as Execution from "../executions/Execution.ts"
import type * as Connections from "../n8n/model/Connections.ts"
import type * as details from "./details.ts"
import type * as geometry from "./geometry.ts"
import type { Glyph } from "./glyphs.ts"

/** Workflow of any origin; malformed parts are not drawn. */
export type Document = Obj

/** Appearance of a node, from its type. */
export interface Look {
  /** Display name of the type, such as `HTTP Request`. */
  readonly label: string
  readonly isTrigger: boolean
  /** Declared ports, if known. */
  readonly inputs: ReadonlyArray<Ports.Port> | undefined
  readonly outputs: ReadonlyArray<Ports.Port> | undefined
  /** Operation of the node, such as `post: message`. */
  readonly subtitle?: string
}

/** Appearance of a node, or `undefined` if its type is unknown. */
export type LookOf = (node: Obj) => Look | undefined

/** Information drawn on top of the workflow. */
export type Overlay =
  | { readonly _tag: "Execution"; readonly execution: Execution.Execution }
  /** Difference from an earlier state. */
  | { readonly _tag: "Difference"; readonly before: Document }
  | {
    readonly _tag: "Problems"
    readonly problems: ReadonlyArray<Problem>
    readonly missingCredentials?: ReadonlyArray<MissingCredential>
  }

/** Status of a node in the overlay; `idle` did not run in the execution. */
export type Status =
  | "success"
  | "error"
  | "waiting"
  | "running"
  | "idle"
  | "added"
  | "removed"
  | "changed"
  | "renamed"
  | "warning"
  /** Without a credential. */
  | "incomplete"

/** Words for statuses that are not words for themselves. */
export const statusWords: { readonly [S in Status]?: string } = {
  success: "ran",
  error: "failed",
  idle: "did not run",
  waiting: "waits",
  running: "runs",
  incomplete: "credential missing"
}

/** Node of a picture. */
export interface Node extends geometry.Shape {
  readonly id: string
  readonly name: string
  readonly label: string
  readonly glyph: Glyph
  readonly place: geometry.Point | undefined
  readonly status?: Status
  readonly statusText?: string
  /** Short description below the name, such as its operation. */
  readonly subtitle?: string
  readonly figures?: string
  readonly formerName?: string
  readonly formerPlace?: geometry.Point
  readonly isDisabled: boolean
  readonly isPinned: boolean
  readonly isSubWorkflow: boolean
  readonly inputs: ReadonlyArray<Port>
  readonly outputs: ReadonlyArray<Port>
  readonly sections: ReadonlyArray<details.Section>
}

/** Input or output of a node. */
export interface Port extends Connections.Port {
  readonly name?: string
  readonly required?: boolean
}

/** Link between two nodes of the picture, by their ids. */
export interface Link {
  readonly from: string
  readonly output: Connections.Port
  readonly to: string
  readonly input: Connections.Port
  readonly status?: "ran" | "idle" | "added" | "removed"
  readonly items?: number
}

/** Sticky note. */
export interface Note extends geometry.Box {
  readonly text: string
  /** n8n's colour number, 1 to 7. */
  readonly colour: number
}

/** Picture of a workflow. */
export interface Picture {
  readonly title: string
  /** Summary of the overlay in one line. */
  readonly subtitle: string
  readonly overlay: Overlay["_tag"] | undefined
  readonly nodes: ReadonlyArray<Node>
  readonly links: ReadonlyArray<Link>
  readonly notes: ReadonlyArray<Note>
  /** Details that belong to no node, such as changes of settings. */
  readonly sections: ReadonlyArray<details.Section>
  /** Id of the most relevant node, such as the one that failed. */
  readonly focus?: string
}

/** Options of a picture. */
export interface Options {
  readonly overlay?: Overlay | undefined
  /** Appearance by node type. */
  readonly lookOf?: LookOf
  /** Whether secrets are shown unredacted. */
  readonly showsSecrets?: boolean | undefined
}
