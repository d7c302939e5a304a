import type { Cycle } from '@baton/protocol'

export type CycleState = 'upcoming' | 'current' | 'closed'

/** A cycle is closed from its end, which may be within the day. Without a start it has begun. */
export function stateOfCycle(
  { starts_at, ends_at }: Pick<Cycle, 'starts_at' | 'ends_at'>,
  now = new Date(),
): CycleState {
  if (ends_at && new Date(ends_at) <= now) return 'closed'
  if (starts_at && new Date(starts_at) > now) return 'upcoming'
  return 'current'
}

/** Current cycles first, then upcoming ones by their start, then closed ones, latest first. */
export function inOrder<One extends Cycle>(cycles: readonly One[], now = new Date()): One[] {
  const ranks: Record<CycleState, number> = { current: 0, upcoming: 1, closed: 2 }
  const time = (moment: string | null) => (moment ? Date.parse(moment) : 0)
  return [...cycles].sort((a, b) => {
    const state = stateOfCycle(a, now)
    const byState = ranks[state] - ranks[stateOfCycle(b, now)]
    if (byState) return byState
    return state === 'closed' ? time(b.ends_at) - time(a.ends_at) : time(a.starts_at) - time(b.starts_at)
  })
}
