/** How much n8n takes. */

/** The most characters of a workflow's name; n8n counts code points. */
export const nameLength = 128

/** On PostgreSQL n8n has room for no more: a workflow whose trigger has a longer id can never be unpublished. */
export const nodeIdLength = 36

/** Why n8n refuses the name of a workflow as too long; `undefined` where it does not. */
export const nameFault = (name: string): string | undefined => {
  const { length } = [...name]
  return length > nameLength
    ? `The workflow's name has ${length} characters; n8n takes ${nameLength}.`
    : undefined
}
