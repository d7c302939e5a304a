import { expect } from 'vitest'
import { done } from '../../../test/delegation.ts'
import { insideScene, lastBody, typesOf } from '../../../test/inside-agents.ts'
import {
  calls,
  hangsUp,
  type ModelServer,
  modelKey,
  raw,
  refuses,
  says,
  silence,
  modelTest as test,
  workThrough,
} from '../../../test/model.ts'
import type { Config } from '../../config.ts'
import { sql } from '../../db/sql.ts'
import { Wakeups } from '../../relay/wakeups.ts'
import { AgentRunner } from '../runner.ts'
import { completionsAt } from './endpoint.ts'
import { recordHealth } from './health.ts'

type Script = Parameters<ModelServer['play']>

test('accepts the URL of the API and the URL of the completions endpoint', () => {
  const asked = 'https://model.example/v1/chat/completions'
  for (const given of ['https://model.example/v1', 'https://model.example/v1//', asked, `${asked}/`]) {
    expect(completionsAt(given)).toBe(asked)
  }
  expect(completionsAt('https://model.example')).toBe('https://model.example/chat/completions')
  expect(completionsAt(`${asked}?version=7`)).toBe(`${asked}?version=7`)
})

test('managers see the model and its health, and never the key', async ({ app, model }) => {
  const { owner, admin, member } = await app.workspace()
  const known = { configured: true, model: 'large-1', url_host: new URL(model.url).host }
  const nothing = { last_success_at: null, last_failure_at: null, last_failure: null }
  expect(await done(admin.get('/agents/model'))).toEqual({ ...known, ...nothing })
  expect(await member.get('/agents/model')).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })

  const { ctx, clock } = app
  const endpoint = ctx.config.model as NonNullable<Config['model']>
  const status = () => done(owner.get('/agents/model'))
  const start = clock.now().getTime()
  const at = (seconds: number) => new Date(start + seconds * 1000).toISOString()
  await recordHealth(ctx, endpoint)
  clock.advance({ seconds: 10 })
  await recordHealth(ctx, endpoint)
  expect(await status()).toEqual({ ...known, ...nothing, last_success_at: at(0) })
  const away = { last_failure_at: at(10), last_failure: 'answered with status 500' }
  await recordHealth(ctx, endpoint, away.last_failure)
  clock.advance({ seconds: 10 })
  await recordHealth(ctx, endpoint, away.last_failure)
  expect(await status()).toEqual({ ...known, last_success_at: at(0), ...away })
  await recordHealth(ctx, endpoint, 'did not answer in time')
  expect(await status()).toMatchObject({ last_failure_at: at(20), last_failure: 'did not answer in time' })
  await recordHealth(ctx, endpoint)
  expect(await status()).toMatchObject({ last_success_at: at(20) })
  clock.advance({ seconds: 60 })
  await recordHealth(ctx, endpoint)
  expect(await status()).toMatchObject({ last_success_at: at(80) })
  expect(JSON.stringify(await ctx.db.rows(sql`select * from model_health`))).not.toContain(modelKey)

  await recordHealth(ctx, { ...endpoint, name: 'small-1' }, 'answered with status 404')
  expect(await status()).toMatchObject({ last_failure: 'did not answer in time' })
})

