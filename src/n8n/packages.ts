/** n8n's own packages (`.n8np`, n8n 2.x, beta): workflows with what they need, to carry to another n8n. */
import * as Bytes from "effect/Bytes"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type * as Errors from "../base/Errors.ts"
import * as body from "./body.ts"
import { unreadableError } from "./HttpErrors.ts"
import { type Requests, sendJson } from "./requests.ts"

/**
 * What is exported: workflows and folders, or projects. Values of credentials are not, unless they are expressions.
 *
 * @category models
 * @since 0.1.0
 */
export interface PackageContents {
  readonly workflowIds?: ReadonlyArray<string>
  readonly folderIds?: ReadonlyArray<string>
  readonly projectIds?: ReadonlyArray<string>
  readonly includeVariableValues?: boolean
  readonly includeTags?: boolean
  readonly missingWorkflowDependencyPolicy?: "fail" | "reference-only" | "include-in-package"
  readonly workflowVersionPolicy?: "published-strict" | "prefer-published" | "ignore-unpublished" | "latest"
  readonly credentialExportPolicy?: "expression-values-only" | "no-values"
  readonly includeArchivedWorkflows?: boolean
}

/**
 * How a package is imported; the rest of n8n's policies have their defaults.
 *
 * @category models
 * @since 0.1.0
 */
export interface ImportOptions {
  readonly projectId?: string
  readonly folderId?: string
  /** What becomes of a workflow that is there already. */
  readonly workflowConflictPolicy: "new-version" | "fail" | "skip"
  readonly workflowIdPolicy?: "new" | "source"
  readonly credentialMatchingMode?: "id-only" | "name-and-type" | "type-only"
  readonly credentialMissingMode?: "must-preexist" | "create-stub"
  readonly missingNodeTypeMode?: "fail" | "import-anyway"
  readonly workflowPublishingPolicy?: "preserve-published-state" | "match-source" | "publish-all" | "unpublish-all"
}

/** What an import did; what else n8n tells is kept. */
const Imported = Schema.StructWithRest(
  Schema.Struct({
    workflows: Schema.Array(
      Schema.Struct({
        sourceWorkflowId: Schema.String,
        localId: Schema.String,
        name: Schema.String,
        status: Schema.String
      })
    )
  }),
  [Schema.Record(Schema.String, Schema.Unknown)]
)

/**
 * What an import of a package made, and what it could not.
 *
 * @category models
 * @since 0.1.0
 */
export type Imported = typeof Imported.Type

/** The endpoints of packages (2.x). */
export interface Service {
  /** `POST /n8n-packages/export`: the package, a gzipped archive. */
  readonly exportPackage: (contents: PackageContents) => Effect.Effect<Uint8Array, Errors.RequestError>
  /** `POST /n8n-packages/import`: writes workflows, and what they need, without a snapshot of what was there. */
  readonly importPackage: (archive: Uint8Array, options: ImportOptions) => Effect.Effect<Imported, Errors.RequestError>
}

/** A whole project can be large, in seconds. */
const packageTimeout = 180

/** Implements them for one n8n. */
export const make = (requests: Requests): Service => ({
  exportPackage: Effect.fn("N8nClient.exportPackage")((contents) =>
    requests.send(
      { method: "POST", path: "/n8n-packages/export", body: contents, seconds: packageTimeout },
      { operation: "export a package" },
      (response, target) =>
        Stream.runFoldEffect(
          response.stream,
          (): { readonly size: number; readonly parts: ReadonlyArray<Uint8Array> } => ({ size: 0, parts: [] }),
          ({ parts, size }, part) =>
            size + part.length > body.maxBytes.json
              ? Effect.fail(unreadableError(target, `a package of more than ${body.maxBytes.json / 1_000_000} MB`))
              : Effect.succeed({ size: size + part.length, parts: [...parts, part] })
        ).pipe(Effect.map(({ parts }) => Bytes.concat(parts)))
    )
  ),
  importPackage: Effect.fn("N8nClient.importPackage")((archive, options) =>
    Effect.suspend(() => {
      const form = new FormData()
      form.append("package", new Blob([archive.slice()]), "import.n8np")
      for (const [name, value] of Object.entries(options)) form.append(name, String(value))
      return sendJson(
        requests,
        { method: "POST", path: "/n8n-packages/import", body: form, seconds: packageTimeout },
        Imported,
        { operation: "import a package" }
      )
    })
  )
})
