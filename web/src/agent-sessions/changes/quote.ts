import { visibleText } from './visible-text.ts'

/** `path:line` as code, for a message in Markdown: nothing in a path becomes markup or a link there. */
export function quoteOf(path: string, line: number): string {
  const text = `${visibleText(path)}:${line}`
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  const space = text.startsWith('`') ? ' ' : ''
  return `${fence}${space}${text}${space}${fence}`
}
