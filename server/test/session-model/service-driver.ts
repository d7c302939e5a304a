import { expect } from 'vitest'
import { sql } from '../../src/db/sql.ts'
import type { Client, Response } from '../client.ts'
import type { TestApp } from '../harness.ts'
import type { SessionModel } from './model.ts'
import { type Answer, isPerson, type Person, type Robot, type Session, type Team } from './types.ts'

type Json = Response['body']

const scopes = ['read', 'write', 'app:assignable', 'app:mentionable']
const at = (time: string | null) => (time === null ? null : Date.parse(time))

/** Runs the steps in a workspace of the real service over HTTP, and compares its state with the model. */
export class ServiceDriver {
  readonly app: TestApp
  /** Counts the steps of several runs. */
  readonly progress: { steps: number }
  readonly people: Record<Person, Client & { user: { id: string } }>
  readonly robots: Awaited<ReturnType<TestApp['installed']>>[]
  readonly #workspaceId: string
  readonly #teams: Record<'A' | 'B', string>
  readonly issues: string[] = []
  readonly comments: string[] = []
  readonly sessions: string[] = []
  /** Ids of activities, by session and seq. */
  readonly activities = new Map<string, string>()
  #lastEvent = ''

  private constructor(
    app: TestApp,
    progress: { steps: number },
    { id, owner, member }: Awaited<ReturnType<TestApp['workspace']>>,
    robots: ServiceDriver['robots'],
    teams: { A: string; B: string },
  ) {
    this.app = app
    this.progress = progress
    this.people = { owner, outsider: member }
    this.robots = robots
    this.#workspaceId = id
    this.#teams = teams
  }

  static async start(app: TestApp, progress: { steps: number }): Promise<ServiceDriver> {
    const workspace = await app.workspace()
    const { owner } = workspace
    const team = async (key: string) => (await owner.post('/teams', { name: key, key })).body.id as string
    const teams = { A: await team('AA'), B: await team('BB') }
    const robot = () => app.installed(owner, { scopes, teamIds: [teams.A], webhook: 'http://localhost:9' })
    const robots = [await robot(), await robot()]
    // Tokens must not expire although hours pass in a run.
    const later = new Date(app.clock.now().getTime() + 365 * 86_400_000)
    const ids = robots.map(({ installationId }) => installationId)
    await app.ctx.db.run(sql`update grants set expires_at = ${later} where installation_id = any(${ids})`)
    await app.ctx.db.run(sql`
      update access_tokens set expires_at = ${later}
      where grant_id in (select id from grants where installation_id = any(${ids}))`)
    const service = new ServiceDriver(app, progress, workspace, robots, teams)
    service.issues.push((await owner.post('/issues', { title: 'Task', team_id: teams.A })).body.id)
    return service
  }

  clientOf = (who: Person | Robot): Client => (isPerson(who) ? this.people[who] : (this.robots[who] as Client))
  userId = (who: Person | Robot) => (isPerson(who) ? this.people[who].user.id : (this.robots[who]?.userId as string))
  teamId = (team: Team) => team && this.#teams[team]
  session = (index: number) => `/agent-sessions/${this.sessions[index]}`

