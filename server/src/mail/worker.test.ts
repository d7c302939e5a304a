import { describe, expect } from 'vitest'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import { onlyMail, queue, saying, storedMails } from '../../test/mail.ts'
import { SmtpServer } from '../../test/smtp.ts'
import { hours, minutes, plus } from '../clock.ts'
import { sql } from '../db/sql.ts'
import { Wakeups } from '../relay/wakeups.ts'
import { transact } from '../unit-of-work.ts'
import { claimMail } from './claim.ts'
import { queueMail } from './queue.ts'
import { MailWorker } from './worker.ts'

const to = 'ada@example.com'

const statusOf = async (app: TestApp) => {
  const { owner } = await app.workspace()
  return (await owner.get('/mail/status')).body
}

describe('queueing', () => {
  test(
    'belongs to the transaction of the change',
    verifies('mail.with-the-transaction'),
    async ({ startApp, smtp }) => {
      const app = await startApp(smtp.env)
      const failing = app.unchanged(() =>
        transact(app.ctx, null, async (unit) => {
          await queueMail(unit, app.ctx.keys, { kind: 'test', address: to })
          throw new Error('the change failed')
        }).catch(({ message }: Error) => message),
      )
      expect(await failing).toBe('the change failed')
      await app.sendMails()
      expect(smtp.mails).toEqual([])

      await transact(app.ctx, null, async (unit) => {
        await queueMail(unit, app.ctx.keys, { kind: 'test', address: to })
        expect(smtp.steps).toEqual([])
      })
      expect(await onlyMail(app)).toMatchObject({ state: 'pending', attempts: 0 })
      await app.sendMails()
      expect(smtp.mails.map((mail) => mail.to)).toEqual([[to]])
      expect(await onlyMail(app)).toMatchObject({ state: 'sent', attempts: 1, problem: null })
    },
  )

  test('goes to the stored address of the account at the time of the attempt', async ({ startApp, smtp }) => {
    const app = await startApp(smtp.env)
    const { user } = await app.person()
    await queue(app, { userId: user.id })
    await app.ctx.db.run(sql`update users set email = 'new@example.com' where id = ${user.id}`)
    await app.sendMails()
    expect(smtp.mails.map((mail) => mail.to)).toEqual([['new@example.com']])
  })

  test('stores secrets sealed and erases them when the mail is settled', async ({ startApp, smtp }) => {
    const app = await startApp(smtp.env)
    await queue(app, { kind: 'told', address: to, secret: 'a very secret token' })
    expect(await app.everything()).not.toContain('a very secret token')
    const seen: (string | null)[] = []
    const worker = new MailWorker(app.ctx, {
      told: async (_, { secret }) => {
        seen.push(secret)
        return { subject: 'Told', paragraphs: [] }
      },
    })
    await worker.drain()
    expect(seen).toEqual(['a very secret token'])
    expect(await onlyMail(app)).toMatchObject({ state: 'sent', secret: null })
  })

  test('waits until the mail is due', async ({ startApp, smtp }) => {
    const app = await startApp(smtp.env)
    await queue(app, { address: to, dueAt: plus(app.clock.now(), minutes(2)) })
    app.clock.advance({ minutes: 2, milliseconds: -1 })
    await app.sendMails()
    expect(smtp.mails).toHaveLength(0)
    app.clock.advance({ milliseconds: 1 })
    await app.sendMails()
    expect(smtp.mails).toHaveLength(1)
  })
})

