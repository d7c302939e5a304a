import type { AgentSession } from '@baton/protocol'
import type { StepId } from './state.ts'

/** What the viewer sees and has done, as far as it decides about a step. */
export interface Seen {
  userId: string
  startedAt: string
  path: string
  isBoard: boolean
  sessions: readonly AgentSession[]
  /** Ids of the reviews that wait; undefined until they are loaded. */
  waiting: readonly string[] | undefined
}

/** Sessions that the viewer can go to; undefined if there is none now. */
export const questionFor = ({ userId, sessions }: Seen) =>
  sessions.find(({ state, creator }) => state === 'awaitingInput' && creator.id === userId)
export const atWork = ({ sessions }: Seen) =>
  sessions.find(({ state }) => state === 'active') ?? sessions.find(({ state }) => state === 'pending')

/** The steps whose deed has been done. `asked` are the questions and reviews that waited earlier in the tour. */
export function deedsOf(seen: Seen, asked: ReadonlySet<string>): StepId[] {
  const { userId, startedAt, path, isBoard, sessions, waiting } = seen
  const isLater = (time: string | null) => time !== null && time > startedAt
  const isAnswered = ({ id, state, end_reason }: AgentSession) =>
    asked.has(id) && state !== 'awaitingInput' && end_reason === null
  const isStopped = ({ end_reason, updated_at }: AgentSession) => end_reason === 'stopped' && isLater(updated_at)
  const isDelegated = ({ creator, created_at }: AgentSession) => creator.id === userId && isLater(created_at)
  const deeds: Record<StepId, boolean> = {
    board: path === '/issues' && isBoard,
    answer: sessions.some(isAnswered),
    stop: sessions.some(isStopped),
    review: waiting !== undefined && [...asked].some((id) => id.startsWith('rev_') && !waiting.includes(id)),
    delegate: sessions.some(isDelegated),
  }
  return (Object.keys(deeds) as StepId[]).filter((id) => deeds[id])
}
