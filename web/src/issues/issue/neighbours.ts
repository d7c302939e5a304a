import type { Issue } from '@baton/protocol'

/** The rows of the last list that was shown. */
let remembered: readonly { issue: Issue }[] = []

export const rememberList = (rows: readonly { issue: Issue }[]) => {
  remembered = rows
}

/** The ids before and after an issue in the last list; if that does not have it, among all loaded issues. */
export function neighboursOf(id: string, issues: readonly Issue[]): { previous?: string; next?: string } {
  const row = remembered.findIndex(({ issue }) => issue.id === id)
  const at = row >= 0 ? row : issues.findIndex((issue) => issue.id === id)
  if (at < 0) return {}
  const idAt = (index: number) => (row >= 0 ? remembered[index]?.issue : issues[index])?.id
  const [previous, next] = [idAt(at - 1), idAt(at + 1)]
  return { ...(previous && { previous }), ...(next && { next }) }
}