describe('the server', () => {
  test(
    'that greylists is tried again after 60 and 300 seconds',
    verifies('mail.greylisting'),
    async ({ startApp, smtp }) => {
      const app = await startApp(smtp.env)
      await queue(app, { address: to })
      let refusals = 2
      smtp.onRcpt = () => (refusals-- > 0 ? 451 : undefined)
      const attempts = () => smtp.steps.filter((step) => step.startsWith('rcpt')).length

      await app.sendMails()
      expect(attempts()).toBe(1)
      for (const [seconds, made] of [
        [60, 2],
        [300, 3],
      ] as const) {
        app.clock.advance({ seconds, milliseconds: -1 })
        await app.sendMails()
        expect(attempts()).toBe(made - 1)
        app.clock.advance({ milliseconds: 1 })
        await app.sendMails()
        expect(attempts()).toBe(made)
      }
      expect(smtp.mails).toHaveLength(1)
      expect(await onlyMail(app)).toMatchObject({ state: 'sent', attempts: 3 })
      app.clock.advance({ days: 1 })
      await app.sendMails()
      expect(smtp.mails).toHaveLength(1)
    },
  )

  test('that keeps refusing for now makes the mail fail after the last delay', async ({ startApp, smtp }) => {
    const app = await startApp({ ...smtp.env, BATON_MAIL_RETRY_DELAYS: '10,20' })
    await queue(app, { address: to })
    smtp.onData = () => 452
    for (const seconds of [0, 10, 20]) {
      app.clock.advance({ seconds })
      expect((await onlyMail(app)).state).toBe('pending')
      await app.sendMails()
    }
    expect(await onlyMail(app)).toMatchObject({ state: 'failed', attempts: 3 })
    expect((await onlyMail(app)).problem).toBe('The mail server answered 452 to DATA.')
    expect(await statusOf(app)).toEqual({ state: 'ok', reason: null, queued: 0, failed_24h: 1 })
    app.clock.advance({ hours: 24 })
    expect(await statusOf(app)).toMatchObject({ failed_24h: 0 })
  })

  test.for([[550], [551], [553]] as const)(
    'that answers %i to RCPT gets no second attempt, and the address no notification until it is verified again',
    verifies('mail.permanent-refusal'),
    async ([status], { startApp, smtp }) => {
      const app = await startApp(smtp.env)
      const person = await app.person()
      const problem = async () => (await person.get('/auth/account')).body.mail_problem
      await queue(app, { userId: person.user.id })
      smtp.onRcpt = () => status
      expect(await problem()).toBeNull()
      await app.sendMails()
      expect(await onlyMail(app)).toMatchObject({ state: 'failed', attempts: 1 })
      expect(await problem()).toBe(`The mail server answered ${status} to RCPT TO.`)
      app.clock.advance({ days: 2 })
      await app.sendMails()
      expect(smtp.steps.filter((step) => step.startsWith('rcpt'))).toHaveLength(1)

      smtp.onRcpt = () => undefined
      const notification = {
        notification: saying({
          subject: 'News',
          paragraphs: [],
          unsubscribe: `${app.ctx.config.rootUrl}/mail/unsubscribe/x`,
        }),
        account: saying({ subject: 'Your account', paragraphs: [] }),
      }
      const worker = new MailWorker(app.ctx, notification)
      const send = async () => {
        await queue(app, { kind: 'notification', userId: person.user.id })
        await queue(app, { kind: 'account', userId: person.user.id })
        await worker.drain()
        return smtp.mails.splice(0).map((mail) => mail.parsed.subject)
      }
      expect(await send()).toEqual(['Your account'])
      expect((await storedMails(app)).map(({ kind, state }) => [kind, state])).toContainEqual([
        'notification',
        'canceled',
      ])
      await app.ctx.db.run(sql`update users set mail_problem = null where id = ${person.user.id}`)
      expect((await send()).toSorted()).toEqual(['News', 'Your account'])
    },
  )

  test('that answers 554 to DATA makes the mail fail without a problem of the address', async ({ startApp, smtp }) => {
    const app = await startApp(smtp.env)
    const person = await app.person()
    await queue(app, { userId: person.user.id })
    smtp.onData = () => 554
    await app.sendMails()
    expect(await onlyMail(app)).toMatchObject({ state: 'failed', attempts: 1 })
    expect((await person.get('/auth/account')).body.mail_problem).toBeNull()
  })

  test('an address that was changed meanwhile keeps no problem of the old one', async ({ startApp, smtp }) => {
    const app = await startApp(smtp.env)
    const person = await app.person()
    await queue(app, { userId: person.user.id, address: 'old@example.com' })
    smtp.onRcpt = () => 550
    await app.sendMails()
    expect((await person.get('/auth/account')).body.mail_problem).toBeNull()
  })

  test('that dies after DATA gets the mail again with the same Message-ID', async ({ startApp, smtp }) => {
    const app = await startApp(smtp.env)
    await queue(app, { address: to })
    let deaths = 1
    smtp.onData = () => (deaths-- > 0 ? 'die' : undefined)
    await app.sendMails()
    expect(await onlyMail(app)).toMatchObject({ state: 'pending', attempts: 1 })
    expect(await statusOf(app)).toMatchObject({ state: 'ok' })
    app.clock.advance({ seconds: 60 })
    await app.sendMails()
    expect(await onlyMail(app)).toMatchObject({ state: 'sent' })
    expect(smtp.mails).toHaveLength(2)
    expect(new Set(smtp.mails.map((mail) => mail.parsed.messageId)).size).toBe(1)
    expect(smtp.mails[0]?.parsed.messageId).toBe((await onlyMail(app)).message_id)
  })
})

