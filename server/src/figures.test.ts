import { expect, vi } from 'vitest'
import { type TestApp, test, verifies } from '../test/harness.ts'
import { only, webhookScene } from '../test/webhook.ts'
import { sql } from './db/sql.ts'
import { sweep } from './housekeeping.ts'

const scrape = async (app: TestApp): Promise<string> => (await app.anonymous.getRoot('/metrics')).body

/** The value of a metric; undefined if it is not shown. */
function metricIn(text: string, metric: string) {
  const line = text.split('\n').find((one) => one.startsWith(`${metric} `))
  return line === undefined ? undefined : Number(line.slice(metric.length + 1))
}

test('ten scrapes in 15 seconds cost three statements', verifies('metrics.cheap'), async ({ startApp }) => {
  const app = await startApp()
  const statements = vi.spyOn(app.ctx.db, 'rows')
  // On a busy machine the first answer may come without the figures.
  await vi.waitFor(async () => expect(metricIn(await scrape(app), 'baton_deliveries_due')).toBe(0), 30_000)
  for (let at = 0; at < 10; at++) {
    expect(metricIn(await scrape(app), 'baton_deliveries_due')).toBe(0)
    app.clock.advance({ seconds: 1 })
  }
  // At once, too.
  await Promise.all([scrape(app), scrape(app)])
  expect(statements).toHaveBeenCalledTimes(3)
  app.clock.advance({ seconds: 5 })
  await Promise.all([scrape(app), scrape(app)])
  await vi.waitFor(() => expect(statements).toHaveBeenCalledTimes(6), 30_000)
})

test(
  'the age of the oldest due delivery grows until it is delivered',
  verifies('metrics.oldest-due'),
  async ({ startApp, receiver }) => {
    const app = await startApp()
    const { owner, path, issue } = await webhookScene(app, receiver)
    await issue()
    const figures = async () => {
      app.clock.advance({ seconds: 20 })
      const text = await scrape(app)
      return [metricIn(text, 'baton_deliveries_due'), metricIn(text, 'baton_delivery_oldest_due_seconds')]
    }
    expect(await figures()).toEqual([1, 20])
    await issue()
    expect(await figures()).toEqual([2, 40])
    await app.deliver()
    expect(await figures()).toEqual([0, 0])

    // A retry is due when its time comes; what waits for a person never is.
    receiver.answer = 500
    await issue()
    await app.deliver()
    expect(await figures()).toEqual([0, 0])
    app.clock.advance({ seconds: 30 })
    expect(await figures()).toEqual([1, 10])
    await owner.post(`${path}/disable`)
    expect(await figures()).toEqual([0, 0])
  },
)

test('counts what happened when it is committed', async ({ startApp, receiver }) => {
  const app = await startApp()
  const { owner, issue } = await webhookScene(app, receiver)
  const read = async () => {
    const text = await scrape(app)
    return [
      metricIn(text, 'baton_events_recorded_total{type="Issue"}'),
      metricIn(text, 'baton_deliveries_settled_total{outcome="succeeded"}'),
      metricIn(text, 'baton_login_failures_total'),
    ] as number[]
  }
  const before = await read()
  await issue()
  await app.unchanged(() => owner.post('/issues', { title: '' }))
  await app.deliver()
  const { email } = owner.user
  await app.anonymous.post('/auth/sign-in', { email, password: 'a wrong one' })
  await app.anonymous.post('/auth/sign-in', { email, password: owner.password })
  expect((await read()).map((value, index) => value - (before[index] as number))).toEqual([1, 1, 1])
})

test('housekeeping shows each chore that succeeded or failed', async ({ startApp }) => {
  const app = await startApp()
  const text = () => scrape(app)
  const failures = (shown: string) => metricIn(shown, 'baton_housekeeping_failures_total{chore="listeners"}') ?? 0
  const before = failures(await text())
  await app.ctx.db.run(sql`alter table listeners rename to lost`)
  await sweep(app.ctx)
  const shown = await text()
  expect(failures(shown) - before).toBe(1)
  expect(metricIn(shown, 'baton_housekeeping_last_success_timestamp_seconds{chore="events"}')).toBe(
    app.clock.now().getTime() / 1000,
  )
})

