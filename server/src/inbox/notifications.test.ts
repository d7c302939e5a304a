import { randomBytes } from 'node:crypto'
import { type InboxKind, inboxKinds } from '@baton/protocol'
import { expect } from 'vitest'
import { sessionScene } from '../../test/agent-sessions.ts'
import type { Client } from '../../test/client.ts'
import { connect, deliver, pullRequest } from '../../test/git.ts'
import { type TestApp, type TestPerson, test, verifies, verifiesOnPostgres } from '../../test/harness.ts'
import { overtake } from '../../test/races.ts'
import type { SmtpServer } from '../../test/smtp.ts'
import { Keyring } from '../crypto.ts'
import { sql } from '../db/sql.ts'
import { queueNotifications } from './due-mails.ts'
import { notifyManagers } from './notify.ts'
import { unsubscribeUrl } from './unsubscribe.ts'

const root = { BATON_ROOT_URL: 'https://baton.example.com', BATON_SIGNUP: 'open' }

const verify = (app: TestApp, ...people: TestPerson[]) =>
  app.ctx.db.run(sql`
    update users set email_verified_at = ${app.clock.now()} where id = any(${people.map(({ user }) => user.id)})`)

async function mailScene(
  startApp: (env?: Record<string, string>) => Promise<TestApp>,
  smtp: SmtpServer,
  env: Record<string, string> = {},
) {
  const app = await startApp({ ...smtp.env, ...root, ...env })
  const workspace = await app.workspace()
  const { owner, admin, member } = workspace
  await verify(app, owner, admin, member)
  const issue = async (title: string, fields = {}) => (await owner.post('/issues', { title, ...fields })).body
  const assign = async (title: string) => issue(title, { assignee_id: member.user.id })
  const mention = async ({ id }: { id: string }, text = 'look', by: Client = owner) =>
    (
      await by.post('/comments', {
        target_type: 'issue',
        target_id: id,
        text: `@[Anyone](${member.user.id}) ${text}`,
      })
    ).body
  const settings = (change: object, by: TestPerson = member) =>
    by.put('/notification-settings', { kinds: {}, digest_hour: 8, paused: false, ...change })
  /** Mails to a person since the last call. */
  const seen = new Map<string, number>()
  const mailed = async (person: TestPerson = member) => {
    await app.sendNotifications()
    const all = smtp.mails.filter(({ to }) => to.includes(person.user.email))
    const fresh = all.slice(seen.get(person.user.id) ?? 0)
    seen.set(person.user.id, all.length)
    return fresh.map(({ parsed }) => parsed)
  }
  const after = (minutes: number) => app.clock.advance({ minutes })
  return { app, ...workspace, issue, assign, mention, settings, mailed, after }
}

test('settings have defaults, and are those of one user in one workspace', async ({ app }) => {
  const { member, admin } = await app.workspace()
  const all = (way: string) => Object.fromEntries(inboxKinds.map((kind) => [kind, way]))
  const defaults = {
    kinds: { ...all('immediately'), comment: 'daily', status: 'daily', suggestions_ready: 'daily' },
    digest_hour: 8,
    paused: false,
  }
  expect((await member.get('/notification-settings')).body).toEqual(defaults)
  const changed = { kinds: { mention: 'daily', assignment: 'never' }, digest_hour: 23, paused: true }
  const expected = { ...changed, kinds: { ...defaults.kinds, ...changed.kinds } }
  expect(await member.put('/notification-settings', changed)).toMatchObject({ status: 200, body: expected })
  expect((await member.get('/notification-settings')).body).toEqual(expected)
  expect((await admin.get('/notification-settings')).body).toEqual(defaults)
  for (const bad of [
    { ...changed, digest_hour: 24 },
    { ...changed, digest_hour: -1 },
    { ...changed, digest_hour: 8.5 },
    { ...changed, kinds: { mention: 'hourly' } },
    { ...changed, kinds: { gossip: 'never' } },
    { kinds: {}, digest_hour: 8 },
  ]) {
    expect((await app.unchanged(() => member.put('/notification-settings', bad))).status).toBe(422)
  }
})

