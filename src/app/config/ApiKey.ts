/** Whether a text may be an API key: visible ASCII, as a header requires; blanks around it come from copying. */
export const isApiKey = (text: string): boolean => /^[\x21-\x7e]+$/.test(text.trim())
