/** `server.json`, the entry of the MCP registry. */
import { metadata, repositoryUrl, title } from "./metadata.ts"
import { declarations, questions } from "./questions.ts"

const input = ({ choices, description, format, isSecret, variable }: typeof declarations[number]) => {
  const question = questions.find((each) => each.variable === variable)
  return {
    name: variable,
    description: question?.description ?? description,
    format,
    ...(question?.required === true ? { isRequired: true } : {}),
    ...(isSecret ? { isSecret: true } : {}),
    ...(choices.length > 0 ? { choices } : {})
  }
}

/** Content of `server.json`, in the schema of 2025-12-11. */
export const serverJson = {
  $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
  name: metadata.mcpName,
  title,
  description: metadata.description,
  version: metadata.version,
  websiteUrl: metadata.homepage,
  repository: { url: repositoryUrl, source: "github" },
  packages: [
    {
      registryType: "npm",
      identifier: metadata.name,
      version: metadata.version,
      runtimeHint: "npx",
      transport: { type: "stdio" },
      environmentVariables: declarations.map(input)
    }
  ]
}
