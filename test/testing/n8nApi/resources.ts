/** What besides workflows and executions an n8n holds: the same requests for the simulated and a real one. */
import * as Effect from "effect/Effect"
import { arr, type Obj, obj, str } from "../../../src/base/Json.ts"
import { type Instance, recorder } from "./contract.ts"

const id = (answer: Obj) => str(answer["id"]) ?? "none"

const filter = (columnName: string, condition: string, value: unknown) => ({
  type: "and",
  filters: [{ columnName, condition, value }]
})

const query = (value: unknown) => encodeURIComponent(JSON.stringify(value))

const column = { name: "a", type: "string" }

const wrongBodies: ReadonlyArray<readonly [request: string, ...bodies: ReadonlyArray<unknown>]> = [
  [
    "POST /data-tables",
    { name: "", columns: [] },
    { name: "n".repeat(129), columns: [] },
    { name: 1, columns: [] },
    { name: "x", columns: [{}] },
    { name: "x", columns: [{ ...column, name: "" }] },
    { name: "x", columns: [{ ...column, type: "none" }] },
    { name: "x", columns: [{ ...column, type: 1 }] },
    { name: "x", columns: [], projectId: 1 }
  ],
  ["PATCH /data-tables/:id", {}, { name: "" }],
  [
    "POST /data-tables/:id/columns",
    {},
    { ...column, name: "1a" },
    { ...column, name: "" },
    { ...column, name: "n".repeat(64) },
    { ...column, index: -1 },
    { ...column, index: 1.5 }
  ],
  ["PATCH /data-tables/:id/columns/0123456789abcdef", {}, { invented: 1 }, { name: "a", invented: 1 }],
  ["PATCH /data-tables/:id/columns/none", { name: "a" }],
  ["PATCH /data-tables/none/columns/none", { name: 1 }],
  ["POST /data-tables/none/rows", {}],
  ["POST /data-tables/:id/rows", { data: [] }, { data: [1] }, { data: {} }, { data: [{}], returnType: "x" }],
  [
    "PATCH /data-tables/:id/rows/update",
    { filter: { filters: [{ columnName: 1 }] }, data: {} },
    { filter: { type: "x", filters: [] }, data: {} },
    { filter: filter("sku", "eq", "c"), data: 1 },
    { filter: filter("sku", "eq", "c"), data: {}, dryRun: "x" }
  ]
]