test('model failures are retried or reported, and the built-in agent continues by rules', async ({ app, model }) => {
  const { owner, scribe, builtIn, createIssue, sessionOn, readActivities } = await insideScene(app)
  const late: Script[number] = () => app.clock.advance({ seconds: 60 })
  const page = raw('<html>502</html>', 200, { 'content-type': 'text/html' })
  const three = (turn: Script[number]): Script => [turn, turn, turn]
  const ok = says('Here I am.')
  const scripts: [what: string, script: Script, ends: string, after?: number][] = [
    ['busy for a moment', [refuses(429, { 'retry-after': '7' }), refuses(500), ok], 'response', 15],
    ['a Retry-After date', [refuses(503, { 'retry-after': 'Fri, 01 Jan 2021 00:00:00 GMT' }), ok], 'response', 0],
    ['away for a moment', [hangsUp, ok], 'response', 2],
    ['slow once', [late, ok], 'response', 62],
    ['answered with status 500', three(refuses(500)), 'model_unavailable', 10],
    ['answered with status 429', [refuses(429, { 'retry-after': '3600' })], 'model_unavailable', 0],
    ['answered with status 401', [refuses(401)], 'model_unavailable', 0],
    ['answered with status 302', [refuses(302, { location: `${app.rootUrl}/healthz` })], 'model_unavailable', 0],
    ['could not be reached', three(hangsUp), 'model_unavailable', 10],
    ['did not answer in time', three(late), 'model_unavailable', 190],
    ['sent an invalid response', [page], 'model_bad_answer', 0],
    ['sent an invalid response', [raw('{"choices":[]}')], 'model_bad_answer', 0],
    ['sent an invalid response', [raw('{"choices":[{"message":"hi"}]}')], 'model_bad_answer', 0],
    ['a response that is too large', [raw(' '.repeat(1024 * 1024 + 1))], 'model_bad_answer', 0],
  ]
  for (const [what, script, ends, after] of scripts) {
    const issue = await createIssue({ delegate_id: scribe.id })
    const began = app.clock.now().getTime()
    model.play(calls(['get_workspace', {}]), ...script)
    await workThrough(app)
    expect((app.clock.now().getTime() - began) / 1000, what).toBe(after)
    expect(model.asked.length, what).toBe(script.length + 1)
    const last = (await readActivities(await sessionOn(issue))).at(-1)
    if (ends === 'response') {
      expect(last, what).toMatchObject({ type: 'response', content: { body: 'Here I am.' } })
      continue
    }
    expect(last, what).toMatchObject({ type: 'error', content: { reason_code: ends } })
    expect(lastBody([last as never])).toContain(what)
    expect((await done(owner.get('/agents/model'))).last_failure).toContain(what)
  }

  for (const [title, script] of [
    ['Invoices show the wrong tax', [refuses(401)]],
    ['Printer jams', [page]],
  ] as [string, Script][]) {
    const issue = await createIssue({ delegate_id: builtIn, type: 'bug', title })
    model.play(calls(['get_issue', { issue_id: issue.id }]), ...script)
    await workThrough(app)
    const session = await sessionOn(issue)
    expect(session.state).toBe('complete')
    const activities = (await readActivities(session)).filter(({ ephemeral }) => !ephemeral)
    expect(typesOf(activities)).toEqual(['action', 'thought', ...Array(4).fill('action'), 'response'])
    expect(lastBody(activities.slice(1, 2))).toMatch(
      /^The language model (answered with|sent) .*, so this time I'll work by rules/,
    )
    expect(lastBody(activities)).toContain('**Missing**')
  }
  expect(await app.everything()).not.toContain(modelKey)
})

test('Stop aborts a pending request to the model and clears its timers', async ({ app, model }) => {
  const { member, scribe, createIssue, sessionOn, readActivities } = await insideScene(app)
  const runner = new AgentRunner(app.ctx, app.door, new Wakeups(app.ctx.db, app.ctx.log, 'work'))
  const issue = await createIssue({ delegate_id: scribe.id })
  const { turn, asked, gone } = silence()
  model.play(turn)
  const drained = runner.drain()
  await asked
  const session = await sessionOn(issue)
  expect(session.state).toBe('active')
  await done(member.post(`/agent-sessions/${session.id}/stop`))
  await runner.renew()
  await gone
  await drained
  expect(await sessionOn(issue)).toMatchObject({ state: 'complete', end_reason: 'stopped' })
  expect(typesOf(await readActivities(session))).toEqual(['thought', 'prompt', 'response'])
  expect(app.clock.waiting).toBe(0)
})
