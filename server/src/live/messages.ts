import type { Hint } from './hint.ts'

/** Sent in place of too many hints: the audience reads everything again. */
export type Resync = Pick<Hint, 'workspace_id' | 'only' | 'except'> & { resync: true }

/** Maximum number of hints of one commit for one audience. */
const maxHints = 100
/** PostgreSQL accepts less than 8,000 bytes. */
const messageBytes = 7900

/** The message that hints were lost: all watchers of the receiving process read everything again. */
export const lostHints = ''

/** Replaces the hints for an audience by one resync if they are too many, as after an import. */
export function limitHints(hints: Hint[]): (Hint | Resync)[] {
  const audienceOf = ({ workspace_id, only, except }: Hint) => JSON.stringify([workspace_id, only, except])
  const sizes = new Map<string, number>()
  for (const hint of hints) sizes.set(audienceOf(hint), (sizes.get(audienceOf(hint)) ?? 0) + 1)
  const replaced = new Set<string>()
  return hints.flatMap((hint): (Hint | Resync)[] => {
    const audience = audienceOf(hint)
    if ((sizes.get(audience) ?? 0) <= maxHints) return [hint]
    if (replaced.has(audience)) return []
    replaced.add(audience)
    const { workspace_id, only = null, except = null } = hint
    return [{ workspace_id, only, except, resync: true }]
  })
}

/** Packs hints, which are JSON, into as few messages as possible. If one does not fit into a message, returns `lostHints`. */
export function packMessages(node: string, hints: string[]): string[] {
  // The previous version, which may still be running, reads the same keys.
  const [head, tail] = [`{"node":${JSON.stringify(node)},"news":[`, ']}']
  const room = messageBytes - head.length - tail.length
  const sizes = hints.map((hint) => Buffer.byteLength(hint) + 1)
  if (hints.includes(lostHints) || sizes.some((size) => size > room)) return [lostHints]
  const batches: string[][] = []
  let left = 0
  hints.forEach((hint, index) => {
    const size = sizes[index] as number
    if (size > left) {
      batches.push([])
      left = room
    }
    batches.at(-1)?.push(hint)
    left -= size
  })
  return batches.map((batch) => head + batch.join(',') + tail)
}
