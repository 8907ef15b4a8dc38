/**
 * Reads the documentation of what package.json exports, as TypeDoc does, and reports what is missing, for `pnpm check`;
 * `--fix` adds `@category` and `@since` where there is a docstring.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { relative } from "node:path"
import { Application, type DeclarationReflection, ReflectionKind } from "typedoc"
import { metadata, root } from "./metadata.ts"

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
    "src/answer/Tool.ts:Described",
    "src/catalogue/types/ParameterView.ts:Parameter",
    "src/catalogue/types/Ports.ts:Port",
    "src/base/Json.ts:Obj",
    "src/mcp/http/refusal.ts:Refusal"
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

/** How exports are grouped; the first that fits. */
const categories: ReadonlyArray<readonly [string, (name: string, kind: string, code: string) => boolean]> = [
  ["services", (_, __, code) => /Context\.(Service|Reference)\b/.test(code)],
  ["errors", (_, __, code) => /TaggedError\b/.test(code)],
  ["layers", (name, kind) => kind === "const" && name.startsWith("layer")],
  ["tools", (_, __, code) => /= (Tool|writing|reading)\.\w+\(/.test(code)],
  ["resources", (_, __, code) => /Resource\.(ofTool|Resource<)/.test(code)],
  ["schemas", (_, kind, code) => kind === "const" && /= Schema\.\w+\(/.test(code)],
  ["models", (_, kind) => kind !== "const" && kind !== "function"],
  ["constructors", (name) => /^(make|from|of|failed|succeeded)([A-Z]|$)/.test(name)],
  ["guards", (name) => /^(is|has|same)[A-Z]/.test(name)],
  ["functions", (_, __, code) => /=>|\bfunction\b|Effect\.fn/.test(code)],
  ["constants", () => true]
]

const head = /^(?:export )?(?:default )?(?:abstract )?(const|class|interface|type|function) (\w+)/

/** The category of the declaration that begins at this line. */
const categoryAt = (lines: ReadonlyArray<string>, line: number) => {
  const [, kind = "const", name = ""] = head.exec(lines[line] ?? "") ?? []
  const next = lines.findIndex((text, index) => index > line && /^(\/\*\*|export|const|type|interface)/.test(text))
  const code = lines.slice(line, Math.min(next < 0 ? lines.length : next, line + 8)).join("\n")
  return categories.find(([, fits]) => fits(name, kind, code))?.[0]
}

/** Adds what the docstring above a declaration lacks: the category that fits, and since which version it is there. */
const complete = (file: string, line: number, missing: ReadonlySet<string>) => {
  const lines = readFileSync(file, "utf8").split("\n")
  const end = line - 2
  const last = lines[end] ?? ""
  if (!last.endsWith("*/")) return
  const single = /^\/\*\* (.*) \*\/$/.exec(last)?.[1]
  const isTagged = / \* @\w+/.test(lines[end - 1] ?? "")
  lines.splice(
    end,
    1,
    ...single === undefined ? [] : ["/**", ` * ${single}`],
    ...isTagged ? [] : [" *"],
    ...missing.has("@category") ? [` * @category ${categoryAt(lines, line - 1)}`] : [],
    ...missing.has("@since") ? [` * @since ${metadata.version}`] : [],
    " */"
  )
  writeFileSync(file, lines.join("\n"))
}

const gaps = project.getReflectionsByKind(exported).flatMap((each) => {
  const declaration = each as DeclarationReflection
  if (each.parent?.kindOf(place | ReflectionKind.Project) !== true) return []
  const [source] = declaration.sources ?? []
  const comment = declaration.comment ?? declaration.signatures?.[0]?.comment
  const missing = new Set([
    ...comment?.hasVisibleComponent() === true ? [] : ["a docstring"],
    ...(["@since", "@category"] as const).filter((tag) => comment?.getTag(tag) === undefined)
  ])
  return missing.size === 0 || source === undefined
    ? []
    : [{ file: source.fullFileName, line: source.line, name: each.getFriendlyFullName(), missing }]
})

if (process.argv.includes("--fix")) {
  // From the end of each file, and each declaration once: the lines above stay where they are.
  const places = new Map(gaps.map((gap) => [`${gap.file}:${gap.line}`, gap]))
  for (const { file, line, missing } of [...places.values()].toSorted((a, b) => b.line - a.line)) {
    if (!missing.has("a docstring")) complete(file, line, missing)
  }
} else {
  const lacking = gaps.map(({ file, line, missing, name }) =>
    `${relative(root, file)}:${line} ${name} lacks ${[...missing].join(", ")}\n`
  )
  process.stderr.write(lacking.join(""))
}
process.exitCode = app.logger.hasErrors() || app.logger.hasWarnings() || gaps.length > 0 ? 1 : 0
