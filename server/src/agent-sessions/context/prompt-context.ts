import { limits } from '@baton/protocol'
import { type Cuttable, cuttable, Room, written } from './room.ts'
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
  /** Its title. */
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
  /** The first comment of its thread; its own id if it is that one. */
  rootId: string
  body: string
  /** Null if the account is gone. */
  author: { id: string; name: string } | null
  createdAt: string
}

export interface ContextSource {
  subject: IssueSubject | ProjectSubject
  /** Of the issue or project, internal ones left out, oldest first, with the one that triggered. */
  comments: ContextComment[]
  /** The comment that mentioned the app, or null for a delegation. */
  triggerId: string | null
  workspaceGuidance: string
  /** Of the issue's team, or of each covered team of a project. */
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

/** What an app is told with a new session (2.11). */
export function contextOf(source: ContextSource): SessionContext {
  const teamGuidance = source.teamGuidance.filter(says).toSorted((a, b) => (a.teamKey < b.teamKey ? -1 : 1))
  const workspaceGuidance = [{ body: source.workspaceGuidance }].filter(says)
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

const says = ({ body }: { body: string }) => body.trim() !== ''

/** What came after the comment that triggered, while the session was being opened, is no part of what led to it. */
function split({ comments, triggerId }: ContextSource) {
  if (triggerId === null) return { earlier: comments, trigger: null }
  const index = comments.findIndex(({ id }) => id === triggerId)
  const trigger = comments[index]
  if (!trigger) throw new Error(`The comment that triggered, ${triggerId}, is not among the comments`)
  return { earlier: comments.slice(0, index), trigger }
}

/** 2.11 gives every comment an author with id and name: one whose account is gone has no id any more. */
const authorOf = ({ author }: ContextComment) => author ?? { id: '', name: 'Unknown' }

const previousComment = (comment: ContextComment): PreviousComment => ({
  id: comment.id,
  body: comment.body,
  author: { id: authorOf(comment).id, name: authorOf(comment).name },
  created_at: comment.createdAt,
})

/** By the id of their first comment, in the order of these. */
function threadsOf(comments: ContextComment[]) {
  const threads = new Map<string, ContextComment[]>()
  for (const comment of comments) {
    const thread = threads.get(comment.rootId)
    if (thread) thread.push(comment)
    else threads.set(comment.rootId, [comment])
  }
  return threads
}

/** A request cut to this is still a request, so labels, teams and hints by the hundred go before more of it does. */
const leastTriggerBytes = 16 * 1024

interface Content {
  subject: ContextSource['subject']
  /** Without the comment that triggered. */
  threads: Map<string, ContextComment[]>
  trigger: ContextComment | null
  rules: Cuttable[]
  repositories: ContextSource['repositories']
}

/**
 * The same context as XML, within 64 KB. When it is too long, it loses in this order: the oldest other threads, the end
 * of the description (2.11), the oldest comments of the primary thread, the end of the guidance (decisions 6), the
 * workspace's first because the team's wins. Nearly always that is enough. If not, the end of the comment that
 * triggered goes, then hints, labels, teams and whole rules. Room is asked for the other way round.
 */
function promptContext({ subject, threads, trigger, rules, repositories }: Content): string {
  const room = new Room(limits.promptContextBytes)
  const { head, description, tail } = subjectTags(subject)
  const primary = trigger && primaryTags(trigger)
  const guidance = rules.length > 0 ? { opening: opening('guidance'), closing: closing('guidance') } : null
  room.frame([...head, written(description), ...tail])
  if (primary) room.frame([primary.opening, written(primary.directive), primary.closing])
  if (guidance) room.frame([guidance.opening, guidance.closing])

  const keptRules = rules.slice(rules.length - room.blocks(rules.toReversed(), written).length)
  const teams = room.blocks(teamsOf(subject), ({ name }) => element('team', name))
  const labels = room.blocks(subject.labels, (label) => element('label', label))
  const hints = room.blocks(repositories, ({ repository }) => empty('repository-hint', { repository }))
  if (primary) room.stretch(primary.directive)
  for (const rule of keptRules.toReversed()) room.stretch(rule)
  const before = trigger ? (threads.get(trigger.rootId) ?? []) : []
  const primaryComments = room.blocks(before.toReversed(), commentTag).toReversed()
  room.stretch(description)
  const others = [...threads].filter(([rootId]) => rootId !== trigger?.rootId)
  const otherThreads = room.blocks(others.toReversed(), threadTag).toReversed()

  return [
    ...[...head, written(description), ...teams, ...labels, ...tail],
    ...(primary ? [primary.opening, ...primaryComments, written(primary.directive), primary.closing] : []),
    ...otherThreads,
    ...(guidance ? [guidance.opening, ...keptRules.map(written), guidance.closing] : []),
    ...hints,
  ].join('\n')
}

const teamsOf = (subject: ContextSource['subject']) =>
  subject.kind === 'project' ? subject.teams : subject.team ? [subject.team] : []

/** Teams and labels stand between description and tail. */
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
  directive: cuttable(commentOpening(trigger), escapedText(trigger.body), closing('comment'), leastTriggerBytes),
  closing: closing('primary-directive-thread'),
})

function threadTag([rootId, comments]: [string, ContextComment[]], roomBytes: number): string | null {
  // Escaping makes nothing shorter, so a thread that is too long as it stands need not be written to be left out.
  if (comments.reduce((sum, { body }) => sum + body.length, 0) > roomBytes) return null
  return [opening('other-thread', { 'comment-id': rootId }), ...comments.map(commentTag), closing('other-thread')].join(
    '\n',
  )
}

const ruleTag = (attributes: { origin: 'workspace' } | { origin: 'team'; team: string }, body: string) =>
  cuttable(opening('guidance-rule', attributes), escapedText(body), closing('guidance-rule'))
