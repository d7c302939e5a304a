import type { AgentActivity, AgentSession, SelectMetadata } from '@baton/protocol'

/** What stands in a session's conversation: something said, and to a question the answer it got. */
export interface Entry {
  activity: AgentActivity
  answer: AgentActivity | null
  /** The question that waits for a person. */
  open: boolean
}

export const isReplaced = ({ superseded_by_seq }: AgentActivity) => superseded_by_seq !== null

const isAnswer = ({ type, signal }: AgentActivity) => type === 'prompt' && signal !== 'stop'

/** What a question was answered with: what names it, else what a person said right after it. */
function answerTo(question: AgentActivity, next: AgentActivity | undefined, named: Map<string, AgentActivity>) {
  return named.get(question.id) ?? (next && isAnswer(next) && !next.signal_metadata ? next : null)
}

/** In the order in which it was said; answers stand with their questions. */
export function conversationOf(session: AgentSession, activities: AgentActivity[]): Entry[] {
  const named = new Map<string, AgentActivity>()
  for (const activity of activities) {
    const to = activity.type === 'prompt' ? activity.signal_metadata?.in_reply_to : null
    if (typeof to === 'string' && !named.has(to)) named.set(to, activity)
  }
  const question = openQuestion(session, activities)
  const taken = new Set<AgentActivity>()
  const entries: Entry[] = []
  for (const [index, activity] of activities.entries()) {
    if (taken.has(activity)) continue
    const answer = activity.type === 'elicitation' ? answerTo(activity, activities[index + 1], named) : null
    // What was said after something else stays where it was said, too.
    if (answer && answer === activities[index + 1]) taken.add(answer)
    entries.push({ activity, answer, open: activity === question })
  }
  return entries
}

/** The question that waits for a person, if one does. */
export function openQuestion({ state }: AgentSession, activities: AgentActivity[]): AgentActivity | null {
  if (state !== 'awaitingInput') return null
  const last = activities.at(-1)
  return last?.type === 'elicitation' ? last : null
}

/** A choice that the agent left open when it answered: whoever takes it begins the session anew. */
export function standingChoice({ state, ended_at }: AgentSession, activities: AgentActivity[]): AgentActivity | null {
  if (state !== 'complete' || ended_at) return null
  const last = activities.findLast(({ type }) => type === 'elicitation' || type === 'prompt')
  return last?.type === 'elicitation' && choicesOf(last) ? last : null
}

/** The text of what was said; an action has none. */
export const bodyOf = ({ content }: AgentActivity) => ('body' in content ? content.body : '')

/** When the person asked whose asking the agent works on, or worked on last. */
export function askedAt({ created_at }: AgentSession, activities: AgentActivity[]): string {
  const again = activities.findLast(
    (activity, index) => isAnswer(activity) && /^(response|error)$/.test(activities[index - 1]?.type ?? ''),
  )
  return again?.created_at ?? created_at
}

export type Choice = SelectMetadata['options'][number]

/** What a `select` offers. What comes from an agent is looked at before it is believed. */
export function choicesOf({ signal, signal_metadata }: AgentActivity): { options: Choice[]; several: boolean } | null {
  if (signal !== 'select' || !Array.isArray(signal_metadata?.options)) return null
  return { options: signal_metadata.options as Choice[], several: signal_metadata.allow_multiple === true }
}

/** Where an `auth` leads: https and nothing else. */
export function connectionOf({ signal, signal_metadata }: AgentActivity) {
  const address = signal === 'auth' ? String(signal_metadata?.url ?? '') : ''
  if (!URL.canParse(address)) return null
  const url = new URL(address)
  if (url.protocol !== 'https:') return null
  const text = (value: unknown) => (typeof value === 'string' ? value : null)
  return { url, provider: text(signal_metadata?.provider_name), userId: text(signal_metadata?.user_id) }
}

export const labelOf = ({ value, label }: Choice) => label ?? value
