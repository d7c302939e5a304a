import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { type TestApp, test, verifiesOnPostgres } from '../../test/harness.ts'
import { queue, storedMails } from '../../test/mail.ts'
import { withDatabase } from '../../test/postgres.ts'
import { collide } from '../../test/races.ts'
import { ServiceProcess } from '../../test/service-process.ts'
import type { SmtpServer } from '../../test/smtp.ts'
import { systemClock } from '../clock.ts'
import { sql } from '../db/sql.ts'
import { createMailWorker } from '../mails.ts'
import { transact } from '../unit-of-work.ts'
import { claimMail, endTrouble, pauseQueue, settle } from './claim.ts'
import { queueMail } from './queue.ts'

const queueMany = (app: TestApp, count: number) =>
  transact(app.ctx, null, async (unit) => {
    for (let number = 0; number < count; number++)
      await queueMail(unit, app.ctx.keys, { kind: 'test', address: `${number}@example.com` })
  })

const recipients = (smtp: SmtpServer) => smtp.mails.flatMap((mail) => mail.to)
const addresses = (count: number) => Array.from({ length: count }, (_, number) => `${number}@example.com`).toSorted()

test('four workers deliver each mail once', verifiesOnPostgres('mail.sent-once'), async ({ startApp, smtp }) => {
  const env = { ...smtp.env, BATON_MAIL_RATE: '10000' }
  const app = await startApp(env)
  const others = await Promise.all([1, 2, 3].map(() => startApp(env, app)))
  await queueMany(app, 200)
  await Promise.all([app, ...others].map((one) => one.sendMails()))
  expect(recipients(smtp).toSorted()).toEqual(addresses(200))
  expect(new Set((await storedMails(app)).map(({ state }) => state))).toEqual(new Set(['sent']))
})

test('four workers together keep the rate', verifiesOnPostgres('mail.rate'), async ({ startApp, smtp }) => {
  const env = { ...smtp.env, BATON_MAIL_RATE: '30' }
  const app = await startApp(env)
  const all = [app, ...(await Promise.all([1, 2, 3].map(() => startApp(env, app))))]
  await queueMany(app, 70)
  const drained = async () => {
    await Promise.all(all.map((one) => one.sendMails()))
    return smtp.mails.length
  }
  expect(await drained()).toBe(30)
  app.clock.advance({ seconds: 59 })
  expect(await drained()).toBe(30)
  app.clock.advance({ seconds: 1 })
  expect(await drained()).toBe(60)
  app.clock.advance({ seconds: 60 })
  expect(await drained()).toBe(70)
  expect(recipients(smtp).toSorted()).toEqual(addresses(70))
})

test(
  'a worker whose claim expired does not overwrite the result of another',
  verifiesOnPostgres(),
  async ({ startApp, smtp }) => {
    const app = await startApp(smtp.env)
    await queue(app, { address: 'ada@example.com' })
    const { db } = app.ctx
    const slow = await claimMail(db, app.clock.now())
    expect(slow).toBeDefined()
    app.clock.advance({ seconds: 120, milliseconds: -1 })
    expect(await claimMail(db, app.clock.now())).toBeUndefined()
    app.clock.advance({ milliseconds: 1 })
    await app.sendMails()
    if (slow) await settle(db, slow, { state: 'failed', attempts: 1, problem: 'late' }, app.clock.now())
    expect(await storedMails(app)).toMatchObject([{ state: 'sent', problem: null }])
  },
)

test('the queue is paused while another worker ends an earlier pause', verifiesOnPostgres(), async ({ app }) => {
  const { db } = app.ctx
  for (let round = 0; round < 200; round++) {
    const now = app.clock.now()
    const [first, , second] = await Promise.all([
      pauseQueue(db, 'refused', now),
      endTrouble(db, new Date(now.getTime() + 3_600_000)),
      pauseQueue(db, 'refused', now),
    ])
    expect(Math.min(Number(first), Number(second))).toBeGreaterThan(Number(now))
  }
})

test(
  'concurrent resends of an invitation are counted',
  verifiesOnPostgres('mail.invitation-sent'),
  async ({ startApp, smtp }) => {
    const app = await startApp(smtp.env)
    const { owner } = await app.workspace()
    const { body } = await owner.post('/workspaces/me/invitations', { email: 'grace@example.com', role: 'member' })
    const { id } = body.invitation
    const answers = await collide(app, sql`select 1 from invitations where id = ${id} for update`, () =>
      Array.from({ length: 6 }, () => owner.post(`/workspaces/me/invitations/${id}/send`)),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 202, 202, 429, 429, 429])
    await app.sendMails()
    expect(smtp.mails).toHaveLength(1)
  },
)

test('no mail is lost when workers are killed, and duplicates have the same Message-ID', {
  ...verifiesOnPostgres('mail.no-loss-on-kill'),
  timeout: 240_000,
}, async ({ startApp, smtp }) => {
  const count = 400
  const env = { ...smtp.env, BATON_MAIL_RATE: '10000' }
  const app = await startApp(env)
  await queueMany(app, count)
  const used = await app.ctx.db.row<{ name: string }>(sql`select current_database() as name`)
  const start = () =>
    ServiceProcess.start({
      ...env,
      DATABASE_URL: withDatabase(process.env.DATABASE_URL ?? '', used?.name ?? ''),
      // Nothing that these processes send is sealed.
      BATON_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
      BATON_ROLE: 'worker',
    })
  const workers = await Promise.all([start(), start()])
  for (const atLeast of [80, 160, 240]) {
    while (smtp.mails.length < atLeast) await sleep(2)
    const killed = workers.shift() as ServiceProcess
    await killed.kill('SIGKILL')
    if (atLeast < 160) workers.push(await start())
  }
  const pending = (await storedMails(app)).filter(({ state }) => state === 'pending')
  expect(pending.length).toBeGreaterThan(0)
  // The claims of the dead expire.
  const later = { ...systemClock, now: () => new Date(Date.now() + 121_000) }
  await createMailWorker({ ...app.ctx, clock: later }).drain()
  expect([...new Set(recipients(smtp))].toSorted()).toEqual(addresses(count))
  const idsByAddress = new Map<string, Set<string | undefined>>()
  for (const { to, parsed } of smtp.mails)
    for (const address of to) idsByAddress.set(address, (idsByAddress.get(address) ?? new Set()).add(parsed.messageId))
  expect([...idsByAddress.values()].filter((ids) => ids.size !== 1)).toEqual([])
  expect(new Set((await storedMails(app)).map(({ state }) => state))).toEqual(new Set(['sent']))
  // Each kill interrupts at most as many mails as the worker had connections.
  expect(smtp.mails.length - count).toBeLessThanOrEqual(3 * 4)
})
