/** Reports exports of package.json without a docstring, as TypeDoc reads them; `--out FOLDER` writes pages. */
import { relative, resolve } from "node:path"
import { Application, CommentTag, Converter, type DeclarationReflection, ReflectionKind } from "typedoc"
import { root } from "./metadata.ts"
import { tagsOf } from "./stability.ts"

const app = await Application.bootstrap({
  tsconfig: `${root}tsconfig.json`,
  entryPoints: ["index", "domain", "mcp/index", "testing/index", "tools/index"].map((file) => `${root}src/${file}.ts`),
  excludePrivate: true,
  excludeInternal: true,
  excludeExternals: true,
  sourceLinkTemplate: "{path}",
  disableGit: true,
  emit: "none",
  readme: "none",
  // The inner parts of a tool, and shapes that only a result's type names.
  intentionallyNotExported: [
    "src/answer/toolParts.ts:Parts",
    "src/answer/toolParts.ts:Described",
    "src/catalogue/types/ParameterView.ts:Parameter",
    "src/catalogue/types/Ports.ts:Port",
    "src/base/Json.ts:Obj",
    "src/base/Json.ts:Defined",
    "src/n8n/generated/Operations.ts:Operations",
    "src/n8n/operations.ts:Argument",
    "src/executions/FailureGroups.ts:Failed",
    "src/n8n/operations.ts:Item",
    // Inner parts of a server in the types of its options and of transports.
    "src/mcp/Methods.ts:About",
    "src/mcp/Methods.ts:Methods"
  ],
  logLevel: "Warn",
  treatValidationWarningsAsErrors: true
})

const values = ReflectionKind.Variable | ReflectionKind.Function
const types = ReflectionKind.Class | ReflectionKind.Interface | ReflectionKind.TypeAlias
const place = ReflectionKind.Module | ReflectionKind.Namespace | ReflectionKind.Project

const categories: ReadonlyArray<readonly [string, (name: string, isType: boolean, code: string) => boolean]> = [
  ["services", (_, __, code) => /Context\.(Service|Reference)\b/.test(code)],
  ["errors", (_, __, code) => /TaggedError\b/.test(code)],
  ["layers", (name, isType) => !isType && name.startsWith("layer")],
  ["tools", (_, __, code) => /= (Tool|writing|reading)\.\w+\(/.test(code)],
  ["resources", (_, __, code) => /Resource\.(ofTool|Resource<)/.test(code)],
  ["schemas", (_, isType, code) => !isType && /= Schema\.\w+\(/.test(code)],
  ["models", (_, isType) => isType],
  ["constructors", (name) => /^(make|from|of|failed|succeeded)([A-Z]|$)/.test(name)],
  ["guards", (name) => /^(is|has|same)[A-Z]/.test(name)],
  ["functions", (_, __, code) => /=>|\bfunction\b|Effect\.fn/.test(code)],
  ["constants", () => true]
]

const commentOf = (declaration: DeclarationReflection) => declaration.comment ?? declaration.signatures?.[0]?.comment

const exported = (all: ReadonlyArray<DeclarationReflection>) =>
  all.filter((each) => each.parent?.kindOf(place) === true)

app.converter.on(Converter.EVENT_RESOLVE_BEGIN, (context) => {
  const { project } = context
  for (const each of exported(project.getReflectionsByKind(values | types) as Array<DeclarationReflection>)) {
    // An interface has the docstring of the schema that it names.
    const schema = project.getReflectionsByKind(values).find((other) =>
      other !== each && other.parent === each.parent && other.name === each.name
    )
    if (schema?.comment !== undefined && commentOf(each) === undefined) each.comment = schema.comment.clone()
    const comment = commentOf(each)
    const code = context.getSymbolFromReflection(each)?.declarations?.map((part) =>
      part.getText().slice(0, 500)
    ).join() ?? ""
    const category = categories.find(([, fits]) => fits(each.name, each.kindOf(types), code))?.[0] ?? ""
    const [source] = each.sources ?? []
    const module = relative(`${root}src`, source?.fullFileName ?? "").replace(".ts", "")
    for (const [tag, text] of Object.entries({ "@category": category, ...tagsOf(module) })) {
      const name = tag as `@${string}`
      if (comment?.getTag(name) === undefined) comment?.blockTags.push(new CommentTag(name, [{ kind: "text", text }]))
    }
  }
})

const project = await app.convert()
if (project === undefined) process.exit(1)
app.validate(project)

const bare = exported(project.getReflectionsByKind(values | types) as Array<DeclarationReflection>)
  .filter((each) => commentOf(each)?.hasVisibleComponent() !== true)
for (const each of bare) {
  const [source] = each.sources ?? []
  process.stderr.write(
    `${relative(root, source?.fullFileName ?? "")}:${source?.line} ${each.getFriendlyFullName()} lacks a docstring\n`
  )
}

const at = process.argv.indexOf("--out")
if (at > 0) await app.generateDocs(project, resolve(process.argv[at + 1] ?? "coverage/docs"))
process.exitCode = app.logger.hasErrors() || app.logger.hasWarnings() || bare.length > 0 ? 1 : 0
