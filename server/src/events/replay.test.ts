import { commentFields, issueFields, projectFields } from '@baton/protocol'
import fc from 'fast-check'
import { expect } from 'vitest'
import { type TestApp, type TestPerson, test } from '../../test/harness.ts'
import { sql } from '../db/sql.ts'

/** Steps of a sequence. Numbers select among the existing items. */
const step = fc.record({
  verb: fc.constantFrom(
    ...['issue', 'issue', 'edit', 'edit', 'move', 'relate', 'relate', 'relate', 'hide', 'hide', 'show', 'show', 'drop'],
    ...['import', 'project', 'plan', 'hideProject', 'showProject', 'dropProject', 'label', 'dropLabel'],
    ...['comment', 'comment', 'reply', 'rewrite', 'resolve', 'unsay'],
  ),
  who: fc.nat(1),
  a: fc.nat(50),
  b: fc.nat(50),
  flag: fc.boolean(),
})
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

interface Item {
  id: string
  // biome-ignore lint/suspicious/noExplicitAny: a model of whatever the API shows
  [field: string]: any
}

/** Plays steps against the API and records which words must not appear in any event. */
class Play {
  readonly #app: TestApp
  readonly #people: [TestPerson, TestPerson]
  readonly #teams: string[]
  readonly workspaceId: string
  /** Words of personal items and internal comments, by item. */
  readonly secrets = new Map<string, string>()
  #words = 0
  #checkedEvents = 0

  private constructor(app: TestApp, workspaceId: string, people: [TestPerson, TestPerson], teams: string[]) {
    this.#app = app
    this.workspaceId = workspaceId
    this.#people = people
    this.#teams = teams
  }

  static async begin(app: TestApp) {
    const { id, owner, member } = await app.workspace()
    const teams = []
    for (const key of ['AA', 'BB']) teams.push((await owner.post('/teams', { name: key, key })).body.id)
    return new Play(app, id, [owner, member], teams)
  }

  all(table: 'issues' | 'projects' | 'comments' | 'labels'): Promise<Item[]> {
    const condition = sql`workspace_id = ${this.workspaceId} order by id`
    const statements = {
      issues: sql`select * from issues where ${condition}`,
      projects: sql`select * from projects where ${condition}`,
      comments: sql`select * from comments where ${condition}`,
      labels: sql`select * from labels where ${condition}`,
    }
    return this.#app.ctx.db.rows<Item>(statements[table])
  }

  /** The last step recorded no event of a personal item. */
  async expectNoPersonalEvents() {
    const recorded = await this.#app.ctx.db.rows<{ id: string; target: string | null }>(sql`
      select body -> 'data' ->> 'id' as id, body -> 'data' ->> 'target_id' as target from events
      where workspace_id = ${this.workspaceId} order by events.id offset ${this.#checkedEvents}`)
    this.#checkedEvents += recorded.length
    const personal = [...(await this.all('issues')), ...(await this.all('projects'))].filter((item) => item.personal)
    for (const { id } of personal) {
      expect(recorded.filter((event) => event.id === id || event.target === id)).toEqual([])
    }
  }

  /** An item from the API, reduced to the fields of events. */
  async shown(item: Item): Promise<Item> {
    const [path, fields] = item.id.startsWith('iss_')
      ? (['issues', issueFields] as const)
      : item.id.startsWith('prj_')
        ? (['projects', projectFields] as const)
        : (['comments', commentFields] as const)
    const { status, body } = await this.#people[0].get(`/${path}/${item.id}`)
    expect(status).toBe(200)
    return Object.fromEntries(fields.map((field) => [field, body[field]])) as Item
  }

  #word(secretOf?: string | null) {
    const word = `word${++this.#words}word`
    if (secretOf) this.secrets.set(word, secretOf)
    return word
  }

