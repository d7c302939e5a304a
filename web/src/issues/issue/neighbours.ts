import type { Issue } from '@baton/protocol'

/** Ids of the last list that was shown, in its order. */
let remembered: readonly string[] = []

export const rememberList = (ids: readonly string[]) => {
  remembered = ids
}

/** The ids before and after an issue in the last list; if that does not have it, among all loaded issues. */
export function neighboursOf(id: string, issues: readonly Issue[]): { previous?: string; next?: string } {
  const list = remembered.includes(id) ? remembered : issues.map((issue) => issue.id)
  const at = list.indexOf(id)
  if (at < 0) return {}
  const [previous, next] = [list[at - 1], list[at + 1]]
  return { ...(previous && { previous }), ...(next && { next }) }
}
