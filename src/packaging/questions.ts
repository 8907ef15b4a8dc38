/** What a person is asked for when a bundle or a plugin is installed. */
import { variable } from "./variables.ts"

interface Asked {
  /** Its key in a form. */
  readonly key: string
  readonly variable: string
  readonly title: string
  /** Where the option's own says too much for a form. */
  readonly description?: string
  readonly type: "string" | "boolean" | "directory"
  readonly required: boolean
  readonly default?: string | boolean
}

/** The n8n, and whether it may be changed; all else has a default that suits most. */
export const asked: ReadonlyArray<Asked> = [
  { key: "n8n_url", variable: "N8N_URL", title: "Address of n8n", type: "string", required: true },
  {
    key: "api_key",
    variable: "N8N_API_KEY",
    title: "n8n API key",
    description: "Made in n8n under Settings > n8n API",
    type: "string",
    required: true
  },
  {
    key: "read_only",
    variable: "N8N_MCP_READ_ONLY",
    title: "Read only",
    type: "boolean",
    required: false,
    default: false
  }
]

/** A desktop app starts servers anywhere, also in the root of the disk: the folder of the files must be said. */
export const filesRoot: Asked = {
  key: "files_root",
  variable: "N8N_MCP_FILES_ROOT",
  title: "Folder of workflow files",
  type: "directory",
  required: false,
  default: "${DOCUMENTS}"
}

/** The form. */
export const form = (questions: ReadonlyArray<Asked>) =>
  Object.fromEntries(questions.map(({ key, variable: name, ...question }) => {
    const { description, isSecret } = variable(name)
    return [key, { description, ...question, ...(isSecret ? { sensitive: true } : {}) }]
  }))

/** The environment that the answers make. */
export const environment = (questions: ReadonlyArray<Asked>) =>
  Object.fromEntries(questions.map(({ key, variable: name }) => [name, `\${user_config.${key}}`]))
