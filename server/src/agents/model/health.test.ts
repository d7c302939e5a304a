import { expect } from 'vitest'
import { done } from '../../../test/delegation.ts'
import { test } from '../../../test/harness.ts'
import { sql } from '../../db/sql.ts'
import { recordHealth } from './health.ts'

const nothing = { last_success_at: null, last_failure_at: null, last_failure: null }

test('managers see which model there is and how it answers, and never the key', async ({ app, startApp }) => {
  const without = await app.workspace()
  expect(await done(without.owner.get('/agents/model'))).toEqual({
    configured: false,
    model: null,
    url_host: null,
    ...nothing,
  })
  const key = 'a-key-that-nobody-sees'
  const env = { BATON_MODEL_URL: 'http://localhost:8123/v1/', BATON_MODEL: 'large-1', BATON_MODEL_KEY: key }
  const one = await startApp(env)
  const { owner, admin, member } = await one.workspace()
  const model = { configured: true, model: 'large-1', url_host: 'localhost:8123' }
  expect(await done(admin.get('/agents/model'))).toEqual({ ...model, ...nothing })
  expect(await member.get('/agents/model')).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })

  const { ctx, clock } = one
  const endpoint = ctx.config.model
  if (!endpoint) throw new Error('no model')
  const status = () => done(owner.get('/agents/model'))
  const at = (seconds: number) => new Date(start + seconds * 1000).toISOString()
  const start = clock.now().getTime()
  await recordHealth(ctx, endpoint)
  clock.advance({ seconds: 10 })
  await recordHealth(ctx, endpoint)
  expect(await status()).toEqual({ ...model, ...nothing, last_success_at: at(0) })
  await recordHealth(ctx, endpoint, 'answered with status 500')
  clock.advance({ seconds: 10 })
  await recordHealth(ctx, endpoint, 'answered with status 500')
  expect(await status()).toEqual({
    ...model,
    last_success_at: at(0),
    last_failure_at: at(10),
    last_failure: 'answered with status 500',
  })
  await recordHealth(ctx, endpoint, 'did not answer in time')
  expect(await status()).toMatchObject({ last_failure_at: at(20), last_failure: 'did not answer in time' })
  await recordHealth(ctx, endpoint)
  expect(await status()).toMatchObject({ last_success_at: at(20) })
  clock.advance({ seconds: 60 })
  await recordHealth(ctx, endpoint)
  expect(await status()).toMatchObject({ last_success_at: at(80) })
  expect(JSON.stringify(await ctx.db.rows(sql`select * from model_health`))).not.toContain(key)

  await recordHealth(ctx, { ...endpoint, name: 'small-1' }, 'answered with status 404')
  expect(await status()).toMatchObject({ last_failure: 'did not answer in time' })
})