test('each kind is mailed with the default settings', verifies('notify.kinds'), async ({ startApp, smtp }) => {
  const app = await startApp({ ...smtp.env, ...root })
  const scene = await sessionScene(app)
  const { owner, member, robot } = scene
  await verify(app, owner, member)
  const subjects = async (person: TestPerson) => {
    app.clock.advance({ minutes: 2 })
    await app.sendNotifications()
    return smtp.mails.splice(0).flatMap(({ to, parsed }) => (to.includes(person.user.email) ? [parsed.subject] : []))
  }
  const title = 'The door sticks'
  const issue = await scene.newIssue({ title, assignee_id: member.user.id }, owner)
  expect(await subjects(member)).toEqual([
    `${owner.user.display_name} assigned an issue to you: ${issue.code} ${title}`,
  ])
  await scene.comment(issue, `@[Member](${member.user.id}) look`, {}, owner)
  expect(await subjects(member)).toEqual([`${owner.user.display_name} mentioned you: ${issue.code} ${title}`])

  const session = await scene.delegated({ title: 'Delegated' })
  const name = robot.app.name
  const code = (await session.get()).issue?.identifier
  await session.say('elicitation')
  expect(await subjects(member)).toEqual([`${name} needs your answer: ${code} Delegated`])
  await session.write('Go on')
  await session.say('response')
  expect(await subjects(member)).toEqual([`${name} finished: ${code} Delegated`])
  const failing = await scene.delegated({ title: 'Failing' })
  await failing.say('error')
  const failed = (await failing.get()).issue?.identifier
  expect(await subjects(member)).toEqual([`${name} failed: ${failed} Failing`])

  const { body: webhook } = await owner.post('/webhooks', {
    label: 'Chat',
    url: 'http://localhost:9',
    all_teams: true,
    resource_types: ['Issue'],
  })
  expect(webhook.id).toMatch(/^whk_/)
  const asService = { id: null, workspaceId: scene.id }
  const system = (kind: InboxKind, subject: object) =>
    app.ctx.db.tx((tx) => notifyManagers({ tx, now: app.clock.now(), caller: asService }, kind, subject))
  await system('webhook_failing', { endpointId: webhook.id })
  expect(await subjects(owner)).toEqual(['Webhook disabled after repeated failures: Chat'])
  await system('webhook_struggling', { endpointId: webhook.id })
  expect(await subjects(owner)).toEqual(['Webhook attempts keep failing: Chat'])
  const { body: other } = await owner.post('/agent-apps', {
    schemaVersion: '1.0.0',
    name: 'Helper',
    developer: { name: 'Robots Inc' },
    oauth: { redirect_uris: ['https://robots.example.com/callback'], scopes: ['read'] },
  })
  await member.post(`/agent-apps/${other.app.id}/install-request`)
  expect(await subjects(owner)).toEqual([`${member.user.display_name} requested an app installation: Helper`])
  await system('budget_reached', { appId: robot.app.id })
  expect(await subjects(owner)).toEqual([`A former member reached its budget: ${name}`])
  const { body: ops } = await owner.post('/teams', { name: 'Operations', key: 'OPS' })
  const { body: automation } = await owner.post('/automations', {
    team_id: ops.id,
    name: 'Watcher',
    trigger: { type: 'issue', on: 'created' },
    actions: [{ type: 'comment', text: 'Seen' }],
  })
  await system('automation_paused', { automationId: automation.id })
  expect(await subjects(owner)).toEqual(['Automation paused: Watcher'])
  await system('automation_notice', { automationId: automation.id })
  expect(await subjects(owner)).toEqual(['Notice of an automation: Watcher'])
})

