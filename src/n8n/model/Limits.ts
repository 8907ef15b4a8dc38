/** n8n's limits. */

export const maxPage = 250

/** The longest name of a workflow; n8n counts code points. */
export const nameLength = 128

/** The longest id of a node: on PostgreSQL a workflow whose trigger has a longer one can never be unpublished. */
export const nodeIdLength = 36

/** Why n8n refuses a workflow's name as too long; `undefined` if it does not. */
export const nameFault = (name: string): string | undefined => {
  const { length } = [...name]
  return length > nameLength
    ? `The workflow's name has ${length} characters; n8n allows ${nameLength}.`
    : undefined
}
