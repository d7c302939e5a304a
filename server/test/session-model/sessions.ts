import {
  type ActivityType,
  type Answer,
  type Change,
  ended,
  type ImmediateEndReason,
  type InstalledApp,
  type Issue,
  invalid,
  isOpen,
  isPerson,
  type NewActivity,
  notFound,
  type Person,
  type Robot,
  refuse,
  revoked,
  type Session,
} from './types.ts'

const second = 1000
const unresponsiveAfter = 10 * second
const stoppingFor = 60 * second
const staleAfter = 30 * 60 * second
const activitiesPerSecond = 10
const mostUrls = 10

/** The part of the model that is the same for all sessions, however they were opened. */
export class Sessions {
  now: number
  readonly robots: [InstalledApp, InstalledApp]
  readonly issues: Issue[] = []
  readonly sessions: Session[] = []
  /** Events that apps must receive for the last step: event id, session state, signal, actor. */
  events: string[] = []

  constructor(now: number) {
    this.now = now
    const robot = (): InstalledApp => ({ installed: true, teams: ['A'], webhookEnabled: true, changes: 0 })
    this.robots = [robot(), robot()]
  }

  // Time

  advance(ms: number) {
    this.now += ms
    for (const session of this.sessions.filter(isOpen)) {
      if (session.state === 'stopping' && this.now >= session.stoppingSince + stoppingFor) {
        Object.assign(session, { state: 'complete', endedAt: session.stoppingSince + stoppingFor })
      }
      const moves = session.state === 'pending' || session.state === 'active'
      if (moves && this.now >= session.inactiveSince + staleAfter) session.state = 'stale'
    }
  }

  /** Times at which a timer changes the session, including past ones. */
  deadlines = ({ createdAt, stoppingSince, inactiveSince }: Session) =>
    [createdAt + unresponsiveAfter, stoppingSince + stoppingFor, inactiveSince + staleAfter] as const

  unresponsiveSince({ createdAt, answered, creator, endedAt }: Session) {
    const at = createdAt + unresponsiveAfter
    const waits = isPerson(creator) && !answered && !(endedAt !== null && endedAt < at)
    return waits && this.now >= at ? at : null
  }

  // Access

  covers = (robot: Robot, { team, personal, deleted }: Issue, { installed, teams } = this.robots[robot]) =>
    installed && !deleted && !personal && (teams === 'all' || teams.includes(team))

  sees = (who: Person, issue: Issue) => !issue.personal || who === 'owner'

  seesSession = (who: Person | Robot, { issue, robot }: Session) =>
    isPerson(who) ? this.sees(who, this.issues[issue] as Issue) : who === robot

  /** The unavailable_reason of the app for this issue. Both apps have every scope. */
  unavailable(robot: Robot, issue: Issue) {
    if (!this.covers(robot, issue)) return 'app_not_installed_for_team'
    return this.robots[robot].webhookEnabled ? null : 'app_webhook_disabled'
  }

  openSessionsIn = (thread: number) => this.sessions.filter((session) => isOpen(session) && session.thread === thread)

  // Messages, Stop, activities, plan and links

  write(who: Person, session: Session, word: string, key: string | null, answer?: { valid: boolean }): Answer {
    if (!this.seesSession(who, session)) return notFound
    const sent = JSON.stringify([who, word, answer ?? null])
    const replayed = replay(session, key, sent)
    if (replayed) return replayed
    if (!isOpen(session) || session.state === 'stopping') return ended(session)
    if (answer && !answer.valid) return invalid
    const seq = this.addPrompt(session, who, word)
    if (key) session.keys.set(key, { sent, seq })
    return { status: 201, stored: { session, seq } }
  }

  stop(who: Person, session: Session): Answer {
    if (!this.seesSession(who, session)) return notFound
    if (!isOpen(session)) return ended(session)
    if (session.state !== 'stopping') this.requestStop(session, 'stopped', who)
    return { status: 200, session }
  }

  postActivity(robot: Robot, session: Session, activity: NewActivity, key: string | null): Answer {
    const { type, ephemeral, word, select } = activity
    if (!this.robots[robot].installed) return revoked
    if (type === 'prompt') return refuse(422, 'PROMPT_IS_HUMAN_ONLY')
    if (ephemeral && type !== 'thought' && type !== 'action') return invalid
    if (session.robot !== robot) return notFound
    const sent = JSON.stringify(activity)
    const replayed = replay(session, key, sent)
    if (replayed) return replayed
    if (!isOpen(session)) return ended(session)
    if (session.postedAt.filter((at) => at > this.now - second).length >= activitiesPerSecond)
      return refuse(429, 'RATE_LIMIT_EXCEEDED')
    const seq = session.activities.length + 1
    for (const earlier of session.activities) {
      if (earlier.ephemeral) earlier.supersededBy ??= seq
    }
    const signal = select ? 'select' : null
    const shown = type === 'action' ? null : word
    session.activities.push({ seq, type, word: shown, ephemeral, supersededBy: null, signal, author: robot })
    session.postedAt.push(this.now)
    if (key) session.keys.set(key, { sent, seq })
    this.#applyActivity(session, type)
    return { status: 201, stored: { session, seq } }
  }

