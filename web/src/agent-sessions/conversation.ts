import type { AgentActivity, AgentSession, SelectMetadata } from '@baton/protocol'

/** An activity of the conversation; a question comes with its answer. */
export interface Entry {
  activity: AgentActivity
  answer: AgentActivity | null
  /** Whether this question still waits for an answer. */
  open: boolean
}

export const isReplaced = ({ superseded_by_seq }: AgentActivity) => superseded_by_seq !== null

const isAnswer = ({ type, signal }: AgentActivity) => type === 'prompt' && signal !== 'stop'

/** The prompt that refers to the question, or else the prompt right after it. */
function answerTo(question: AgentActivity, next: AgentActivity | undefined, named: Map<string, AgentActivity>) {
  return named.get(question.id) ?? (next && isAnswer(next) && !next.signal_metadata ? next : null)
}

/** Activities in order, with answers attached to their questions. */
export function conversationOf(session: AgentSession, activities: AgentActivity[]): Entry[] {
  const named = new Map<string, AgentActivity>()
  for (const activity of activities) {
    const to = activity.type === 'prompt' ? activity.signal_metadata?.in_reply_to : null
    if (typeof to === 'string' && !named.has(to)) named.set(to, activity)
  }
  const question = openQuestion(session, activities)
  const attached = new Set<AgentActivity>()
  const entries: Entry[] = []
  for (const [index, activity] of activities.entries()) {
    if (attached.has(activity)) continue
    const answer = activity.type === 'elicitation' ? answerTo(activity, activities[index + 1], named) : null
    // A later answer also stays in the list at its own position.
    if (answer && answer === activities[index + 1]) attached.add(answer)
    entries.push({ activity, answer, open: activity === question })
  }
  return entries
}

const isAgentsWord = ({ activity: { type } }: Entry) => /^(response|error|elicitation)$/.test(type)

/**
 * What a folded session shows: the answer before a person's last message, that message, the answers and questions since,
 * and the latest activity.
 */
export function latestExchange(entries: readonly Entry[]): Entry[] {
  const said = entries.filter(({ activity }) => activity.signal !== 'stop')
  const last = said.at(-1)
  if (!last) return []
  const at = said.findLastIndex(({ activity, answer }) => isAnswer(activity) || answer !== null)
  const message = said[at]
  // An answered question contains both.
  const before = message?.answer ? undefined : said.slice(0, Math.max(at, 0)).findLast(isAgentsWord)
  return [...new Set([before, message, ...said.slice(at + 1).filter(isAgentsWord), last])].filter(
    (entry) => entry !== undefined,
  )
}

/** The question that waits for an answer, if any. */
export function openQuestion({ state }: AgentSession, activities: AgentActivity[]): AgentActivity | null {
  if (state !== 'awaitingInput') return null
  const last = activities.at(-1)
  return last?.type === 'elicitation' ? last : null
}

/** A choice the agent left open when it completed; choosing restarts the session. */
export function remainingChoice({ state, ended_at }: AgentSession, activities: AgentActivity[]): AgentActivity | null {
  if (state !== 'complete' || ended_at) return null
  const last = activities.findLast(({ type }) => type === 'elicitation' || type === 'prompt')
  return last?.type === 'elicitation' && choicesOf(last) ? last : null
}

/** The text of an activity; an action has none. */
export const bodyOf = ({ content }: AgentActivity) => ('body' in content ? content.body : '')

/** Time of the request that the agent works on, or worked on last. */
export function askedAt({ created_at }: AgentSession, activities: AgentActivity[]): string {
  const again = activities.findLast(
    (activity, index) => isAnswer(activity) && /^(response|error)$/.test(activities[index - 1]?.type ?? ''),
  )
  return again?.created_at ?? created_at
}

export type Choice = SelectMetadata['options'][number]

/** The options of a `select`. Agent input is validated before use. */
export function choicesOf({ signal, signal_metadata }: AgentActivity): { options: Choice[]; multiple: boolean } | null {
  if (signal !== 'select' || !Array.isArray(signal_metadata?.options)) return null
  return { options: signal_metadata.options as Choice[], multiple: signal_metadata.allow_multiple === true }
}

/** The link of an `auth` signal; https only. */
export function connectionOf({ signal, signal_metadata }: AgentActivity) {
  const link = signal === 'auth' ? String(signal_metadata?.url ?? '') : ''
  if (!URL.canParse(link)) return null
  const url = new URL(link)
  if (url.protocol !== 'https:') return null
  const text = (value: unknown) => (typeof value === 'string' ? value : null)
  return { url, provider: text(signal_metadata?.provider_name), userId: text(signal_metadata?.user_id) }
}

export const labelOf = ({ value, label }: Choice) => label ?? value
