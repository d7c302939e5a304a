import type { Issue } from '@baton/protocol'

type Facts = Pick<Issue, 'type' | 'title' | 'description' | 'priority' | 'due_date' | 'milestone_id' | 'cycle_id'>

interface Fact {
  /** What whoever works on it will ask. */
  ask: string
  known: RegExp
}

const steps: Fact = {
  ask: '**Steps**: what does one do, from which page, for it to happen?',
  known: /\bsteps?\b|\breproduc|\brepro\b|^\s*1[.)]\s|\bhow to (see|trigger)\b/im,
}
const expected: Fact = {
  ask: '**Expected and seen**: what should happen, and what happens instead?',
  known: /\bexpect|\bshould\b|\binstead\b|\bactual|\bseen:|\bmust\b|\bought to\b/i,
}
const environment: Fact = {
  ask: '**Version or environment**: which version, on which device or browser, since when?',
  known:
    /\bv?\d+\.\d+|\bversion\b|\b(android|ios|iphone|ipad|pixel|chrome|firefox|safari|edge|outlook|windows|mac(os)?|linux|voiceover|staging|production)\b|\bbuild \d|\bsince (the|last|yesterday|monday|tuesday|wednesday|thursday|friday|release)\b/i,
}
const acceptance: Fact = {
  ask: '**Acceptance**: how can somebody tell that it is finished?',
  known: /\baccept|\bcriteria\b|\bdone when\b|\bfinished when\b|\bgiven\b.+\bwhen\b.+\bthen\b|^\s*[-*] \[[ x]\]/ims,
}
const audience: Fact = {
  ask: '**Who for**: who asked for it, and what will they do with it?',
  known:
    /\bas (an?|the|somebody|someone)\b|\b(customer|user|people|person|visitor|support|admin|manager|accountant|team|agent)s?\b/i,
}
/** A task says in its title what is to be done; a few more words say what for. */
const outcome: Fact = {
  ask: '**Outcome**: what is there when it is done?',
  known: /\S.{30}|\bdone when\b|\bso that\b/is,
}

/** A time that the text names. */
const deadline =
  /\b(?:by|until|before|after|no later than)\s+(?:the end of\s+|end of\s+)?(?:january|february|march|april|may|june|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday|q[1-4]|\d{4}-\d\d-\d\d)\b/i

const byType: Record<Issue['type'], Fact[]> = {
  bug: [steps, expected, environment],
  feature: [audience, acceptance],
  story: [audience, acceptance],
  task: [outcome],
}

const urgent: Issue['priority'][] = ['urgent', 'high']

/**
 * What an issue lacks for somebody to begin, by its type. What people wrote in its comments counts as said. Judged by
 * headings and plain patterns: it may overlook a fact that is put in another way, so it asks and never insists.
 */
export function missingFacts(issue: Facts, said: readonly string[]): string[] {
  const text = [issue.title, issue.description, ...said].join('\n')
  const body = [issue.description, ...said].join('\n')
  const described = issue.description.trim().length > 0 || said.length > 0
  const facts = byType[issue.type].filter((fact) => !fact.known.test(fact === outcome ? body : text))
  const asks = facts.map(({ ask }) => ask)
  if (
    issue.type === 'task' &&
    urgent.includes(issue.priority) &&
    !issue.due_date &&
    !issue.milestone_id &&
    !issue.cycle_id
  )
    asks.push(`**By when**: it is ${issue.priority}, and has no date, milestone or cycle.`)
  if (issue.type === 'bug' && issue.priority === 'no_priority') asks.push('**Priority**: how bad is it, for how many?')
  const named = issue.due_date ? null : deadline.exec(`${issue.title}\n${issue.description}`)
  if (named) asks.push(`**Due date**: the text says “${named[0]}”, and none is set.`)
  return described ? asks : ['**A description**: the title is all there is.', ...asks]
}