  #applyActivity(session: Session, type: Exclude<ActivityType, 'prompt'>) {
    const last = type === 'response' || type === 'error'
    session.answered = true
    session.inactiveSince = this.now
    if (session.state === 'stopping' && !last) return
    if (session.state === 'stopping') session.endedAt = this.now
    const states = {
      thought: 'active',
      action: 'active',
      elicitation: 'awaitingInput',
      response: 'complete',
      error: 'error',
    } as const
    session.state = states[type]
  }

  update(robot: Robot, session: Session, change: Change): Answer {
    if (!this.robots[robot].installed) return revoked
    if (change.urls && (change.added || change.removed)) return invalid
    if (session.robot !== robot) return notFound
    if (!isOpen(session)) return ended(session)
    const urls = new Map((change.urls ? [] : session.urls).map(({ url, label }) => [url, label]))
    for (const url of change.removed ?? []) urls.delete(url)
    for (const { url, label } of change.urls ?? change.added ?? []) urls.set(url, label)
    if (urls.size > mostUrls) return invalid
    session.urls = [...urls].map(([url, label]) => ({ label, url }))
    session.plan = change.plan ?? session.plan
    if ((change.urls ?? change.added ?? []).length > 0) session.answered = true
    return { status: 200, session }
  }

  // Reading

  read(who: Person | Robot, session: Session): Answer {
    if (!isPerson(who) && !this.robots[who].installed) return revoked
    return this.seesSession(who, session) ? { status: 200, session } : notFound
  }

  readActivities(who: Person | Robot, session: Session, after: number, limit: number): Answer {
    const { status, code } = this.read(who, session)
    if (code) return { status, code }
    const later = session.activities.filter(({ seq }) => seq > after)
    const page = later.slice(0, limit).map(({ seq }) => seq)
    return { status, page: { seqs: page, has_more: later.length > limit, last_seq: page.at(-1) ?? after } }
  }

  /** Newest first. */
  list(who: Person | Robot, state: Session['state'] | null, issue: number | null): Answer {
    if (!isPerson(who) && !this.robots[who].installed) return revoked
    const sessions = this.sessions.filter(
      (session) =>
        this.seesSession(who, session) &&
        (state === null || session.state === state) &&
        (issue === null || session.issue === issue),
    )
    return { status: 200, sessions: sessions.map((session) => this.sessions.indexOf(session)).reverse() }
  }

  protected end(which: (session: Session) => boolean, endReason: ImmediateEndReason) {
    for (const session of this.sessions.filter(isOpen).filter(which)) {
      Object.assign(session, { state: 'complete', endReason, endedAt: this.now })
    }
  }

  protected openSession(robot: Robot, issue: number, creator: Person | Robot, begun: Partial<Session>): Session {
    const session: Session = {
      robot,
      issue,
      thread: null,
      comment: null,
      revision: null,
      creator,
      createdAt: this.now,
      state: 'pending',
      inactiveSince: this.now,
      stoppingSince: Number.NaN,
      answered: false,
      endReason: null,
      endedAt: null,
      plan: [],
      urls: [],
      activities: [],
      keys: new Map(),
      postedAt: [],
      ...begun,
    }
    this.sessions.push(session)
    if (isPerson(creator)) this.recordEvent(robot, `ase_#${this.sessions.length - 1}_created pending - ${creator}`)
    return session
  }

  protected addPrompt(session: Session, who: Person, word: string, signal: 'stop' | null = null) {
    const seq = session.activities.length + 1
    session.activities.push({ seq, type: 'prompt', word, ephemeral: false, supersededBy: null, signal, author: who })
    if (!signal && session.state !== 'pending' && session.state !== 'active') {
      Object.assign(session, { state: 'pending', inactiveSince: this.now })
    }
    const event = `ase_#${this.sessions.indexOf(session)}_act_${seq}`
    this.recordEvent(session.robot, `${event} ${session.state} ${signal ?? '-'} ${who}`)
    return seq
  }

  protected requestStop(session: Session, endReason: 'stopped' | 'undelegated', who: Person) {
    Object.assign(session, { state: 'stopping', stoppingSince: this.now, endReason })
    this.addPrompt(session, who, 'Stop', 'stop')
  }

  protected recordEvent(robot: Robot, event: string) {
    if (this.robots[robot].webhookEnabled) this.events.push(event)
  }
}

function replay(session: Session, key: string | null, sent: string): Answer | null {
  const known = key === null ? undefined : session.keys.get(key)
  if (!known) return null
  return known.sent === sent
    ? { status: 201, stored: { session, seq: known.seq } }
    : refuse(409, 'IDEMPOTENCY_KEY_REUSED')
}