describe('trouble with the server pauses the queue for 1, 5, then 15 minutes and uses up no attempt', () => {
  const check = async (app: TestApp, trouble: { end: () => unknown; reason: RegExp; smtp: () => SmtpServer }) => {
    await queue(app, { address: to })
    await queue(app, { address: 'grace@example.com' })
    for (const wait of [1, 5, 15, 15]) {
      await app.sendMails()
      expect(await statusOf(app)).toEqual({
        state: 'paused',
        reason: expect.stringMatching(trouble.reason),
        queued: 2,
        failed_24h: 0,
      })
      const steps = trouble.smtp().steps.length
      app.clock.advance({ minutes: wait, milliseconds: -1 })
      await app.sendMails()
      expect(trouble.smtp().steps).toHaveLength(steps)
      app.clock.advance({ milliseconds: 1 })
    }
    expect((await storedMails(app)).map(({ state, attempts }) => [state, attempts])).toEqual([
      ['pending', 0],
      ['pending', 0],
    ])
    await trouble.end()
    await app.sendMails()
    expect(
      trouble
        .smtp()
        .mails.flatMap((mail) => mail.to)
        .toSorted(),
    ).toEqual([to, 'grace@example.com'])
    expect(await statusOf(app)).toEqual({ state: 'ok', reason: null, queued: 0, failed_24h: 0 })
  }

  test('a refused connection', verifies('mail.server-trouble-pauses'), async ({ startApp, smtp }) => {
    const app = await startApp(smtp.env)
    const { port } = smtp
    await smtp.stop()
    let current = smtp
    await check(app, {
      reason: /^The connection to 127\.0\.0\.1 failed: .*ECONNREFUSED/,
      smtp: () => current,
      end: async () => {
        current = await SmtpServer.start({ port })
      },
    })
    await current.stop()
  })

  test('a refused sender', verifies('mail.server-trouble-pauses'), async ({ startApp, smtp }) => {
    for (const status of [450, 550]) {
      const app = await startApp(smtp.env)
      smtp.mails.length = 0
      smtp.onMail = () => status
      await check(app, {
        reason: new RegExp(`refused the sender in BATON_MAIL_FROM\\. It answered ${status}\\.$`),
        smtp: () => smtp,
        end: () => {
          smtp.onMail = () => undefined
        },
      })
    }
  })

  test('a refused login', verifies('mail.server-trouble-pauses', 'mail.status-and-test'), async ({ startApp }) => {
    const login = { user: 'baton', password: 'the right one' }
    const smtp = await SmtpServer.start({ login })
    try {
      const app = await startApp({ ...smtp.env, BATON_SMTP_USER: 'baton', BATON_SMTP_PASSWORD: 'pass-word-1' })
      await check(app, {
        reason: /^127\.0\.0\.1 refused the user or password of the mail settings\. It answered 535\.$/,
        smtp: () => smtp,
        end: () => {
          login.password = 'pass-word-1'
        },
      })
      const { owner } = await app.workspace()
      const answers = [await owner.get('/mail/status'), await owner.post('/mail/test'), await owner.get('/instance')]
      expect(JSON.stringify(answers)).not.toContain('pass-word-1')
    } finally {
      await smtp.stop()
    }
  })

  test('begins with one minute again after a mail was taken', async ({ startApp, smtp }) => {
    const app = await startApp(smtp.env)
    const trouble = async () => {
      smtp.onMail = () => 421
      await queue(app, { address: to })
      await app.sendMails()
      expect(await statusOf(app)).toMatchObject({ state: 'paused' })
      smtp.onMail = () => undefined
      app.clock.advance({ minutes: 1 })
      await app.sendMails()
      expect(await statusOf(app)).toMatchObject({ state: 'ok', queued: 0 })
    }
    await trouble()
    await trouble()
    expect(smtp.mails).toHaveLength(2)
  })

  test('a mail whose recipient breaks the connection does not block the others', async ({ startApp, smtp }) => {
    const app = await startApp(smtp.env)
    smtp.onRcpt = (address) => (address === 'poison@example.com' ? 'die' : undefined)
    await queue(app, { address: 'poison@example.com' })
    await app.sendMails()
    for (let more = 0; more < 3; more++) await queue(app, { address: `${more}@example.com` })
    for (let minute = 0; minute < 10; minute++) {
      app.clock.advance({ minutes: 1 })
      await app.sendMails()
    }
    expect(smtp.mails).toHaveLength(3)
  })
})

