import type { AgentActivity, NewActivity, PlanItem, SessionState } from '@baton/protocol'

// What Scout says, decided from its session alone: a process that is restarted, or another one, continues where the last
// one ended. Pure.

export interface Step {
  /** Names the step within the session, so that two processes that take it post it once. */
  key: string
  /** How long after the previous step. */
  afterMs: number
  plan?: PlanItem[]
  activity: NewActivity & { content: Record<string, unknown> }
}

/** The part of a session that decides about the next step. */
export interface Progress {
  state: SessionState
  /** In their order, without ephemeral ones. */
  activities: readonly Pick<AgentActivity, 'seq' | 'type' | 'content' | 'signal_metadata' | 'author'>[]
}

export const thought = (body: string) => ({ content: { type: 'thought' as const, body } })
export const action = (name: string, parameter: string, result: string) => ({
  content: { type: 'action' as const, action: name, parameter, result },
})
export const response = (body: string) => ({ content: { type: 'response' as const, body } })
export const failure = (body: string, reason_code: string) => ({
  content: { type: 'error' as const, body, reason_code },
})
export const question = (body: string, options: readonly { value: string; label: string; description?: string }[]) => ({
  content: { type: 'elicitation' as const, body },
  signal: 'select' as const,
  signal_metadata: { options },
})

/** A plan of which the first `done` items are completed and the next one is in progress. */
export const planOf = (items: readonly string[], done: number): PlanItem[] =>
  items.map((content, index) => ({
    content,
    status: index < done ? 'completed' : index === done ? 'inProgress' : 'pending',
  }))

const stepMs = 4_000

const plan = ['Read the issue and its comments', 'Find where it happens', 'Agree on the size of the change', 'Report']

const choices = [
  { value: 'smallest', label: 'Smallest change', description: 'Only what the issue describes.' },
  { value: 'tested', label: 'Change with a test', description: 'The same, and a test that fails without it.' },
  { value: 'describe', label: 'Only describe it', description: 'No change; I write down what I found.' },
]

const results: Record<string, string> = {
  smallest: 'I kept to the smallest change: one condition in one file.',
  tested: 'The change has a test that fails without it and passes with it.',
  describe: 'I changed nothing. The cause is one missing condition, and the fix is a single line.',
  fix: 'New invoices to Austria show 10 %. The 212 old ones are unchanged.',
  list: 'New invoices to Austria show 10 %, and the list of the 212 old ones is ready for the accountant.',
  wait: 'I changed nothing, and noted that the accountant decides first.',
}

/** The steps up to the question. */
const research = [
  { done: 0, activity: thought('I read the issue and its comments first.') },
  { done: 1, activity: action('Searched the code', 'words of the title', 'Three files mention it.') },
  { done: 1, activity: action('Read', 'the file that changed last', 'One condition does not cover this case.') },
  { done: 1, activity: action('Ran the tests', 'of that folder', '41 passed. None covers this case.') },
  { done: 2, activity: question('I found the cause. How far should I go?', choices) },
]

/**
 * Scout's next step in a session that a person opened; null while it waits for a person or has finished. It researches
 * and asks; with the reply it reports; after that it answers each message.
 */
export function nextStep({ state, activities }: Progress): Step | null {
  const last = activities.at(-1)?.seq ?? 0
  if (state === 'stopping') return { key: 'stop', afterMs: 0, activity: response('Stopped. I made no further change.') }
  if (state !== 'pending' && state !== 'active') return null
  const promptAt = activities.findLastIndex(({ author }) => author.kind !== 'app')
  const before = activities.slice(0, promptAt + 1)
  const done = activities.length - before.length
  const key = (name: string) => `${before.at(-1)?.seq ?? 0}:${name}:${done}`
  const lastWord = before.findLast(({ type }) => ['elicitation', 'response', 'error'].includes(type))
  if (lastWord?.type === 'response') {
    const activity = response('Thanks, I added this to my notes. Delegate the issue to me again if more has to change.')
    return { key: key('talk'), afterMs: stepMs, activity }
  }
  if (lastWord?.type !== 'elicitation') {
    const step = research[done]
    return step
      ? {
          key: key('research'),
          afterMs: last === 0 ? 0 : stepMs,
          plan: planOf(plan, step.done),
          activity: step.activity,
        }
      : null
  }
  if (done === 0) {
    const activity = action('Applied the answer', 'on a branch of its own', 'All tests pass.')
    return { key: key('report'), afterMs: stepMs, plan: planOf(plan, 3), activity }
  }
  return { key: key('report'), afterMs: stepMs, plan: planOf(plan, 4), activity: response(reportOn(before.at(-1))) }
}

