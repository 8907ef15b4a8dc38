/** A sync tool: shows what a push would do, does it, removes what has no file any more, and is then clean. */
import { N8nClient, Services, Sync, WorkflowStore } from "effect-n8n-mcp"
import { FakeN8n } from "effect-n8n-mcp/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const folder = mkdtempSync(join(tmpdir(), "sync-"))

const node = { name: "Start", type: "n8n-nodes-base.manualTrigger", typeVersion: 1, position: [0, 0], parameters: {} }
const workflow = (id: string, name: string) => ({ id, name, nodes: [node], connections: {}, settings: {} })

const actions = (
  { entries }: { readonly entries: ReadonlyArray<{ readonly action?: string; readonly name: string }> }
) => entries.flatMap(({ action, name }) => action === undefined ? [] : [`${action} ${name}`]).toSorted()

export const test = Effect.gen(function*() {
  const pulled = actions(yield* Sync.pull(folder))
  rmSync(join(folder, "old.json"))
  writeFileSync(join(folder, "new.json"), JSON.stringify({ name: "New", nodes: [node], connections: {} }))
  const planned = actions(yield* Sync.push(folder, { deletes: true, dryRun: true }))
  const done = actions(yield* Sync.push(folder, { deletes: true }))
  const { isSame } = yield* Sync.status(folder)

  // A single change, looked at before it is written.
  const store = yield* WorkflowStore.WorkflowStore
  const renamed = yield* store.write(
    { kind: "n8n", id: "w1" },
    { name: "Orders, renamed" },
    { operation: "rename" }
  )
  const { name } = yield* N8nClient.N8nClient.use((n8n) => n8n.getWorkflow("w1"))
  return {
    pulled,
    planned,
    isAsPlanned: JSON.stringify(done) === JSON.stringify(planned),
    isSame,
    plan: renamed.changed,
    name
  }
}).pipe(
  Effect.ensuring(Effect.sync(() => rmSync(folder, { recursive: true }))),
  Effect.provide(
    Layer.merge(
      FakeN8n.layer({ workflows: [workflow("w1", "Orders"), workflow("w2", "Old")], executions: [] }),
      Services.layer({ filesRoots: [folder], stateFolder: join(folder, ".state") })
    )
  )
)

export const expected = {
  pulled: ["created Old", "created Orders"],
  planned: ["created New", "removed Old"],
  isAsPlanned: true,
  isSame: true,
  plan: "name",
  name: "Orders, renamed"
}
