import type { AgentActivity, Issue, PlanItem } from '@baton/protocol'
import type { Context } from '../../context.ts'
import { ApiError } from '../../http/errors.ts'
import type { AgentSessionApi, Option } from '../agent-session-api.ts'
import type { AgentStrategy } from '../agent-strategy.ts'
import type { Work } from '../work.ts'
import { describeSuggestions, suggestFields } from './agreement.ts'
import { duplicateOptions, duplicateQuestion, type Findings, formatFindings, notDuplicate } from './answer.ts'
import { missingFacts } from './missing-facts.ts'
import { projectSummary } from './project.ts'
import { lastActivityAt, readComments, readIssue, readLinkedDuplicates, readRelations } from './read.ts'
import { countOf, issueLink, relationNotes, statusLabel } from './relations.ts'
import { findSimilarIssues } from './similar-issues.ts'

const duplicatesShown = 3
const relatedShown = 3

/** The built-in agent without a model: it reviews an issue or project, answers, and links duplicates on request. */
export const builtInStrategy = (ctx: Context): AgentStrategy => ({
  async work(work, session) {
    const review = () =>
      work.issueId ? reviewIssue(ctx, work, session, work.issueId) : reviewProject(ctx, work, session)
    if (work.cause.kind !== 'message') return review()
    const intent = readIntent(work.cause.message)
    if (intent.kind === 'review') return review()
    if (intent.kind === 'link' && work.issueId) return link(session, work.issueId, intent.key)
    if (intent.kind === 'other' && (await repeatQuestion(session))) return
    await session.respond(
      intent.kind === 'not a duplicate'
        ? "OK, I won't link it."
        : `I work by rules, without a language model, so I can't answer that. Write \`look\` and I'll check this ${work.issueId ? 'issue' : 'project'} again${work.issueId ? ", or `link` and an issue code, such as `link ENG-12`, and I'll link both issues as duplicates" : ''}.`,
    )
  },
})

type Intent = { kind: 'review' | 'not a duplicate' | 'other' } | { kind: 'link'; key: string }

/** Reads a person's intent from the option they selected, or from keywords in their text. */
export function readIntent({ content, signal_metadata }: Pick<AgentActivity, 'content' | 'signal_metadata'>): Intent {
  const selected = signal_metadata?.selected
  const chosen = Array.isArray(selected) ? String(selected[0]) : null
  if (chosen === notDuplicate) return { kind: 'not a duplicate' }
  if (chosen) return { kind: 'link', key: chosen }
  const text = 'body' in content ? String(content.body) : ''
  const [, key] = /\b(?:link|duplicate of|same as)\b\W{0,3}([a-z][a-z0-9]{0,5}-\d+)/i.exec(text) ?? []
  if (/\bnot\b.{0,20}\b(duplicate|same)\b/i.test(text)) return { kind: 'not a duplicate' }
  if (key) return { kind: 'link', key: key.toUpperCase() }
  return { kind: /\b(again|look|check|retry|re-?run)\b/i.test(text) ? 'review' : 'other' }
}

const notUnderstood = "I didn't understand that. "

/** Asks an open question again, once: the person may have meant to answer it. Returns whether it did. */
async function repeatQuestion(session: AgentSessionApi): Promise<boolean> {
  for await (const { content, signal, signal_metadata } of session.earlierMessages()) {
    if (content.type !== 'elicitation' || signal !== 'select' || content.body.startsWith(notUnderstood)) return false
    await session.ask(notUnderstood + content.body, signal_metadata?.options as Option[])
    return true
  }
  return false
}

/** Runs the steps in order and shows them as the session's plan. */
async function runPlan(session: AgentSessionApi, steps: [content: string, step: () => Promise<void>][]) {
  const plan = (done: number): PlanItem[] =>
    steps.map(([content], index) => ({
      content,
      status: index < done ? 'completed' : index === done ? 'inProgress' : 'pending',
    }))
  for (const [index, [, step]] of steps.entries()) {
    await session.plan(plan(index))
    await step()
  }
  await session.plan(plan(steps.length))
}

