/** Findings as SARIF 2.1.0, as GitHub's code scanning reads it. Pure. */
import { defined } from "../../base/Json.ts"
import { version } from "../../base/Version.ts"
import * as Finding from "../../fleet/inspection/Finding.ts"

const pascal = (id: string) => id.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase())

const ruleOf = (id: string) => {
  const { help, name } = Finding.ruleOf(id)
  return { id, name: pascal(id), shortDescription: { text: name }, help: { text: help } }
}

const locationOf = (finding: Finding.Finding) => {
  const { node } = finding
  const inside = "file" in finding ? "" : `${finding.workflow}/`
  const logical = [
    ...(node === undefined ? [] : [{ name: node, fullyQualifiedName: `${inside}${node}`, kind: "node" }]),
    ...("file" in finding
      ? []
      : [{ name: finding.name, fullyQualifiedName: finding.workflow, kind: "workflow" }])
  ]
  return defined({
    physicalLocation: "file" in finding
      ? {
        artifactLocation: { uri: finding.file.split("/").map(encodeURIComponent).join("/") },
        region: { startLine: finding.line, startColumn: finding.column }
      }
      : undefined,
    logicalLocations: logical.length === 0 ? undefined : logical
  })
}

/** Document of a run; a finding is recognised by its fingerprint when lines shift. */
export const document = (findings: ReadonlyArray<Finding.Finding>) => {
  const ids = [...new Set(findings.map(({ rule }) => rule))].toSorted()
  const keys = Finding.keysOf(findings)
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [{
      tool: { driver: { name: "effect-n8n-mcp", version, rules: ids.map(ruleOf) } },
      columnKind: "utf16CodeUnits",
      results: findings.map((finding, index) => {
        const { fix, message, node, rule, severity } = finding
        const text = [node === undefined ? message : `${node}: ${message}`, ...(fix === undefined ? [] : [fix])]
        return {
          ruleId: rule,
          ruleIndex: ids.indexOf(rule),
          level: severity,
          message: { text: text.join(" ") },
          locations: [locationOf(finding)],
          partialFingerprints: { "n8nFinding/v1": Finding.fingerprint(keys[index] ?? []) }
        }
      })
    }]
  }
}
