import { limits } from '@baton/protocol'
import { ByteBudget, type Cuttable, cuttable, render } from './byte-budget.ts'
import { closing, element, empty, escapedText, opening } from './xml.ts'

interface Team {
  id: string
  key: string
  name: string
}

interface IssueSubject {
  kind: 'issue'
  identifier: string
  url: string
  title: string
  description: string
  team: Team | null
  labels: string[]
  /** Title of its project. */
  project: string | null
  parent: { identifier: string; title: string } | null
}

interface ProjectSubject {
  kind: 'project'
  url: string
  title: string
  description: string
  teams: Team[]
  labels: string[]
}

interface ContextComment {
  id: string
  /** Id of the first comment of its thread, which can be its own. */
  rootId: string
  body: string
  /** Null if the account was deleted. */
  author: { id: string; name: string } | null
  createdAt: string
}

export interface ContextSource {
  subject: IssueSubject | ProjectSubject
  /** Comments on the issue or project, oldest first, without internal ones, including the triggering one. */
  comments: ContextComment[]
  /** The comment that mentioned the app, or null for a delegation. */
  triggerId: string | null
  workspaceGuidance: string
  /** Guidance of the issue's team, or of each covered team of a project. */
  teamGuidance: { teamId: string; teamKey: string; body: string }[]
  repositories: { repository: string }[]
}

interface PreviousComment {
  id: string
  body: string
  author: { id: string; name: string }
  created_at: string
}

type GuidanceRule = { origin: 'workspace'; body: string } | { origin: 'team'; team_id: string; body: string }

export interface SessionContext {
  previous_comments: PreviousComment[]
  guidance: GuidanceRule[]
  prompt_context: string
}

/** The context that an agent gets with a new session. */
export function contextOf(source: ContextSource): SessionContext {
  const teamGuidance = source.teamGuidance.filter(hasText).toSorted((a, b) => (a.teamKey < b.teamKey ? -1 : 1))
  const workspaceGuidance = [{ body: source.workspaceGuidance }].filter(hasText)
  const { earlier, trigger } = split(source)
  return {
    previous_comments: earlier.slice(-limits.previousComments).map(previousComment),
    guidance: [
      ...workspaceGuidance.map(({ body }) => ({ origin: 'workspace' as const, body })),
      ...teamGuidance.map(({ teamId, body }) => ({ origin: 'team' as const, team_id: teamId, body })),
    ],
    prompt_context: promptContext({
      subject: source.subject,
      threads: threadsOf(earlier),
      trigger,
      rules: [
        ...workspaceGuidance.map(({ body }) => ruleTag({ origin: 'workspace' }, body)),
        ...teamGuidance.map(({ teamKey, body }) => ruleTag({ origin: 'team', team: teamKey }, body)),
      ],
      repositories: source.repositories,
    }),
  }
}

const hasText = ({ body }: { body: string }) => body.trim() !== ''

/** Comments after the triggering one, written while the session was being opened, are left out. */
function split({ comments, triggerId }: ContextSource) {
  if (triggerId === null) return { earlier: comments, trigger: null }
  const index = comments.findIndex(({ id }) => id === triggerId)
  const trigger = comments[index]
  if (!trigger) throw new Error(`the triggering comment ${triggerId} is not among the comments`)
  return { earlier: comments.slice(0, index), trigger }
}

/** context.previous-comments-shape requires an author with id and name, also for a deleted account. */
const authorOf = ({ author }: ContextComment) => author ?? { id: '', name: 'Unknown' }

const previousComment = (comment: ContextComment): PreviousComment => ({
  id: comment.id,
  body: comment.body,
  author: { id: authorOf(comment).id, name: authorOf(comment).name },
  created_at: comment.createdAt,
})

/** Threads by the id of their first comment, in the order of their first occurrence. */
function threadsOf(comments: ContextComment[]) {
  const threads = new Map<string, ContextComment[]>()
  for (const comment of comments) {
    const thread = threads.get(comment.rootId)
    if (thread) thread.push(comment)
    else threads.set(comment.rootId, [comment])
  }
  return threads
}

/** A request cut to this length is still useful, so hints, labels and teams are dropped before it is cut further. */
const minTriggerBytes = 16 * 1024

interface Content {
  subject: ContextSource['subject']
  /** Without the triggering comment. */
  threads: Map<string, ContextComment[]>
  trigger: ContextComment | null
  rules: Cuttable[]
  repositories: ContextSource['repositories']
}

