import type { Issue } from '@baton/protocol'

type Facts = Pick<Issue, 'type' | 'title' | 'description' | 'priority' | 'due_date' | 'milestone_id' | 'cycle_id'>

interface Fact {
  question: string
  /** Matches a text that contains the fact. */
  known: RegExp
}

const steps: Fact = {
  question: '**Steps**: how can it be reproduced, and on which page?',
  known: /\bsteps?\b|\breproduc|\brepro\b|^\s*1[.)]\s|\bhow to (see|trigger)\b/im,
}
const expected: Fact = {
  question: '**Expected and actual result**: what should happen, and what happens instead?',
  known: /\bexpect|\bshould\b|\binstead\b|\bactual|\bseen:|\bmust\b|\bought to\b/i,
}
const environment: Fact = {
  question: '**Version or environment**: which version, on which device or browser, and since when?',
  known:
    /\bv?\d+\.\d+|\bversion\b|\b(android|ios|iphone|ipad|pixel|chrome|firefox|safari|edge|outlook|windows|mac(os)?|linux|voiceover|staging|production)\b|\bbuild \d|\bsince (the|last|yesterday|monday|tuesday|wednesday|thursday|friday|release)\b/i,
}
const acceptance: Fact = {
  question: '**Acceptance criteria**: how can we tell that it is done?',
  known: /\baccept|\bcriteria\b|\bdone when\b|\bfinished when\b|\bgiven\b.+\bwhen\b.+\bthen\b|^\s*[-*] \[[ x]\]/ims,
}
const audience: Fact = {
  question: '**Audience**: who needs it, and what will they use it for?',
  known:
    /\bas (an?|the|some(?:body|one))\b|\b(customer|user|people|person|visitor|support|admin|manager|accountant|team|agent)s?\b/i,
}
/** Searched only outside the title, because the title of a task describes the work and not its outcome. */
const outcome: Fact = {
  question: '**Outcome**: what should be in place when it is done?',
  known: /\S.{30}|\bdone when\b|\bso that\b/is,
}

/** A point in time that the text names. */
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
 * Questions about the facts that an issue of this type needs and neither its text nor its comments contain. The search
 * is by plain patterns and can miss a fact in other words, so the result is phrased as questions.
 */
export function missingFacts(issue: Facts, comments: readonly string[]): string[] {
  const text = [issue.title, issue.description, ...comments].join('\n')
  const body = [issue.description, ...comments].join('\n')
  const described = issue.description.trim().length > 0 || comments.length > 0
  const facts = byType[issue.type].filter((fact) => !fact.known.test(fact === outcome ? body : text))
  const questions = facts.map(({ question }) => question)
  if (
    issue.type === 'task' &&
    urgent.includes(issue.priority) &&
    !issue.due_date &&
    !issue.milestone_id &&
    !issue.cycle_id
  )
    questions.push(`**Deadline**: the priority is ${issue.priority}, but it has no due date, milestone or cycle.`)
  if (issue.type === 'bug' && issue.priority === 'no_priority')
    questions.push('**Priority**: how severe is it, and how many people does it affect?')
  const named = issue.due_date ? null : deadline.exec(`${issue.title}\n${issue.description}`)
  if (named) questions.push(`**Due date**: the text says “${named[0]}”, but no due date is set.`)
  return described ? questions : ['**Description**: there is only a title.', ...questions]
}
