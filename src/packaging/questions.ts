/** Questions to the person who installs a bundle or plugin. */
import * as Options from "../app/config/Options.ts"

interface Question {
  readonly key: string
  readonly variable: string
  readonly title: string
  /** Replaces the option's description if that is too long for a form. */
  readonly description?: string
  readonly type: "string" | "boolean" | "directory"
  readonly required: boolean
  readonly default?: string | boolean
}

/** Questions about n8n and write access; all other options have suitable defaults. */
export const questions: ReadonlyArray<Question> = [
  { key: "n8n_url", variable: "N8N_URL", title: "Address of n8n", type: "string", required: true },
  {
    key: "api_key",
    variable: "N8N_API_KEY",
    title: "n8n API key",
    description: "Create it in n8n under Settings > n8n API",
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

/** Question about the folder of files, since desktop apps start servers in any folder, even the disk's root. */
export const filesRoot: Question = {
  key: "files_root",
  variable: "N8N_MCP_FILES_ROOT",
  title: "Folder of workflow files",
  type: "directory",
  required: false,
  default: "${DOCUMENTS}"
}

/** Options that apply to stdio. */
export const declarations = Object.values(Options.general)

export const form = (questions: ReadonlyArray<Question>) =>
  Object.fromEntries(questions.map(({ key, variable, ...question }) => {
    const declaration = declarations.find((each) => each.variable === variable)
    if (declaration === undefined) throw new Error(`There is no option for ${variable}`)
    const { description, isSecret } = declaration
    return [key, { description, ...question, ...(isSecret ? { sensitive: true } : {}) }]
  }))

export const environment = (questions: ReadonlyArray<Question>) =>
  Object.fromEntries(questions.map(({ key, variable }) => [variable, `\${user_config.${key}}`]))
