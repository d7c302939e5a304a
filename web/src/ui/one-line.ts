/** The beginning of a Markdown text on one line, without markup; links and mentions become their text. */
export const inOneLine = (markdown: string) =>
  markdown
    .slice(0, 300)
    .replace(/!?\[([^\]]*)\]\([^)]*\)?/g, '$1')
    .replace(/^[\s>]*(#+\s)?/gm, ' ')
    .replace(/[*`]+|(?<!\w)_+|_+(?!\w)/g, '')
    .replace(/\s+/g, ' ')
    .trim()
