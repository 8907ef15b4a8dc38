/** Reads the documentation of what package.json exports, as TypeDoc does, and says what is missing: `pnpm docs`. */
import { relative } from "node:path"
import { Application, type DeclarationReflection, ReflectionKind } from "typedoc"
import { root } from "./metadata.ts"

const app = await Application.bootstrap({
  tsconfig: `${root}tsconfig.json`,
  entryPoints: ["index", "domain", "mcp/index", "testing/index", "tools/index"].map((file) => `${root}src/${file}.ts`),
  excludePrivate: true,
  excludeInternal: true,
  excludeExternals: true,
  sourceLinkTemplate: "{path}",
  disableGit: true,
  emit: "none",
  // The inner parts of a tool, and shapes that only a result's type names.
  intentionallyNotExported: [
    "src/answer/Tool.ts:Parts",
    "src/catalogue/types/ParameterView.ts:Parameter",
    "src/base/Json.ts:Obj"
  ],
  logLevel: "Warn",
  treatValidationWarningsAsErrors: true
})
const project = await app.convert()
if (project === undefined) process.exit(1)
app.validate(project)

const exported = ReflectionKind.Variable | ReflectionKind.Function | ReflectionKind.Class | ReflectionKind.Interface |
  ReflectionKind.TypeAlias
const place = ReflectionKind.Module | ReflectionKind.Namespace

for (const each of project.getReflectionsByKind(exported)) {
  const declaration = each as DeclarationReflection
  if (each.parent?.kindOf(place | ReflectionKind.Project) !== true) continue
  const [source] = declaration.sources ?? []
  const comment = declaration.comment ?? declaration.signatures?.[0]?.comment
  const missing = [
    ...(comment?.hasVisibleComponent() === true ? [] : ["a docstring"]),
    ...(["@since", "@category"] as const).filter((tag) => comment?.getTag(tag) === undefined)
  ]
  if (missing.length > 0 && source !== undefined) {
    const at = `${relative(root, source.fullFileName)}:${source.line}`
    app.logger.error(`${at} ${each.getFriendlyFullName()} lacks ${missing.join(", ")}` as never)
  }
}
process.exitCode = app.logger.hasErrors() || app.logger.hasWarnings() ? 1 : 0