test('entries within two minutes are one mail', verifies('notify.immediate-bundles'), async ({ startApp, smtp }) => {
  const { assign, mention, mailed, after, owner } = await mailScene(startApp, smtp)
  const one = await assign('One')
  after(1)
  expect(await mailed()).toEqual([])
  await mention(one, 'and **look** at\nthis')
  await assign('Two')
  expect(await mailed()).toEqual([])
  after(1)
  const [mail, ...more] = await mailed()
  expect(more).toEqual([])
  expect(mail?.subject).toBe('Acme: 3 notifications')
  for (const text of [mail?.text, String(mail?.html)]) {
    expect(text).toContain('Two')
    expect(text).toContain(`${owner.user.display_name} mentioned you: ${one.code} One`)
    expect(text).toContain(one.url)
  }
  // The current name, not the one that the comment's author typed.
  expect(mail?.text).toMatch(/@Person \d+ and \*\*look\*\* at this/)
  expect(mail?.text).not.toContain('Anyone')
  // The next entry begins a new mail.
  await assign('Three')
  after(1)
  expect(await mailed()).toEqual([])
  after(1)
  expect((await mailed()).map(({ subject }) => subject)).toEqual([expect.stringContaining('Three')])
})

test('the two minutes begin with the first entry that is still unread', async ({ startApp, smtp }) => {
  const { member, assign, mailed, after } = await mailScene(startApp, smtp)
  const one = await assign('One')
  after(1)
  await assign('Two')
  await member.patch(`/inbox/threads/${one.id}`, { read: true })
  after(1)
  expect(await mailed()).toEqual([])
  after(1)
  expect(await mailed()).toMatchObject([{ subject: expect.stringContaining('Two') }])
})

test(
  'no notification is sent while the user is active',
  verifies('notify.quiet-while-active'),
  async ({ startApp, smtp }) => {
    const { member, assign, mailed, after } = await mailScene(startApp, smtp)
    const read = await assign('Read')
    await assign('Unread')
    expect((await member.put('/presence')).status).toBe(204)
    for (let minute = 0; minute < 4; minute++) {
      after(1)
      expect(await mailed()).toEqual([])
    }
    await member.put('/presence')
    await member.patch(`/inbox/threads/${read.id}`, { read: true })
    after(4)
    expect(await mailed()).toEqual([])
    after(1)
    const [mail] = await mailed()
    expect(mail?.text).toContain('Unread')
    expect(mail?.text).not.toContain('Read\n')
    await member.patch(`/inbox/threads/${read.id}`, { read: false })
    await assign('Later')
    after(60)
    expect((await mailed()).map(({ subject }) => subject)).toEqual([expect.stringContaining('Later')])
  },
)

test(
  'other requests do not delay a notification',
  verifies('notify.presence-only-by-route'),
  async ({ startApp, smtp }) => {
    const { member, assign, mailed, after } = await mailScene(startApp, smtp)
    const one = await assign('One')
    after(2)
    await member.get('/inbox')
    await member.put(`/issues/${one.id}`, { status: 'in_progress' })
    await member.get('/auth/me')
    expect(await mailed()).toHaveLength(1)
  },
)

test('a daily kind is mailed once a day at the hour of the user, across changes of the clock', {
  ...verifies('notify.digest-hour'),
  timeout: 60_000,
}, async ({ startApp, smtp }) => {
  const { app, member, assign, settings, mailed } = await mailScene(startApp, smtp)
  await member.patch('/auth/account', { time_zone: 'Europe/Zurich' })
  await settings({ kinds: { assignment: 'daily' }, digest_hour: 2 })
  const to = (time: string) => app.clock.advance({ milliseconds: Date.parse(time) - app.clock.now().getTime() })
  const times = [
    // An ordinary day, the day without 02:00, the day with two of them.
    ['2026-03-27T12:00:00Z', '2026-03-28T01:00:00Z'],
    ['2026-03-28T12:00:00Z', '2026-03-29T01:00:00Z'],
    ['2026-03-29T12:00:00Z', '2026-03-30T00:00:00Z'],
    ['2026-10-24T12:00:00Z', '2026-10-25T00:00:00Z'],
    ['2026-10-25T12:00:00Z', '2026-10-26T01:00:00Z'],
  ] as const
  for (const [entryAt, digestAt] of times) {
    to(entryAt)
    await mailed()
    // Logins expire when unused.
    await app.ctx.db.run(sql`update logins set last_used_at = ${app.clock.now()}`)
    await assign('One')
    await assign('Two')
    await mailed()
    for (let step = app.clock.now().getTime(); step < Date.parse(digestAt) - 3_600_000; step += 3_600_000) {
      app.clock.advance({ hours: 1 })
      expect(await mailed()).toEqual([])
    }
    to(new Date(Date.parse(digestAt) - 1).toISOString())
    expect(await mailed()).toEqual([])
    to(digestAt)
    expect(await mailed()).toMatchObject([{ subject: 'Acme: daily summary with 2 notifications' }])
    // What arrives on the same day waits for the next digest, also when the hour is repeated or changed.
    await assign('Three')
    app.clock.advance({ hours: 1 })
    expect(await mailed()).toEqual([])
    await settings({ kinds: { assignment: 'daily' }, digest_hour: 9 })
    app.clock.advance({ hours: 8 })
    expect(await mailed()).toEqual([])
    await member.post('/inbox/read')
    await settings({ kinds: { assignment: 'daily' }, digest_hour: 2 })
  }
})

