/** Data tables that nodes use. Pure. */
import { num, type Obj, obj } from "../base/Json.ts"
import * as Workflow from "../n8n/model/Workflow.ts"

/** Use of a table, by its id or name, or by an expression that decides at run time. */
export type TableUse =
  & { readonly kind: "table" }
  & ({ readonly to: string } | { readonly toName: string } | { readonly decidedBy: string })

/** Table that a node uses, whether the node is disabled or not. */
export const tableOf = (node: Obj): TableUse | undefined => {
  const { dataTableId, operation = "list", resource, source } = Workflow.parametersOf(node)
  const type = Workflow.typeOf(node)
  const usual = (num(node["typeVersion"]) ?? 1) >= 4.7 ? "dataTable" : "googleSheets"
  const isUsed = /\.evaluation(Trigger)?$/.test(type)
    ? (source ?? usual) === "dataTable"
    : /\.dataTable(Tool)?$/.test(type) && (resource !== "table" || operation !== "list" && operation !== "create")
  const { mode, value } = obj(dataTableId) ?? { value: dataTableId }
  if (!isUsed || typeof value !== "string" || value === "") return undefined
  if (value.startsWith("=")) return { kind: "table", decidedBy: value }
  return mode === "name" ? { kind: "table", toName: value } : { kind: "table", to: value }
}
