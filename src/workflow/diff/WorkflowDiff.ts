/**
 * Differences between two states of a workflow. Pure. {@link make} recognises renamed nodes (same id, or same type,
 * parameters and links) and ignores the order of nodes, links and keys; nothing is lost. {@link view} is the form for
 * readers, {@link line} and {@link summary} are one line.
 */
export type { Difference, Field } from "../../base/Difference.ts"
export { type Document, make, type NodeDiff, plainName, type WorkflowDiff } from "./changes.ts"
export { unchanged } from "./changes.ts"
export { around, changedFields, isOfVersion, line, lines, parts, restFields, step, summary } from "./lines.ts"
export { type FieldView, isSame, type NodeView, type PortName, type View, view } from "./view.ts"
/** @internal */
export { steps } from "./changes.ts"
/** @internal */
export { lineSteps } from "./lines.ts"
/** @internal */
export { viewSteps } from "./view.ts"