/** Sends all requests in order, to an n8n without tables and credentials, and returns the exchanges. */
export const exchanges = Effect.fnUntraced(function*({ version, ...instance }: Instance) {
  const { ask, exchanges } = yield* recorder(instance)

  // Credentials
  const audited = { additionalOptions: { categories: ["credentials"] } }
  yield* ask("POST", "/audit", audited)
  const credential = id(
    yield* ask("POST", "/credentials", { name: "Key", type: "httpHeaderAuth", data: { name: "a", value: "b" } })
  )
  yield* ask("POST", "/audit", audited)
  yield* ask("POST", "/audit")
  yield* ask("POST", "/audit", { additionalOptions: { categories: ["weather"] } })
  yield* ask("GET", "/credentials/schema/httpHeaderAuth")
  yield* ask("GET", "/credentials/schema/none")
  yield* ask("POST", `/credentials/${credential}/test`)
  if (version === "2") yield* ask("POST", "/credentials/none/test")
  yield* ask("DELETE", `/credentials/${credential}`)
  yield* ask("DELETE", "/credentials/none")

  // What only some n8ns have
  yield* ask("GET", "/community-packages")
  yield* ask("GET", "/data-tables")
  if (version === "1") return exchanges

  // Data tables and their columns
  const columns = [{ name: "sku", type: "string" }, { name: "qty", type: "number" }]
  for (
    const body of [{}, { name: "T" }, { name: "T", columns: [{ name: "sku", type: "json" }] }, {
      name: "T",
      columns,
      projectId: "none"
    }]
  ) yield* ask("POST", "/data-tables", body)
  const orders = id(yield* ask("POST", "/data-tables", { name: "Orders", columns }))
  yield* ask("POST", "/data-tables", { name: "Orders", columns })
  const table = `/data-tables/${orders}`
  yield* ask("GET", table)
  yield* ask("GET", "/data-tables/none")
  yield* ask("GET", "/data-tables/0123456789abcdef")
  yield* ask("GET", `/data-tables?filter=${query({ name: "ORD" })}`)
  yield* ask("GET", `/data-tables?filter=${query({ name: "nobody" })}`)
  const column = id(yield* ask("POST", `${table}/columns`, { name: "on", type: "date" }))
  for (const body of [{ name: "sku", type: "string" }, { name: "id", type: "string" }, { name: "j", type: "json" }]) {
    yield* ask("POST", `${table}/columns`, body)
  }
  yield* ask("PATCH", `${table}/columns/${column}`, { name: "due", index: 0 })
  yield* ask("PATCH", `${table}/columns/${column}`, { name: "sku" })
  yield* ask("DELETE", `${table}/columns/none`)
  yield* ask("DELETE", `${table}/columns/0123456789abcdef`)
  yield* ask("GET", `${table}/columns`)
  yield* ask("PATCH", table, { name: "Sales" })
  yield* ask("PATCH", table, { name: "Sales" })
  for (const [request, ...bodies] of wrongBodies) {
    const [method = "", path = ""] = request.split(" ")
    for (const body of bodies) yield* ask(method as "POST" | "PATCH", path.replace(":id", orders), body)
  }
  for (const value of ["limit=x", "limit=300", "limit=", "filter=x", "sortBy=a&sortBy=b", "invented=1"]) {
    yield* ask("GET", `/data-tables?${value}`)
  }
  yield* ask("GET", "/data-tables/none/rows?limit=x")
  yield* ask("DELETE", `${table}/rows/delete?filter=x`)
  yield* ask("DELETE", `${table}/rows/delete?dryRun=x&filter=${query({})}`)
  yield* ask("GET", "/community-packages?invented=1")

  // Rows
  const data = [{ sku: "a-1", qty: 1, due: "2026-01-02T03:04:05+01:00" }, { sku: "B%2", qty: 2.5 }, { sku: null }]
  for (const body of [{}, { data: [{ nope: 1 }] }, { data: [{ qty: "many" }] }, { data: [{ due: "soon" }] }]) {
    yield* ask("POST", `${table}/rows`, body)
  }
  yield* ask("POST", `${table}/rows`, { data })
  yield* ask("POST", `${table}/rows`, { data: [{ sku: "c", qty: "7" }], returnType: "all" })
  yield* ask("POST", `${table}/rows`, { data: [{ sku: "d" }], returnType: "id" })
  yield* ask("GET", `${table}/rows`)
  yield* ask("GET", `${table}/rows?limit=2&sortBy=${encodeURIComponent("qty:desc")}`)
  yield* ask("GET", `${table}/rows?search=B`)
  for (
    const [columnName, condition, value] of [
      ["qty", "gte", 2],
      ["qty", "lt", 2],
      ["qty", "neq", 1],
      ["qty", "eq", null],
      ["sku", "like", "a%"],
      ["sku", "like", "A%"],
      ["sku", "ilike", "b%2"],
      ["sku", "ilike", "-"],
      ["id", "gt", 3],
      ["due", "eq", "2026-01-02T02:04:05.000Z"],
      ["qty", "gt", null],
      ["qty", "like", "1"],
      ["qty", "eq", "many"],
      ["nope", "eq", 1]
    ] as const
  ) yield* ask("GET", `${table}/rows?filter=${query(filter(columnName, condition, value))}`)
  const two = { type: "or", filters: [...filter("sku", "eq", "c").filters, ...filter("sku", "eq", "d").filters] }
  yield* ask("GET", `${table}/rows?filter=${query(two)}`)
  const one = filter("sku", "eq", "c")
  for (
    const body of [
      {},
      { filter: { filters: [] }, data: { qty: 1 } },
      { filter: one, data: {} },
      { filter: one, data: { nope: 1 } },
      { filter: filter("sku", "is", "c"), data: { qty: 1 } },
      { filter: one, data: { qty: 8 }, dryRun: true },
      { filter: one, data: { qty: 8 }, returnData: true },
      { filter: one, data: { qty: 9 } },
      { filter: filter("sku", "eq", "z"), data: { qty: 9 }, returnData: true }
    ]
  ) yield* ask("PATCH", `${table}/rows/update`, body)
  for (
    const body of [
      { filter: one, data: { qty: 10 }, returnData: true },
      { filter: filter("sku", "eq", "new"), data: { sku: "new" }, dryRun: true },
      { filter: filter("sku", "eq", "new"), data: { sku: "new" }, returnData: true }
    ]
  ) yield* ask("POST", `${table}/rows/upsert`, body)
  yield* ask("DELETE", `${table}/rows/delete`)
  yield* ask("DELETE", `${table}/rows/delete?dryRun=true&filter=${query(two)}`)
  yield* ask("DELETE", `${table}/rows/delete?returnData=true&filter=${query(one)}`)
  yield* ask("DELETE", `${table}/rows/delete?filter=${query(one)}`)
  yield* ask("DELETE", `${table}/columns/${column}`)
  yield* ask("GET", `${table}/rows`)
  const { data: tables } = yield* ask("GET", "/data-tables")
  yield* ask("DELETE", `${table}/rows/clear`)
  for (const each of arr(tables)) yield* ask("DELETE", `/data-tables/${id(obj(each) ?? {})}`)
  return exchanges
})
