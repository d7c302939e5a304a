/** The prefix of a line: markers of nested quotes and list items. */
const containers = /^(?:[ \t]*(?:>|[-*+](?=[ \t]|$)|\d{1,9}[.)](?=[ \t]|$)))+/
const marker = />|[-*+]|\d{1,9}[.)]/g
const maxDepth = 24
/** Measured: the parser needs about one second for a paragraph with this many marks, and four for twice as many. */
const maxMarks = 1000

/**
 * Whether rendering a text as Markdown would block the browser for seconds, because it is nested too deeply or has too
 * many marks. Such a text is shown as plain text.
 */
export function isTooComplex(text: string): boolean {
  let cost = 0
  for (const block of text.split(/\n[ \t]*\n/)) {
    cost += (block.match(/[*_~[\]!|<>@`]/g)?.length ?? 0) ** 2
    if (cost > maxMarks ** 2) return true
  }
  return text.split('\n').some((line) => {
    const prefix = line.match(containers)?.[0]
    if (!prefix) return false
    const indent = prefix.length - prefix.trimStart().length
    return indent / 2 + (prefix.match(marker)?.length ?? 0) > maxDepth
  })
}
