import type { Hint } from './hint.ts'

/** A hint, or that there was too much to name: everything should be read again. */
export type News = Hint | (Pick<Hint, 'workspace_id' | 'only' | 'except'> & { resync: true })

/** So much of one commit is named one by one. */
const namedAtMost = 100
/** PostgreSQL takes less than 8,000 bytes. */
const messageBytes = 7900

/** Hears nothing in particular, but that it may have missed something. */
export const missed = ''

/** An import or a long thread is one thing to those who watch, not a thousand. */
export function fewer(hints: Hint[]): News[] {
  const audience = ({ workspace_id, only, except }: Hint) => JSON.stringify([workspace_id, only, except])
  const sizes = new Map<string, number>()
  for (const hint of hints) sizes.set(audience(hint), (sizes.get(audience(hint)) ?? 0) + 1)
  const told = new Set<string>()
  return hints.flatMap((hint): News[] => {
    const key = audience(hint)
    if ((sizes.get(key) ?? 0) <= namedAtMost) return [hint]
    if (told.has(key)) return []
    told.add(key)
    const { workspace_id, only = null, except = null } = hint
    return [{ workspace_id, only, except, resync: true }]
  })
}

/** Messages for other processes, as few as fit; `news` are JSON. What fits into none of them was missed. */
export function messages(node: string, news: string[]): string[] {
  const [head, tail] = [`{"node":${JSON.stringify(node)},"news":[`, ']}']
  const room = messageBytes - head.length - tail.length
  const sizes = news.map((one) => Buffer.byteLength(one) + 1)
  if (news.includes(missed) || sizes.some((size) => size > room)) return [missed]
  const batches: string[][] = []
  let left = 0
  news.forEach((one, index) => {
    const size = sizes[index] as number
    if (size > left) {
      batches.push([])
      left = room
    }
    batches.at(-1)?.push(one)
    left -= size
  })
  return batches.map((batch) => head + batch.join(',') + tail)
}
