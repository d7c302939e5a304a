import type { AgentActivity, Issue, PlanItem } from '@baton/protocol'
import type { Context } from '../../context.ts'
import { ApiError } from '../../http/errors.ts'
import type { Hands, Mind, Work } from '../mind.ts'
import { answerOf, choicesOf, type Findings, notDuplicate, questionOf } from './answer.ts'
import { findAlike, lastTouched, readIssue, readSurroundings, readThreads } from './look.ts'
import { missingFacts } from './missing.ts'
import { projectSummary } from './project.ts'
import { counted, linked, relationNotes, statusWords } from './relations.ts'

const duplicatesShown = 3
const relatedShown = 3

/** The built-in agent by rules alone: it looks, says what it found, and notes on issues what people tell it to. */
export const builtInMind = (ctx: Context): Mind => ({
  async work(work, hands) {
    const look = () => (work.issueId ? lookAtIssue(ctx, work, hands, work.issueId) : lookAtProject(ctx, work, hands))
    if (work.cause.kind !== 'message') return look()
    const wish = wishOf(work.cause.message)
    if (wish.kind === 'look') return look()
    if (wish.kind === 'link' && work.issueId) return link(hands, work.issueId, wish.key)
    await hands.respond(
      wish.kind === 'not a duplicate'
        ? 'Good, then I leave it as it is.'
        : `I work by rules, without a language model, so I cannot answer that. Write \`look\` and I look at this ${work.issueId ? 'issue' : 'project'} again${work.issueId ? ', or `link` and a code such as `link ENG-12` and I note a duplicate on both issues' : ''}.`,
    )
  },
})

type Wish = { kind: 'look' | 'not a duplicate' | 'other' } | { kind: 'link'; key: string }

/** What a person means, by what they chose or by plain words. */
export function wishOf({ content, signal_metadata }: Pick<AgentActivity, 'content' | 'signal_metadata'>): Wish {
  const selected = signal_metadata?.selected
  const chosen = Array.isArray(selected) ? String(selected[0]) : null
  if (chosen === notDuplicate) return { kind: 'not a duplicate' }
  if (chosen) return { kind: 'link', key: chosen }
  const text = 'body' in content ? String(content.body) : ''
  const [, key] = /\b(?:link|duplicate of|same as)\b\W{0,3}([a-z][a-z0-9]{0,5}-\d+)/i.exec(text) ?? []
  if (/\bnot\b.{0,20}\b(duplicate|same)\b/i.test(text)) return { kind: 'not a duplicate' }
  if (key) return { kind: 'link', key: key.toUpperCase() }
  return { kind: /\b(again|look|check|retry|re-?run)\b/i.test(text) ? 'look' : 'other' }
}

/** A plan whose steps are ticked one after the other. */
async function follow(hands: Hands, steps: [content: string, step: () => Promise<void>][]) {
  const plan = (done: number): PlanItem[] =>
    steps.map(([content], index) => ({
      content,
      status: index < done ? 'completed' : index === done ? 'inProgress' : 'pending',
    }))
  for (const [index, [, step]] of steps.entries()) {
    await hands.plan(plan(index))
    await step()
  }
  await hands.plan(plan(steps.length))
}

async function lookAtIssue(ctx: Context, work: Work, hands: Hands, issueId: string) {
  const issue = await readIssue(hands, issueId)
  const comments = (await readThreads(hands, 'issue', issueId)).filter(
    ({ id, author_id }) => id !== work.commentId && author_id !== work.agent.id,
  )
  const found: Findings = { duplicates: [], related: [], missing: [], notes: [] }
  /** What it is tied to already is no find. */
  const known = new Set<string>()
  await follow(hands, [
    [
      'Read the issue and its discussion',
      () => hands.action('read', 'Read', issue.code, counted(comments.length, 'comment')),
    ],
    [
      'See what it depends on',
      async () => {
        const { blockers, blocked, children, parent, ...rest } = await readSurroundings(
          ctx,
          await hands.caller(),
          issue,
        )
        for (const { id } of [...blockers, ...blocked, ...children, ...(parent ? [parent] : [])]) known.add(id)
        const touchedAt = await lastTouched(hands, issue, comments)
        found.notes = relationNotes({ ...rest, blockers, blocked, children, parent }, touchedAt, ctx.clock.now())
        await hands.action('relations', 'Checked', 'relations', counted(known.size, 'related issue'))
      },
    ],
    [
      'Search for duplicates',
      async () => {
        const { compared, matches } = await findAlike(ctx, await hands.caller(), issue)
        const fresh = matches.filter(({ id }) => !known.has(id))
        found.duplicates = fresh.filter(({ is }) => is === 'duplicate').slice(0, duplicatesShown)
        found.related = fresh.filter(({ is }) => is === 'related').slice(0, relatedShown)
        const result = `${counted(compared, 'issue')} compared, ${counted(found.duplicates.length, 'likely duplicate')}`
        await hands.action('duplicates', 'Searched', 'likely duplicates', result)
      },
    ],
    [
      'Look for missing facts',
      async () => {
        found.missing = missingFacts(
          issue,
          comments.map(({ text }) => text),
        )
        await hands.action(
          'facts',
          'Checked',
          `facts that a ${issue.type} needs`,
          counted(found.missing.length, 'missing fact'),
        )
      },
    ],
  ])
  if (found.duplicates.length > 0) await hands.ask(questionOf(found.duplicates), choicesOf(found.duplicates))
  await hands.respond(answerOf(found))
}

/** A comment on each of two issues that leads to the other. Neither is closed: that is for people. */
async function link(hands: Hands, issueId: string, key: string) {
  const issue = await readIssue(hands, issueId)
  let other: Issue
  try {
    other = await readIssue(hands, key)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return hands.respond(`I find no issue ${key} that I may read.`)
  }
  if (other.id === issue.id) return hands.respond('That is this issue itself.')
  await hands.comment(
    { type: 'issue', id: issue.id },
    `Duplicate of ${linked(other)}, which is ${statusWords(other.status)}.`,
  )
  await hands.action('linked here', 'Commented', issue.code, `Duplicate of ${other.code}`)
  await hands.comment({ type: 'issue', id: other.id }, `${linked(issue)} is a duplicate of this.`)
  await hands.action('linked there', 'Commented', other.code, `${issue.code} is a duplicate`)
  await hands.respond(`Noted on both: this is a duplicate of ${linked(other)}. Closing one of them is up to you.`)
}

async function lookAtProject(ctx: Context, work: Work, hands: Hands) {
  const projectId = work.projectId as string
  let summary = { count: 0, text: '' }
  await follow(hands, [
    [
      'Read the project and its issues',
      async () => {
        summary = await projectSummary(ctx, hands, projectId)
        await hands.action('read', 'Read', 'issues of the project', counted(summary.count, 'issue'))
      },
    ],
  ])
  await hands.respond(summary.text)
}