test('without a database the other metrics are shown, and the process is not ready', async ({ startApp }) => {
  const app = await startApp()
  expect(metricIn(await scrape(app), 'baton_ready')).toBe(1)
  await app.ctx.db.close()
  app.clock.advance({ seconds: 15 })
  const text = await scrape(app)
  expect(metricIn(text, 'baton_ready')).toBe(0)
  expect(metricIn(text, 'baton_deliveries_due')).toBeUndefined()
  expect(metricIn(text, 'baton_live_watchers')).toBe(0)
})

test(
  'no label has a value from a caller, or an id',
  verifies('metrics.bounded-labels'),
  async ({ startApp, receiver }) => {
    const app = await startApp()
    const canary = 'canary7'
    const { owner } = await app.workspace(canary)
    const { body: webhook } = await owner.post('/webhooks', {
      label: canary,
      url: `${receiver.url}/${canary}`,
      all_teams: true,
      resource_types: ['Issue'],
    })
    const { body: issue } = await owner.post('/issues', { title: canary })
    await owner.get(`/issues/${issue.id}`)
    receiver.answer = 500
    await app.deliver()
    only(receiver.take())
    const robot = await app.installed(owner, { name: canary })
    await robot.get(`/${canary}`)
    await fetch(`${app.rootUrl}/api/v1/${canary}/${issue.id}`)
    await fetch(`${app.rootUrl}/${canary}?${canary}`)
    for (let at = 0; at < 40; at++) {
      const refused = await app.anonymous.post('/auth/sign-in', { email: `${canary}@example.com`, password: canary })
      if (refused.status === 429) break
    }
    let tested = 200
    while (tested !== 429) tested = (await owner.post(`/webhooks/${webhook.id}/test`, {})).status
    await sweep(app.ctx)

    const text = await scrape(app)
    expect(text).not.toContain(canary)
    expect(text).toMatch(/baton_rate_limited_total\{limit="ping"\} [1-9]/)
    expect(text).toMatch(/baton_rate_limited_total\{limit="sign-in"\} [1-9]/)
    const labels = [...text.matchAll(/^baton_\w+\{(.*)\} /gm)].flatMap(([, list = '']) =>
      [...list.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name, value]) => ({ name, value: value ?? '' })),
    )
    expect(labels.length).toBeGreaterThan(100)
    for (const { name, value } of labels) {
      expect(value, name).not.toMatch(/[a-z]+_[0-9a-hjkmnp-tv-z]{26}|:\/\/|@|\d+\.\d+\.\d+\.\d+/)
      expect(value.length, name).toBeLessThan(100)
    }
  },
)

test(
  'logs a slow statement with its time and placeholders, and none of its values',
  verifies('log.slow-statement'),
  async ({ startApp }) => {
    const rows = 300_000
    const slow = async (env: Record<string, string>) => {
      const app = await startApp(env)
      const warned = vi.spyOn(app.ctx.log, 'warn')
      const secret = 'the-secret-value'
      const before = metricIn(await scrape(app), 'baton_slow_statements_total') as number
      await app.ctx.db.row(sql`select count(n::numeric), ${secret}::text
        from generate_series(1, ${rows}::int) n`)
      // Inside a transaction, and one that fails.
      await app.ctx.db
        .tx((tx) =>
          tx.row(
            sql`select 1 / (count(n::numeric) - ${rows}), ${secret}::text from generate_series(1, ${rows}::int) n`,
          ),
        )
        .catch(() => {})
      const count = (metricIn(await scrape(app), 'baton_slow_statements_total') as number) - before
      const entries = warned.mock.calls.filter(([, message]) => message === 'slow statement')
      expect(JSON.stringify(warned.mock.calls)).not.toContain(secret)
      expect(entries).toHaveLength(count)
      return entries
        .map(([entry]) => entry as unknown as { ms: number; statement: string })
        .filter(({ statement }) => statement.includes('generate_series'))
    }
    const [single, inTransaction, ...others] = await slow({ BATON_SLOW_MS: '5' })
    expect(others).toEqual([])
    expect(single?.statement).toBe('select count(n::numeric), $1::text from generate_series(1, $2::int) n')
    expect(single?.ms).toBeGreaterThanOrEqual(5)
    expect(inTransaction?.statement).toBe(
      'select 1 / (count(n::numeric) - $1), $2::text from generate_series(1, $3::int) n',
    )
    expect(await slow({ BATON_SLOW_MS: '600000' })).toEqual([])
    expect(await slow({ BATON_SLOW_MS: '0' })).toEqual([])
  },
)
