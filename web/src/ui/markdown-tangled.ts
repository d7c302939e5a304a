/** What stands before the text of a line: quotes and list items inside each other. */
const containers = /^(?:[ \t]*(?:>|[-*+](?=[ \t]|$)|\d{1,9}[.)](?=[ \t]|$)))+/
const marker = />|[-*+]|\d{1,9}[.)]/g
const deepest = 24
/** Measured: a parser needs about a second for a paragraph with so many of them, and four times that for twice as many. */
const mostMarks = 1000

/**
 * Whether a text is made to keep a browser busy rather than to be read: nested deeper than any page, or so full of marks
 * that making sense of them takes seconds. Such a text is shown as it is.
 */
export function isTangled(text: string): boolean {
  let cost = 0
  for (const block of text.split(/\n[ \t]*\n/)) {
    cost += (block.match(/[*_~[\]!|<>@`]/g)?.length ?? 0) ** 2
    if (cost > mostMarks ** 2) return true
  }
  return text.split('\n').some((line) => {
    const prefix = line.match(containers)?.[0]
    if (!prefix) return false
    const indent = prefix.length - prefix.trimStart().length
    return indent / 2 + (prefix.match(marker)?.length ?? 0) > deepest
  })
}