test('a kind set to never, and all kinds while paused, are not mailed', {
  ...verifies('notify.never-and-paused'),
}, async ({ startApp, smtp }) => {
  const { member, assign, mention, settings, mailed, after } = await mailScene(startApp, smtp)
  await settings({ kinds: { assignment: 'never' } })
  const one = await assign('One')
  after(2)
  expect(await mailed()).toEqual([])
  await mention(one)
  after(2)
  const [mail] = await mailed()
  expect(mail?.subject).toContain('mentioned you')
  expect(mail?.text).not.toContain('assigned')

  await settings({ paused: true })
  await mention(one)
  after(60)
  expect(await mailed()).toEqual([])
  // A mail that waits is stopped too.
  await settings({})
  await mention(one)
  await settings({ paused: true })
  after(2)
  expect(await mailed()).toEqual([])
  expect((await member.get('/inbox')).body.data).toHaveLength(4)
  // What came meanwhile is not sent afterwards.
  await settings({})
  after(60)
  expect(await mailed()).toEqual([])
})

test('a mail contains only what the user may see when it is sent', {
  ...verifies('notify.only-visible-now'),
}, async ({ startApp, smtp }) => {
  const { app, id, owner, admin, member, issue, mention, mailed, after } = await mailScene(startApp, smtp)
  const states = async () =>
    (await app.ctx.db.rows<{ state: string }>(sql`select state from mails order by id`)).map(({ state }) => state)
  const [hidden, kept] = [await issue('Hidden title'), await issue('Kept title')]
  await mention(hidden, 'secret words')
  await mention(kept)
  after(2)
  await queueNotifications(app.ctx)
  await owner.put(`/issues/${hidden.id}`, { personal: true })
  const [mail] = await mailed()
  expect(mail?.subject).toContain('Kept title')
  for (const text of ['Hidden title', 'secret words', hidden.code]) expect(mail?.text).not.toContain(text)
  expect(await states()).toEqual(['sent'])

  const cases: [subject: string, lose: () => Promise<unknown>][] = []
  const gone = await issue('Gone')
  cases.push([gone.id, () => owner.delete(`/issues/${gone.id}`)])
  for (const change of [{ read: true }, { archived: true }]) {
    const one = await issue('Done with')
    cases.push([one.id, () => member.patch(`/inbox/threads/${one.id}`, change)])
  }
  const snoozed = await issue('Snoozed')
  const until = () => new Date(app.clock.now().getTime() + 3_600_000).toISOString()
  cases.push([snoozed.id, () => member.patch(`/inbox/threads/${snoozed.id}`, { snoozed_until: until() })])
  const left = await issue('Left')
  cases.push([left.id, () => owner.delete(`/workspaces/me/members/${member.user.id}`)])
  for (const [subject, lose] of cases) {
    await mention({ id: subject })
    after(2)
    await queueNotifications(app.ctx)
    await lose()
    expect(await mailed()).toEqual([])
    expect((await states()).at(-1)).toBe('canceled')
  }

  // A manager who became a member no longer gets what is for managers.
  const { body: webhook } = await owner.post('/webhooks', {
    label: 'Chat',
    url: 'http://localhost:9',
    all_teams: true,
    resource_types: ['Issue'],
  })
  await app.ctx.db.tx((tx) =>
    notifyManagers({ tx, now: app.clock.now(), caller: { id: null, workspaceId: id } }, 'webhook_failing', {
      endpointId: webhook.id,
    }),
  )
  after(2)
  await queueNotifications(app.ctx)
  await owner.patch(`/workspaces/me/members/${admin.user.id}`, { role: 'member' })
  expect(await mailed(admin)).toEqual([])
  expect(await mailed(owner)).toMatchObject([{ subject: expect.stringContaining('Chat') }])
})