test('a running worker sends right after the commit, and first what a dead process held', async ({
  startApp,
  smtp,
}) => {
  const app = await startApp(smtp.env)
  const { db, log } = app.ctx
  const wakeups = new Wakeups(db, log, 'work')
  const worker = new MailWorker(app.ctx, { test: saying({ subject: 'Hi', paragraphs: [] }) })
  await queue(app, { address: 'held@example.com' })
  // Other processes may still hold claims on PostgreSQL.
  if (db.kind === 'embedded') await claimMail(db, app.clock.now())
  worker.start(wakeups)
  try {
    await smtp.arrived('held@example.com')
    const before = Date.now()
    for (let number = 0; number < 5; number++) {
      await queue(app, { address: `${number}@example.com` })
      await smtp.arrived(`${number}@example.com`)
    }
    // Without the wake-up each would wait for the next poll, up to 5 seconds.
    expect(Date.now() - before).toBeLessThan(10_000)
  } finally {
    await worker.stop()
    await wakeups.stop()
  }
})

test(
  'cancels a mail whose link expired while it was queued',
  verifies('mail.expired-link-canceled'),
  async ({ startApp, smtp }) => {
    const app = await startApp(smtp.env)
    const expiresAt = plus(app.clock.now(), hours(1))
    await queue(app, { address: 'late@example.com', secret: 'token', expiresAt })
    app.clock.advance({ hours: 1, milliseconds: -1 })
    await queue(app, { address: 'in-time@example.com', expiresAt })
    await app.ctx.db.run(sql`update mails set next_at = ${expiresAt} where address = 'late@example.com'`)
    await app.sendMails()
    app.clock.advance({ milliseconds: 1 })
    await app.sendMails()
    expect(smtp.mails.flatMap((mail) => mail.to)).toEqual(['in-time@example.com'])
    expect((await storedMails(app)).map(({ state, secret, attempts }) => [state, secret, attempts])).toEqual([
      ['canceled', null, 0],
      ['sent', null, 1],
    ])
  },
)

test(
  'sends at most the configured number of mails in any minute',
  verifies('mail.rate'),
  async ({ startApp, smtp }) => {
    const app = await startApp({ ...smtp.env, BATON_MAIL_RATE: '10' })
    const other = new MailWorker(app.ctx, { test: saying({ subject: 'Hi', paragraphs: [] }) })
    for (let count = 0; count < 25; count++) await queue(app, { address: `${count}@example.com` })
    const sentAt: number[] = []
    for (let step = 0; step < 40; step++) {
      await Promise.all([app.sendMails(), other.drain()])
      while (sentAt.length < smtp.mails.length) sentAt.push(app.clock.now().getTime())
      app.clock.advance({ seconds: 5 })
    }
    expect(sentAt).toHaveLength(25)
    // The eleventh after each is at least a minute later.
    for (const [index, at] of sentAt.slice(10).entries())
      expect(at - (sentAt[index] as number)).toBeGreaterThanOrEqual(60_000)
    expect((sentAt.at(-1) as number) - (sentAt[0] as number)).toBeLessThanOrEqual(130_000)
    expect(smtp.mails.map((mail) => mail.to[0]).toSorted()).toEqual(
      Array.from({ length: 25 }, (_, index) => `${index}@example.com`).toSorted(),
    )
  },
)

test('a mail that cannot be composed fails after its retries and does not stop the others', async ({
  startApp,
  smtp,
}) => {
  const app = await startApp({ ...smtp.env, BATON_MAIL_RETRY_DELAYS: '60' })
  const worker = new MailWorker(app.ctx, {
    broken: () => Promise.reject(new Error('a defect')),
    elsewhere: saying({ subject: 'Link', paragraphs: [], action: { label: 'Go', url: 'https://evil.example/' } }),
    fine: saying({ subject: 'Fine', paragraphs: [] }),
  })
  for (const kind of ['broken', 'elsewhere', 'unknown', 'fine']) await queue(app, { kind, address: to })
  await worker.drain()
  app.clock.advance({ seconds: 60 })
  await worker.drain()
  expect(smtp.mails.map((mail) => mail.parsed.subject)).toEqual(['Fine'])
  expect((await storedMails(app)).map(({ state, attempts }) => [state, attempts])).toEqual([
    ['failed', 2],
    ['failed', 2],
    ['failed', 2],
    ['sent', 1],
  ])
})
