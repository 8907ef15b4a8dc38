/** Whether a text may be an API key: a header holds visible ASCII, and blanks around it come from copying. */
export const isApiKey = (text: string): boolean => /^[\x21-\x7e]+$/.test(text.trim())