test('an entry is part of at most one mail', verifies('notify.once-per-entry'), async ({ startApp, smtp }) => {
  const { app, assign, settings, mailed, after } = await mailScene(startApp, smtp)
  await settings({ kinds: { assignment: 'daily' }, digest_hour: 10 })
  await assign('One')
  // From the digest to an immediate mail.
  await settings({ digest_hour: 10 })
  after(2)
  expect(await mailed()).toMatchObject([{ subject: expect.stringContaining('One') }])
  await settings({ kinds: { assignment: 'daily' }, digest_hour: 10 })
  app.clock.advance({ days: 2 })
  expect(await mailed()).toEqual([])
  // And back.
  await settings({ digest_hour: 10 })
  await assign('Two')
  await settings({ kinds: { assignment: 'daily' }, digest_hour: 10 })
  after(2)
  expect(await mailed()).toEqual([])
  app.clock.advance({ days: 1 })
  expect(await mailed()).toMatchObject([{ subject: expect.stringContaining('daily summary with 1 notification') }])
  await settings({ digest_hour: 10 })
  app.clock.advance({ days: 1 })
  expect(await mailed()).toEqual([])
})

test(
  'concurrent workers queue each entry once',
  verifiesOnPostgres('notify.once-per-entry'),
  async ({ startApp, smtp }) => {
    const { app, assign, after, mailed } = await mailScene(startApp, smtp)
    for (let count = 0; count < 5; count++) await assign(`Issue ${count}`)
    after(2)
    await Promise.all(Array.from({ length: 4 }, () => queueNotifications(app.ctx)))
    expect(await mailed()).toMatchObject([{ subject: 'Acme: 5 notifications' }])
  },
)

test(
  'an entry that another worker takes meanwhile is not mailed again',
  verifiesOnPostgres('notify.once-per-entry'),
  async ({ startApp, smtp }) => {
    const { app, member, assign, after, mailed } = await mailScene(startApp, smtp)
    await assign('Taken')
    after(2)
    const taken = sql`update inbox_entries set mailed_at = created_at where user_id = ${member.user.id}`
    await overtake(app, taken, () => queueNotifications(app.ctx), [])
    expect(await mailed()).toEqual([])
  },
)

test(
  'an entry that commits while a mail is queued is in the next',
  verifiesOnPostgres(),
  async ({ startApp, smtp }) => {
    const { app, assign, after, mailed } = await mailScene(startApp, smtp)
    await assign('First')
    after(2)
    const [, ...mails] = await Promise.all([
      Promise.all(Array.from({ length: 6 }, (_, index) => assign(`Issue ${index}`))),
      ...Array.from({ length: 4 }, () => queueNotifications(app.ctx)),
    ])
    expect(mails).toHaveLength(4)
    after(2)
    const text = (await mailed()).map((mail) => mail.text).join()
    for (let index = 0; index < 6; index++) expect(text).toContain(`Issue ${index}`)
  },
)

test('a user gets at most 12 notifications in an hour', verifies('notify.hourly-cap'), async ({ startApp, smtp }) => {
  const { assign, mailed, after } = await mailScene(startApp, smtp)
  for (let count = 1; count <= 12; count++) {
    await assign(`Issue ${count}`)
    after(2)
    expect(await mailed()).toHaveLength(1)
  }
  for (const title of ['Thirteen', 'Fourteen']) {
    await assign(title)
    after(2)
    expect(await mailed()).toEqual([])
  }
  after(33)
  expect(await mailed()).toEqual([])
  after(2)
  const [mail, ...more] = await mailed()
  expect(more).toEqual([])
  expect(mail?.subject).toBe('Acme: 2 notifications')
  for (const title of ['Thirteen', 'Fourteen']) expect(mail?.text).toContain(title)
})

