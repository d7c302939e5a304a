import type { Issue } from '@baton/protocol'

/** The list one came from, as it was ordered then: the next issue is the next of that list. */
let remembered: readonly string[] = []

export const rememberList = (ids: readonly string[]) => {
  remembered = ids
}

/** The ids before and after one, in that list; without one, among all that are at hand. */
export function neighboursOf(id: string, issues: readonly Issue[]): { previous?: string; next?: string } {
  const list = remembered.includes(id) ? remembered : issues.map((issue) => issue.id)
  const at = list.indexOf(id)
  if (at < 0) return {}
  const [previous, next] = [list[at - 1], list[at + 1]]
  return { ...(previous && { previous }), ...(next && { next }) }
}