  async #pick(table: 'issues' | 'projects' | 'comments' | 'labels', index: number) {
    // Few items, so that each changes often.
    const items = (await this.all(table)).slice(-4)
    return items[index % Math.max(1, items.length)]
  }

  /** Owner of a personal item. */
  #owner(item: Item | undefined) {
    return item?.personal ? (item.reporter_id ?? item.owner_id) : null
  }

  async play({ verb, who, a, b, flag }: Step) {
    let me = this.#people[who] as TestPerson
    const team = this.#teams[b % this.#teams.length]
    const issue = await this.#pick('issues', a)
    const project = await this.#pick('projects', a)
    const comment = await this.#pick('comments', a)
    const label = await this.#pick('labels', b)
    const secretIn = (item: Item | undefined) => (this.#owner(item) === me.user.id ? item?.id : null)
    switch (verb) {
      case 'issue': {
        const word = this.#word()
        const body =
          flag && b % 3 === 0 ? { title: word, personal: true } : { title: word, team_id: flag ? team : null }
        const created = (await me.post('/issues', body)).body
        if (created.personal) this.secrets.set(word, created.id)
        return
      }
      case 'edit':
        return (
          issue && me.put(`/issues/${issue.id}`, { title: this.#word(secretIn(issue)), status: flag ? 'done' : 'todo' })
        )
      case 'move':
        return issue && me.put(`/issues/${issue.id}`, { team_id: flag ? team : null })
      case 'relate': {
        const other = await this.#pick('issues', b)
        const field = (['parent_id', 'blocks_ids', 'blocked_by_ids', 'label_ids', 'project_id'] as const)[
          b % 5
        ] as string
        const id =
          field === 'label_ids' ? label?.id : field === 'project_id' ? (await this.#pick('projects', b))?.id : other?.id
        if (!issue || !id) return
        const value = field.endsWith('_ids') ? (flag ? [id] : []) : flag ? id : null
        return me.put(`/issues/${issue.id}`, { [field]: value })
      }
      case 'hide':
        me = this.#people.find(({ user }) => user.id === issue?.reporter_id) ?? me
        return issue && me.put(`/issues/${issue.id}`, { personal: true })
      case 'show':
        me = this.#people.find(({ user }) => user.id === issue?.reporter_id) ?? me
        return (
          issue &&
          this.#share(issue, () => me.put(`/issues/${issue.id}`, { personal: false, team_id: flag ? team : null }))
        )
      case 'drop':
        return issue && me.delete(`/issues/${issue.id}`)
      case 'import':
        return this.#people[0].post('/issues/import', { issues: [{ title: this.#word(), team_id: team }] })
      case 'project': {
        const word = this.#word()
        const created = (
          await me.post('/projects', flag ? { title: word, team_ids: [team] } : { title: word, personal: b % 2 === 0 })
        ).body
        if (created.personal) this.secrets.set(word, created.id)
        return
      }
      case 'plan':
        return (
          project &&
          me.put(`/projects/${project.id}`, {
            title: this.#word(secretIn(project)),
            ...(project.personal ? {} : { team_ids: flag ? [team] : [] }),
          })
        )
      case 'hideProject':
        me = this.#people.find(({ user }) => user.id === project?.owner_id) ?? me
        return project && me.put(`/projects/${project.id}`, { personal: true })
      case 'showProject':
        me = this.#people.find(({ user }) => user.id === project?.owner_id) ?? me
        return project && this.#share(project, () => me.put(`/projects/${project.id}`, { personal: false }))
      case 'dropProject':
        return project && me.delete(`/projects/${project.id}`)
      case 'label':
        return me.post('/labels', { name: this.#word() })
      case 'dropLabel':
        return label && me.delete(`/labels/${label.id}`)
      case 'comment':
      case 'reply': {
        const target = flag ? issue : project
        if (!target) return
        const parent =
          verb === 'reply' && comment && (comment.issue_id ?? comment.project_id) === target.id ? comment : null
        const internal = b % 3 === 0
        const hidden = internal || parent?.internal || this.#owner(target)
        const body = {
          target_type: flag ? 'issue' : 'project',
          target_id: target.id,
          text: this.#word(hidden ? (internal || parent?.internal ? 'internal' : target.id) : null),
        }
        return me.post('/comments', { ...body, internal, parent_comment_id: parent?.id ?? null })
      }
      case 'rewrite': {
        if (!comment) return
        const home = [...(await this.all('issues')), ...(await this.all('projects'))].find(
          ({ id }) => id === (comment.issue_id ?? comment.project_id),
        )
        const hiddenIn = comment.internal ? 'internal' : this.#owner(home) ? home?.id : null
        return me.put(`/comments/${comment.id}`, { text: this.#word(hiddenIn) })
      }
      case 'resolve':
        return comment && me.put(`/comments/${comment.id}`, { is_resolved: flag })
      case 'unsay':
        return comment && me.delete(`/comments/${comment.id}`)
    }
  }

  /** Sharing an item reveals its current words, not earlier ones. */
  async #share(item: Item, share: () => Promise<{ status: number }>) {
    if (!item.personal || (await share()).status !== 200) return
    const comments = await this.all('comments')
    const texts = comments
      .filter((one) => (one.issue_id ?? one.project_id) === item.id && !one.internal)
      .map(({ text }) => text)
    for (const word of [item.title, ...texts]) this.secrets.delete(word)
  }
}

/** The state of a receiver that applies all events to an empty model. */
function replay(events: { type: string; action: string; data: Item }[]) {
  const model = new Map<string, Item>()
  for (const { action, data } of events) {
    if (action === 'remove') {
      model.delete(data.id)
      for (const [id, item] of model) if (item.target_id === data.id) model.delete(id)
    } else {
      // `create` of a known item: it was personal in between, so references to it were cleared.
      if (action === 'create' && model.has(data.id)) {
        const others = new Set([...model.keys()].filter((id) => id !== data.id))
        for (const [id, item] of model) model.set(id, withoutDead(item, new Set([...others, ...idsIn(item, data.id)])))
      }
      model.set(data.id, data)
    }
  }
  return model
}

/** All ids in an item, except one. */
const idsIn = (item: Item, but: string) =>
  Object.values(item)
    .flat()
    .filter((value): value is string => typeof value === 'string' && value !== but)

/** Deleting or hiding an item clears references to it without an event. */
function withoutDead(item: Item, alive: Set<string>): Item {
  const live = (value: unknown) =>
    typeof value === 'string' && /^(iss|prj|lbl)_/.test(value) && !alive.has(value) ? null : value
  return Object.fromEntries(
    Object.entries(item)
      .filter(([field]) => field !== 'progress')
      .map(([field, value]) => [
        field,
        field === 'id' || field === 'target_id'
          ? value
          : Array.isArray(value)
            ? value.filter((one) => live(one) !== null)
            : live(value),
      ]),
  ) as Item
}

test('replayed events give the state of all shared items, and nothing of personal ones', {
  timeout: 120_000,
}, async ({ app }) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 25, maxLength: 60 }), async (steps) => {
      const play = await Play.begin(app)
      for (const one of steps) {
        await play.play(one)
        await play.expectNoPersonalEvents()
      }

      const events = await app.ctx.db.rows<{ body: { type: string; action: string; data: Item } }>(
        sql`select body from events where workspace_id = ${play.workspaceId} order by id`,
      )
      const recorded = JSON.stringify(events)
      for (const word of play.secrets.keys()) expect(recorded).not.toContain(word)

      const model = replay(events.map(({ body }) => body))
      const [issues, projects, comments, labels] = [
        await play.all('issues'),
        await play.all('projects'),
        await play.all('comments'),
        await play.all('labels'),
      ]
      const shared = [...issues, ...projects].filter(({ personal }) => !personal)
      const alive = new Set([...shared, ...labels].map(({ id }) => id))
      const imported = new Set(issues.map(({ id }) => id).filter((id) => !model.has(id)))
      for (const item of [...shared, ...comments.filter(({ internal }) => !internal)]) {
        const home = item.issue_id ?? item.project_id
        if (item.text !== undefined && !alive.has(home)) continue
        const replayed = model.get(item.id)
        // An import records no event; later changes of the issue do.
        if (!replayed && imported.has(item.id)) continue
        expect(replayed, `no event was recorded for ${item.id}`).toBeDefined()
        const actual = await play.shown(item)
        const { progress: _, ...state } = actual
        expect(state).toEqual(withoutDead(replayed as Item, alive))
      }
    }),
    { endOnFailure: true, numRuns: Number(process.env.BATON_TEST_RUNS ?? 12) },
  )
})