test('only a verified address gets notifications', verifies('notify.verified-only'), async ({ startApp, smtp }) => {
  const { app, member, assign, mailed, after } = await mailScene(startApp, smtp)
  const set = (verified: boolean, problem: string | null = null) =>
    app.ctx.db.run(sql`
      update users set email_verified_at = ${verified ? app.clock.now() : null}, mail_problem = ${problem}
      where id = ${member.user.id}`)
  for (const lose of [() => set(false), () => set(true, 'refused')]) {
    await lose()
    await assign('One')
    after(2)
    expect(await mailed()).toEqual([])
    // Also if it was verified when the mail was queued.
    await set(true)
    await assign('Two')
    after(2)
    await queueNotifications(app.ctx)
    await lose()
    expect(await mailed()).toEqual([])
  }
  await set(true)
  await assign('Three')
  after(2)
  expect(await mailed()).toMatchObject([{ subject: expect.stringContaining('Three') }])
})

test(
  'a minimal mail names no item, person or workspace',
  verifies('notify.minimal-content'),
  async ({ startApp, smtp }) => {
    const scene = await mailScene(startApp, smtp, { BATON_MAIL_CONTENT: 'minimal' })
    const { owner, assign, mention, mailed, after } = scene
    const one = await assign('Secret title')
    await mention(one, 'secret words')
    after(2)
    await mailed()
    const [{ raw, parsed } = { raw: '', parsed: undefined }] = smtp.mails.filter(({ to }) =>
      to.includes(scene.member.user.email),
    )
    expect(parsed?.subject).toBe('You have 2 new notifications')
    for (const text of [raw, parsed?.text, String(parsed?.html)]) {
      for (const secret of ['Secret', 'secret words', one.code, owner.user.display_name, 'Acme', one.id]) {
        expect(text).not.toContain(secret)
      }
    }
    expect(parsed?.text).toContain('https://baton.example.com/inbox')
  },
)

const tokenIn = (header: unknown) => /\/mail\/unsubscribe\/([\w.-]+)/.exec(String(header))?.[1] ?? ''

