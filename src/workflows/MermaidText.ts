/** Text in Mermaid flowcharts. */

const entity = (sign: string) => `#${sign.codePointAt(0)};`

/**
 * Escapes characters that Mermaid reads as syntax, and list markers that it reads as Markdown, as Mermaid entities.
 */
export const mermaidText = (text: string): string =>
  text.replace(/[^\p{L}\p{M}\p{N} .,:!?_+=*/@%&-]/gu, entity)
    .replace(/(?<=^ *\d*)[.*+-](?= )/, entity)