/** Never quotes free text of the reply: it could contain mentions. */
function reportOn(reply: Progress['activities'][number] | undefined) {
  const selected = (reply?.signal_metadata as { selected?: string[] } | null | undefined)?.selected?.[0]
  const result = results[selected ?? ''] ?? 'I followed your answer, and the tests of that folder pass.'
  return `Done. ${result}\n\nThe demo has no repository, so there is nothing to merge.`
}

export const showPlan = [
  'Read the issue and the billing job',
  'Reproduce it with a paused subscription',
  'Find every query that selects subscriptions to charge',
  'Skip paused subscriptions in the nightly job',
  'Place a test order before, during and after a pause',
  'Check the monthly report',
  'Write down what changed',
]

/** The show: the session that works while a viewer watches. `done` is the number of completed items of the plan. */
export const showSteps: { done: number; activity: Step['activity'] }[] = [
  { done: 0, activity: thought('The nightly job charges every subscription that is not canceled. I start there.') },
  { done: 1, activity: action('Ran the job', 'with a subscription paused yesterday', 'It is charged: 18.90 EUR.') },
  { done: 2, activity: action('Searched the code', "status <> 'canceled'", 'Four queries, two of them in the job.') },
  { done: 3, activity: thought('Two of the four only count. The other two select what is charged.') },
  {
    done: 3,
    activity: action(
      'Edited',
      'billing/nightly.ts',
      'Both queries now skip subscriptions that are paused on that day.',
    ),
  },
  { done: 4, activity: action('Placed a test order', 'before the pause', 'Charged once, as expected.') },
  { done: 4, activity: action('Placed a test order', 'during the pause', 'Not charged.') },
  { done: 4, activity: thought('The last day of a pause belongs to the pause. I check the day after it.') },
  { done: 5, activity: action('Placed a test order', 'on the day after', 'Charged once.') },
  { done: 6, activity: action('Ran the monthly report', 'for the last three months', 'The totals did not change.') },
  {
    done: 7,
    activity: response(
      'The nightly job skips paused subscriptions. **Three** test orders show it: before, during and after a pause.\n\nChanged: `billing/nightly.ts`.',
    ),
  },
]

/** Steps that the demo has posted when it is first opened: the plan is then at 3 of 7. */
export const showStepsAtStart = 4

/** 5 to 15 seconds, and not the same each time. */
const showPaceMs = (index: number) => 6_000 + ((index * 5) % 8) * 1_000

/** The next step of the show. A message of a person is acknowledged in place of the words of the next step. */
export function nextShowStep({ state, activities }: Progress): Step | null {
  if (state === 'stopping') return nextStep({ state, activities })
  const index = activities.filter(({ author }) => author.kind === 'app').length
  const step = showSteps[index]
  if (!step || ['complete', 'error', 'awaitingInput'].includes(state)) return null
  const isAddressed = activities.at(-1)?.author.kind !== 'app' && activities.length > 0
  const isLast = index === showSteps.length - 1
  const activity = isAddressed && !isLast ? thought('I read your message and take it into account.') : step.activity
  return { key: `show:${index}`, afterMs: showPaceMs(index), plan: planOf(showPlan, step.done), activity }
}