test(
  'one click unsubscribes from the kind of a mail',
  verifies('notify.one-click-unsubscribe'),
  async ({ startApp, smtp }) => {
    const { app, admin, member, assign, mention, mailed, after } = await mailScene(startApp, smtp)
    const one = await assign('One')
    after(2)
    await mailed()
    const { raw } = smtp.mails.at(-1) as { raw: string }
    const unfolded = raw.replace(/\r?\n[ \t]+/g, ' ')
    const header = (name: string) => new RegExp(`^${name}: *(.*?)\\r?$`, 'im').exec(unfolded)?.[1]
    expect(header('List-Unsubscribe')).toMatch(/^<https:\/\/baton\.example\.com\/mail\/unsubscribe\/[\w.-]+>$/)
    expect(header('List-Unsubscribe-Post')).toBe('List-Unsubscribe=One-Click')
    const path = `/mail/unsubscribe/${tokenIn(header('List-Unsubscribe'))}`
    const kinds = async (person: TestPerson) => (await person.get('/notification-settings')).body.kinds
    const boundary = '--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n'
    const forms = [
      { raw: 'List-Unsubscribe=One-Click', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      { raw: boundary, headers: { 'content-type': 'multipart/form-data; boundary=x' } },
      {},
    ]
    for (const form of forms) {
      await member.put('/notification-settings', { kinds: { mention: 'daily' }, digest_hour: 7, paused: false })
      expect((await app.anonymous.postRoot(path, undefined, form)).status).toBe(204)
      expect(await kinds(member)).toMatchObject({
        assignment: 'never',
        mention: 'daily',
        agent_finished: 'immediately',
      })
      expect((await member.get('/notification-settings')).body.digest_hour).toBe(7)
    }
    expect(await kinds(admin)).toMatchObject({ assignment: 'immediately' })
    await assign('Two')
    after(2)
    expect(await mailed()).toEqual([])
    await member.put('/notification-settings', { kinds: {}, digest_hour: 8, paused: false })
    await mention(one)
    await assign('Three')
    after(2)
    // A mail with several kinds is about all of them.
    const [mail] = await mailed()
    const both = String(mail?.text).match(/https:\S+\/mail\/unsubscribe\/\S+/)?.[0] ?? ''
    expect((await app.anonymous.postRoot(new URL(both).pathname)).status).toBe(204)
    expect(await kinds(member)).toMatchObject({ assignment: 'never', mention: 'never' })
  },
)

test('GET and HEAD do not unsubscribe', verifies('notify.get-does-not-unsubscribe'), async ({ app }) => {
  const { id, member } = await app.workspace()
  const url = unsubscribeUrl(app.ctx.config, app.ctx.keys, {
    userId: member.user.id,
    workspaceId: id,
    kinds: ['mention'],
  })
  for (const method of ['GET', 'HEAD', 'PUT', 'DELETE']) {
    const response = await app.unchanged(() => fetch(`${app.rootUrl}${new URL(url).pathname}`, { method }))
    expect([200, 404, 405]).toContain(response.status)
  }
})

test(
  'a changed token is refused; one of a previous key works',
  verifies('notify.unsubscribe-token-forged'),
  async ({ app }) => {
    const { id, member, admin } = await app.workspace()
    const tokenOf = (keys: Keyring, userId: string) =>
      tokenIn(unsubscribeUrl(app.ctx.config, keys, { userId, workspaceId: id, kinds: ['mention', 'assignment'] }))
    const token = tokenOf(app.ctx.keys, member.user.id)
    const post = (one: string) => app.anonymous.postRoot(`/mail/unsubscribe/${one}`)
    const forged = [...token].map(
      (character, index) => `${token.slice(0, index)}${character === 'a' ? 'b' : 'a'}${token.slice(index + 1)}`,
    )
    const others = [
      tokenOf(new Keyring(randomBytes(32)), member.user.id),
      token.slice(0, -1),
      `${token}A`,
      token.split('.').slice(0, 3).join('.'),
      'x',
    ]
    for (const one of [...forged, ...others]) {
      expect(await app.unchanged(() => post(one))).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } })
    }
    expect((await post(token)).status).toBe(204)
    expect((await member.get('/notification-settings')).body.kinds).toMatchObject({
      mention: 'never',
      assignment: 'never',
    })

    const [older, newer] = [randomBytes(32), randomBytes(32)]
    const old = tokenOf(new Keyring(older), admin.user.id)
    expect((await app.unchanged(() => post(old))).status).toBe(404)
    const keys = app.ctx.keys
    Object.assign(app.ctx, { keys: new Keyring(newer, [older]) })
    expect((await post(old)).status).toBe(204)
    Object.assign(app.ctx, { keys })
    expect((await admin.get('/notification-settings')).body.kinds.mention).toBe('never')
  },
)

test('without mail, entries wait for nothing', async ({ app }) => {
  const { owner, member } = await app.workspace()
  expect((await owner.post('/issues', { title: 'One', assignee_id: member.user.id })).status).toBe(201)
  expect((await member.get('/inbox')).body.data).toMatchObject([{ kind: 'assignment' }])
  app.clock.advance({ minutes: 2 })
  await app.unchanged(() => queueNotifications(app.ctx))
})

test(
  'a status that an automation changed has no former member as its author',
  verifies('watch.inbox'),
  async ({ startApp, smtp }) => {
    const { app, owner, issue, settings, mailed, after } = await mailScene(startApp, smtp)
    await settings({ kinds: { status: 'immediately' } }, owner)
    const reported = await issue('The door')
    await deliver(app.anonymous, await connect(owner), pullRequest({ title: reported.code, merged: true }))
    expect((await owner.get('/inbox')).body.data).toMatchObject([{ kind: 'status', actor: null }])
    after(2)
    expect(await mailed(owner)).toMatchObject([{ subject: `Status changed: ${reported.code} The door` }])
  },
)