  /** Compares a response with the model's. Call after `compareState`, which assigns the ids. */
  compareAnswer(model: SessionModel, { session, sessions, stored, page }: Answer, { body }: Response) {
    if (session)
      expect(this.#readSession(body)).toEqual(expectedSession(model, session, model.sessions.indexOf(session)))
    if (sessions) expect(body.data.map(({ id }: Json) => this.sessions.indexOf(id))).toEqual(sessions)
    if (stored) {
      expect(body.seq).toBe(stored.seq)
      expect(body.id).toBe(this.activities.get(`${model.sessions.indexOf(stored.session)} ${stored.seq}`))
    }
    if (page) {
      const { data, ...rest } = body
      expect({ seqs: data.map(({ seq }: Json) => seq), ...rest }).toEqual(page)
    }
  }

  /** Compares all sessions, issues, activities and events with the model. */
  async compareState(model: SessionModel) {
    const sessions = await this.#list()
    this.#assignSessions(model, sessions)
    const seen = sessions.map((session) => this.#readSession(session)).reverse()
    expect(seen).toEqual(model.sessions.map((session, index) => expectedSession(model, session, index)))
    const { issues, activities, events } = await this.#stored()
    expect(Object.fromEntries(issues.map((issue) => this.#issue(issue)))).toEqual(issuesOf(model))
    expect(activities.map((activity) => this.#activity(activity))).toEqual(activitiesOf(model))
    expect(events.map((event) => this.#event(event)).sort()).toEqual(model.events.sort())
    model.events = []
  }

  async #list(): Promise<Json[]> {
    const all: Json[] = []
    let cursor = ''
    do {
      const { body } = await this.people.owner.get(`/agent-sessions?limit=100${cursor}`)
      all.push(...body.data)
      cursor = body.next_cursor && `&cursor=${body.next_cursor}`
    } while (cursor)
    return all
  }

  /** Assigns new sessions to those of the model, by app: a step opens at most one session per app. */
  #assignSessions(model: SessionModel, sessions: Json[]) {
    const added = sessions.filter(({ id }) => !this.sessions.includes(id))
    for (const { robot } of model.sessions.slice(this.sessions.length)) {
      const found = added.findIndex(({ app_user_id }) => app_user_id === this.userId(robot))
      this.sessions.push(added.splice(found, 1)[0]?.id ?? 'missing')
    }
  }

  #who = (id: string | null): Person | Robot | null =>
    (['owner', 'outsider', 0, 1] as const).find((who) => this.userId(who) === id) ?? null

  #readSession(session: Json) {
    return {
      session: this.sessions.indexOf(session.id),
      robot: this.#who(session.app_user_id),
      issue: this.issues.indexOf(session.issue.id),
      comment: session.comment && this.comments.indexOf(session.comment.id),
      creator: this.#who(session.creator.id),
      state: session.state,
      unresponsiveSince: at(session.unresponsive_since),
      createdAt: at(session.created_at),
      endedAt: at(session.ended_at),
      endReason: session.end_reason,
      plan: session.plan.map(({ content }: Json) => content),
      urls: session.external_urls,
    }
  }

  async #stored(): Promise<Record<'issues' | 'activities' | 'events', Json[]>> {
    const stored = await this.app.ctx.db.row<Json>(sql`
      select
        (select json_agg(json_build_array(id, delegate_id, delegation_revision, assignee_id, team_id, personal))
          from issues where workspace_id = ${this.#workspaceId}) as issues,
        (select json_agg(json_build_array(session_id, id, seq, type, content ->> 'body', ephemeral, superseded_by_seq,
            signal, author_id) order by array_position(${this.sessions}::text[], session_id), seq)
          from agent_activities where session_id = any(${this.sessions})) as activities,
        (select json_agg(json_build_array(id, body -> 'data' ->> 'event_id', body -> 'data' -> 'agent_session' ->> 'state',
            body -> 'data' -> 'agent_activity' ->> 'signal', body -> 'actor' ->> 'id') order by id)
          from events where workspace_id = ${this.#workspaceId} and id > ${this.#lastEvent}
            and type in ('AgentSessionEvent', 'PermissionChange', 'OAuthApp')) as events`)
    return { issues: stored.issues ?? [], activities: stored.activities ?? [], events: stored.events ?? [] }
  }

  #issue([id, delegate, revision, assignee, team, personal]: Json) {
    const key = (['A', 'B'] as const).find((name) => this.#teams[name] === team) ?? null
    return [
      this.issues.indexOf(id),
      { delegate: this.#who(delegate), revision, assignee: this.#who(assignee), team: key, personal },
    ]
  }

  #activity([session, id, seq, type, body, ephemeral, supersededBy, signal, author]: Json) {
    const index = this.sessions.indexOf(session)
    this.activities.set(`${index} ${seq}`, id)
    const word = body?.split(' ')[0] ?? null
    return { session: index, seq, type, word, ephemeral, supersededBy, signal, author: this.#who(author) }
  }

  #event([id, eventId, state, signal, actor]: Json) {
    this.#lastEvent = id
    const installations = this.robots.map(({ installationId }) => installationId)
    const named = eventId
      .replace(/sess_[0-9a-z]{26}/, (session: string) => `#${this.sessions.indexOf(session)}`)
      .replace(/ins_[0-9a-z]{26}/, (installation: string) => `@${installations.indexOf(installation)}`)
    return state ? `${named} ${state} ${signal ?? '-'} ${this.#who(actor)}` : named
  }
}

function expectedSession(model: SessionModel, session: Session, index: number) {
  const { robot, issue, comment, creator, state, createdAt, endedAt, endReason, plan, urls } = session
  const unresponsiveSince = model.unresponsiveSince(session)
  const when = { unresponsiveSince, createdAt, endedAt }
  return { session: index, robot, issue, comment, creator, state, ...when, endReason, plan, urls }
}

const issuesOf = (model: SessionModel) =>
  Object.fromEntries(model.issues.flatMap(({ deleted, ...issue }, index) => (deleted ? [] : [[index, issue]])))

const activitiesOf = (model: SessionModel) =>
  model.sessions.flatMap(({ activities }, session) => activities.map((activity) => ({ session, ...activity })))
