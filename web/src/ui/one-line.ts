/** The first words of Markdown in one line: without what marks it up, links and people by their names. */
export const inOneLine = (markdown: string) =>
  markdown
    .slice(0, 300)
    .replace(/!?\[([^\]]*)\]\([^)]*\)?/g, '$1')
    .replace(/^[\s>]*(#+\s)?/gm, ' ')
    .replace(/[*`]+|(?<!\w)_+|_+(?!\w)/g, '')
    .replace(/\s+/g, ' ')
    .trim()