/**
 * The same context as XML, within 64 KB (context.prompt-context-max-64kb). If it is too long, these are cut in order: the
 * oldest other threads, the end of the description, the oldest comments of the primary thread, the end of the guidance
 * (context.last-cuts), the workspace's first because the team's takes precedence. That is nearly always enough. If not:
 * the end of the triggering comment, then hints, labels, teams and whole rules. Parts are added in the reverse order.
 */
function promptContext({ subject, threads, trigger, rules, repositories }: Content): string {
  const budget = new ByteBudget(limits.promptContextBytes)
  const { head, description, tail } = subjectTags(subject)
  const primary = trigger && primaryTags(trigger)
  const guidance = rules.length > 0 ? { opening: opening('guidance'), closing: closing('guidance') } : null
  budget.addRequired([...head, render(description), ...tail])
  if (primary) budget.addRequired([primary.opening, render(primary.directive), primary.closing])
  if (guidance) budget.addRequired([guidance.opening, guidance.closing])

  const keptRules = rules.slice(rules.length - budget.addBlocks(rules.toReversed(), render).length)
  const teams = budget.addBlocks(teamsOf(subject), ({ name }) => element('team', name))
  const labels = budget.addBlocks(subject.labels, (label) => element('label', label))
  const hints = budget.addBlocks(repositories, ({ repository }) => empty('repository-hint', { repository }))
  if (primary) budget.extend(primary.directive)
  for (const rule of keptRules.toReversed()) budget.extend(rule)
  const before = trigger ? (threads.get(trigger.rootId) ?? []) : []
  const primaryComments = budget.addBlocks(before.toReversed(), commentTag).toReversed()
  budget.extend(description)
  const others = [...threads].filter(([rootId]) => rootId !== trigger?.rootId)
  const otherThreads = budget.addBlocks(others.toReversed(), threadTag).toReversed()

  return [
    ...[...head, render(description), ...teams, ...labels, ...tail],
    ...(primary ? [primary.opening, ...primaryComments, render(primary.directive), primary.closing] : []),
    ...otherThreads,
    ...(guidance ? [guidance.opening, ...keptRules.map(render), guidance.closing] : []),
    ...hints,
  ].join('\n')
}

const teamsOf = (subject: ContextSource['subject']) =>
  subject.kind === 'project' ? subject.teams : subject.team ? [subject.team] : []

/** Teams and labels go between description and tail. */
function subjectTags(subject: ContextSource['subject']) {
  const { kind, url, title } = subject
  const description = cuttable(opening('description'), escapedText(subject.description), closing('description'))
  const head = (attributes: Record<string, string>) => [opening(kind, attributes), element('title', title)]
  if (subject.kind === 'project') return { head: head({ url }), description, tail: [closing(kind)] }
  const { identifier, project, parent } = subject
  const tail = [
    ...(project === null ? [] : [element('project', project)]),
    ...(parent === null ? [] : [element('parent-issue', `${parent.identifier} ${parent.title}`)]),
    closing(kind),
  ]
  return { head: head({ identifier, url }), description, tail }
}

const commentOpening = (comment: ContextComment) =>
  opening('comment', { author: authorOf(comment).name, 'created-at': comment.createdAt })

const commentTag = (comment: ContextComment) => commentOpening(comment) + escapedText(comment.body) + closing('comment')

const primaryTags = (trigger: ContextComment) => ({
  opening: opening('primary-directive-thread', { 'comment-id': trigger.rootId }),
  directive: cuttable(commentOpening(trigger), escapedText(trigger.body), closing('comment'), minTriggerBytes),
  closing: closing('primary-directive-thread'),
})

function threadTag([rootId, comments]: [string, ContextComment[]], bytesLeft: number): string | null {
  // Escaping never shortens a text, so a thread that is too long unescaped does not fit.
  if (comments.reduce((sum, { body }) => sum + body.length, 0) > bytesLeft) return null
  return [opening('other-thread', { 'comment-id': rootId }), ...comments.map(commentTag), closing('other-thread')].join(
    '\n',
  )
}

const ruleTag = (attributes: { origin: 'workspace' } | { origin: 'team'; team: string }, body: string) =>
  cuttable(opening('guidance-rule', attributes), escapedText(body), closing('guidance-rule'))
