import { Sessions } from './sessions.ts'
import {
  type Answer,
  type Comment,
  denied,
  type ImmediateEndReason,
  type InstalledApp,
  type Issue,
  invalid,
  isOpen,
  isPerson,
  notFound,
  ok,
  type Person,
  type Robot,
  refuse,
  revoked,
  type Session,
  type Team,
} from './types.ts'

/**
 * A model of agent sessions by the contract alone (requirements `session.*`, `activity.*`, `delegation.*` and
 * `mention.*`), for comparison with the service. It shares no code with the service. Items are identified by their
 * index in a list.
 */
export class SessionModel extends Sessions {
  readonly comments: Comment[] = []
  /** Counts edits, so that each has its own text. */
  edits = 0

  // People and issues

  createIssue(team: Team, delegate: Robot | null): Answer {
    const issue: Issue = { team, personal: false, deleted: false, delegate: null, revision: 0, assignee: null }
    const reason = delegate !== null && this.unavailable(delegate, issue)
    if (reason) return refuse(422, 'DELEGATE_UNAVAILABLE', { reason })
    this.issues.push(issue)
    if (delegate !== null) this.delegate('owner', this.issues.length - 1, delegate)
    return { status: 201 }
  }

  delegate(who: Person, at: number, robot: Robot | null, assignee?: Person): Answer {
    const issue = this.issues[at] as Issue
    if (issue.deleted || !this.sees(who, issue)) return notFound
    const isIn = (person: Person) => issue.team === null || person === 'owner'
    if (robot !== null && robot !== issue.delegate) {
      const reason = this.unavailable(robot, issue)
      if (reason) return refuse(422, 'DELEGATE_UNAVAILABLE', { reason })
      if (!issue.assignee && !isIn(who) && !(assignee && isIn(assignee))) {
        return refuse(422, 'DELEGATION_REQUIRES_ASSIGNEE')
      }
    }
    issue.assignee = assignee ?? issue.assignee
    if (robot === issue.delegate) return ok
    const held = this.sessions.find(
      (session) => session.issue === at && session.robot === issue.delegate && session.revision === issue.revision,
    )
    if (held && isOpen(held) && held.state !== 'stopping') this.requestStop(held, 'undelegated', who)
    this.#setDelegate(issue, robot)
    if (robot === null) return ok
    issue.assignee ??= who
    this.openSession(robot, at, who, { revision: issue.revision })
    return ok
  }

  assign(at: number, assignee: Person | null): Answer {
    const issue = this.issues[at] as Issue
    if (issue.deleted) return notFound
    if (assignee === null && issue.delegate !== null) return refuse(422, 'DELEGATION_REQUIRES_ASSIGNEE')
    issue.assignee = assignee
    return ok
  }

  /** Moves the issue to another team, makes it personal, or shares it again. */
  moveIssue(at: number, to: Pick<Issue, 'team' | 'personal'>): Answer {
    const issue = this.issues[at] as Issue
    if (issue.deleted) return notFound
    Object.assign(issue, to)
    if (to.personal && issue.assignee === 'outsider') issue.assignee = null
    this.#endUncovered('team_removed')
    return ok
  }

  deleteIssue(at: number): Answer {
    const issue = this.issues[at] as Issue
    if (issue.deleted) return notFound
    issue.deleted = true
    this.#removeComments((comment) => comment.issue === at)
    this.end((session) => session.issue === at, 'issue_deleted')
    return { status: 204 }
  }

  // Comments

  comment(author: Person | Robot, at: number, parent: number | null, mentions: Robot[], internal: boolean): Answer {
    const issue = this.issues[at] as Issue
    const above = parent === null ? null : (this.comments[parent] as Comment)
    if (!isPerson(author) && !this.robots[author].installed) return revoked
    if (issue.deleted || (isPerson(author) && !this.sees(author, issue))) return notFound
    if (!isPerson(author) && !this.covers(author, issue)) return denied
    if (above?.deleted || (above?.internal && !isPerson(author))) return invalid
    const id = this.comments.length
    const root = above?.root ?? id
    const known = mentions.filter((robot) => this.robots[robot].installed)
    const hidden = internal || (above?.internal ?? false)
    this.comments.push({ issue: at, root, author, mentions: known, internal: hidden, deleted: false })
    if (!isPerson(author) || hidden || issue.personal) return { status: 201 }
    const open = this.openSessionsIn(root)
    for (const session of open) if (session.state !== 'stopping') this.addPrompt(session, author, 'Comment')
    this.#mention(author, id, known, open)
    return { status: 201 }
  }