async function reviewIssue(ctx: Context, work: Work, session: AgentSessionApi, issueId: string) {
  const issue = await readIssue(session, issueId)
  const comments = (await readComments(session, issueId)).filter(
    ({ id, author_id }) => id !== work.commentId && author_id !== work.agent.id,
  )
  const found: Findings = { duplicates: [], related: [], missing: [], notes: [] }
  /** Related issues are not reported again as similar. */
  const known = new Set<string>()
  await runPlan(session, [
    [
      'Read the issue and its discussion',
      () => session.action('read', 'Read', issue.code, countOf(comments.length, 'comment')),
    ],
    [
      'Check its relations',
      async () => {
        const caller = await session.caller()
        const { blockers, blocked, children, parent, ...rest } = await readRelations(ctx, caller, issue)
        const linked = await readLinkedDuplicates(ctx, caller, issue)
        for (const { id } of [...blockers, ...blocked, ...children, ...(parent ? [parent] : []), ...linked])
          known.add(id)
        const activeAt = await lastActivityAt(session, issue, comments)
        found.notes = [
          ...(linked.length > 0 ? [`Linked as a duplicate: ${linked.map(issueLink).join(', ')}.`] : []),
          ...relationNotes({ ...rest, blockers, blocked, children, parent }, activeAt, ctx.clock.now()),
        ]
        await session.action('relations', 'Checked', 'relations', countOf(known.size, 'related issue'))
      },
    ],
    [
      'Search for duplicates',
      async () => {
        const { compared, matches, similar } = await findSimilarIssues(ctx, await session.caller(), issue)
        const suggestions = suggestFields(issue, similar)
        if (suggestions.length > 0) await session.suggest('suggestions', suggestions)
        found.suggested = describeSuggestions(suggestions, similar)
        const unknown = matches.filter(({ id }) => !known.has(id))
        found.duplicates = unknown.filter(({ kind }) => kind === 'duplicate').slice(0, duplicatesShown)
        found.related = unknown.filter(({ kind }) => kind === 'related').slice(0, relatedShown)
        const result = `${countOf(compared, 'issue')} compared, ${countOf(found.duplicates.length, 'likely duplicate')}`
        await session.action('duplicates', 'Searched', 'likely duplicates', result)
      },
    ],
    [
      'Check for missing facts',
      async () => {
        found.missing = missingFacts(
          issue,
          comments.map(({ text }) => text),
        )
        await session.action(
          'facts',
          'Checked',
          `facts needed for a ${issue.type}`,
          countOf(found.missing.length, 'missing fact'),
        )
      },
    ],
  ])
  await session.respond(formatFindings(found))
  // After the answer, so that the session waits for the person.
  if (found.duplicates.length > 0)
    await session.ask(duplicateQuestion(found.duplicates), duplicateOptions(found.duplicates))
}

/** Comments on both issues with a link to the other. Closes neither: only people close issues. */
async function link(session: AgentSessionApi, issueId: string, key: string) {
  const issue = await readIssue(session, issueId)
  let other: Issue
  try {
    other = await readIssue(session, key)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return session.respond(`I can't find ${key}, or I don't have access to it.`)
  }
  if (other.id === issue.id) return session.respond('That is this issue. Name another one to link.')
  await session.comment(
    { type: 'issue', id: issue.id },
    `Duplicate of ${issueLink(other)} (${statusLabel(other.status)}).`,
  )
  await session.action('linked here', 'Commented', issue.code, `Duplicate of ${other.code}`)
  await session.comment({ type: 'issue', id: other.id }, `${issueLink(issue)} is a duplicate of this issue.`)
  await session.action('linked there', 'Commented', other.code, `${issue.code} is a duplicate`)
  await session.respond(`I linked both issues: this is a duplicate of ${issueLink(other)}. Closing one is up to you.`)
}

async function reviewProject(ctx: Context, work: Work, session: AgentSessionApi) {
  const projectId = work.projectId as string
  let summary = { count: 0, text: '' }
  await runPlan(session, [
    [
      'Read the project and its issues',
      async () => {
        summary = await projectSummary(ctx, session, projectId)
        await session.action('read', 'Read', 'issues of the project', countOf(summary.count, 'issue'))
      },
    ],
  ])
  await session.respond(summary.text)
}