  /** Only a new mention opens a session, or sends a message to the agent's open one. */
  edit(at: number, mentions: Robot[], word: string): Answer {
    const comment = this.comments[at] as Comment
    const author = comment.author as Person
    const issue = this.issues[comment.issue] as Issue
    if (comment.deleted || !this.sees(author, issue)) return notFound
    const known = mentions.filter((robot) => this.robots[robot].installed)
    const fresh = known.filter((robot) => !comment.mentions.includes(robot))
    comment.mentions = known
    if (comment.internal || issue.personal) return ok
    const open = this.openSessionsIn(comment.root)
    for (const session of open) {
      if (fresh.includes(session.robot) && session.state !== 'stopping') this.addPrompt(session, author, word)
    }
    this.#mention(author, at, fresh, open)
    return ok
  }

  deleteComment(at: number): Answer {
    if ((this.comments[at] as Comment).deleted) return notFound
    this.#removeComments((comment, id) => id === at || comment.root === at)
    return { status: 204 }
  }

  #mention(author: Person, id: number, mentions: Robot[], open: Session[]) {
    const { issue, root } = this.comments[id] as Comment
    for (const robot of mentions) {
      if (open.some((session) => session.robot === robot)) continue
      if (this.unavailable(robot, this.issues[issue] as Issue)) continue
      this.openSession(robot, issue, author, { comment: id, thread: root })
    }
  }

  #removeComments(which: (comment: Comment, id: number) => boolean) {
    this.comments.forEach((comment, id) => {
      if (!which(comment, id)) return
      comment.deleted = true
      for (const session of this.sessions) if (session.comment === id) session.comment = null
    })
  }

  // Apps

  openByApp(robot: Robot, at: { issue: number } | { comment: number }): Answer {
    const comment = 'comment' in at ? (this.comments[at.comment] as Comment) : null
    const issue = 'issue' in at ? at.issue : (comment as Comment).issue
    if (!this.robots[robot].installed) return revoked
    if (comment?.deleted || comment?.internal || !this.covers(robot, this.issues[issue] as Issue)) return notFound
    const existing = comment && this.openSessionsIn(comment.root).find((session) => session.robot === robot)
    if (existing) return { status: 200, session: existing }
    const place = 'comment' in at ? { comment: at.comment, thread: (comment as Comment).root } : {}
    return { status: 201, session: this.openSession(robot, issue, robot, place) }
  }

  // Administration

  setCoverage(robot: Robot, teams: InstalledApp['teams']): Answer {
    const app = this.robots[robot]
    if (!app.installed) return notFound
    if (String(app.teams) === String(teams)) return ok
    app.teams = teams
    this.recordEvent(robot, `pc_@${robot}_${++app.changes}`)
    this.#endUncovered('team_removed')
    return ok
  }

  uninstall(robot: Robot): Answer {
    if (!this.robots[robot].installed) return notFound
    this.robots[robot].installed = false
    this.#endUncovered('uninstalled')
    this.recordEvent(robot, `rv_@${robot}`)
    return { status: 204 }
  }

  setWebhook(robot: Robot, enabled: boolean): Answer {
    this.robots[robot].webhookEnabled = enabled
    return ok
  }

  #setDelegate(issue: Issue, robot: Robot | null) {
    issue.delegate = robot
    issue.revision++
  }

  /** Ends delegations and sessions on issues that the app can no longer access. */
  #endUncovered(reason: ImmediateEndReason) {
    for (const issue of this.issues) {
      if (!issue.deleted && issue.delegate !== null && !this.covers(issue.delegate, issue))
        this.#setDelegate(issue, null)
    }
    this.end(({ robot, issue }) => !this.covers(robot, this.issues[issue] as Issue), reason)
  }
}
