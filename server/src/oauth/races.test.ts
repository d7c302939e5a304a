import { expect } from 'vitest'
import type { Response } from '../../test/client.ts'
import { type TestApp, test, verifiesOnPostgres } from '../../test/harness.ts'
import { consent, exchange, oauthScene, secretOf, token } from '../../test/oauth.ts'
import { collide } from '../../test/races.ts'
import { sha256 } from '../crypto.ts'
import { sql } from '../db/sql.ts'

const requestCount = 50

/** From two processes in turn. */
const fromBoth = (apps: [TestApp, TestApp], send: (app: TestApp) => Promise<Response>) =>
  Array.from({ length: requestCount }, (_, index) => send(apps[index % 2] as TestApp))

function expectOneSuccess(answers: Response[]) {
  const shown = answers.map(({ status, body }) => (status === 200 ? 'tokens' : `${status} ${body.error}`)).sort()
  expect(shown).toEqual([...Array(requestCount - 1).fill('400 invalid_grant'), 'tokens'])
  return answers.find(({ status }) => status === 200)?.body
}

/** How many tokens of the grant are stored. */
const stored = (app: TestApp, table: 'access_tokens' | 'refresh_tokens', refreshToken: string) =>
  app.ctx.db.row(sql`
    select count(*)::int as count from ${table === 'access_tokens' ? sql`access_tokens` : sql`refresh_tokens`}
    where grant_id = (select grant_id from refresh_tokens where hash = ${sha256(refreshToken)})`)

test(
  'of 50 parallel refreshes with one token exactly one succeeds, and its tokens work',
  verifiesOnPostgres('oauth.parallel-refresh-on-postgres', 'oauth.refresh-parallel-one-wins'),
  async ({ startApp }) => {
    const app = await startApp()
    const second = await startApp({}, app)
    const at = await oauthScene(app)
    const granted = await consent(at.owner, at.client.client_id, { all_teams: true })
    const { refresh_token: old } = (await exchange(app, at, granted)).body
    const refresh = (by: TestApp, refresh_token: string) =>
      token(by, { grant_type: 'refresh_token', refresh_token, ...secretOf(at) })
    const lock = sql`select 1 from refresh_tokens where hash = ${sha256(old)} for update`
    const answers = await collide(app, lock, () => fromBoth([app, second], (by) => refresh(by, old)))
    const winner = expectOneSuccess(answers)
    expect(await stored(app, 'refresh_tokens', old)).toEqual({ count: 2 })
    expect(await stored(app, 'access_tokens', old)).toEqual({ count: 2 })
    expect((await refresh(second, winner.refresh_token)).status).toBe(200)
  },
)

test(
  'of 50 parallel exchanges of one code exactly one succeeds',
  verifiesOnPostgres('oauth.parallel-refresh-on-postgres'),
  async ({ startApp }) => {
    const app = await startApp()
    const second = await startApp({}, app)
    const at = await oauthScene(app)
    const granted = await consent(at.owner, at.client.client_id, { all_teams: true })
    const lock = sql`select 1 from oauth_codes where hash = ${sha256(granted.code)} for update`
    const answers = await collide(app, lock, () => fromBoth([app, second], (by) => exchange(by, at, granted)))
    const winner = expectOneSuccess(answers)
    // The others replayed the code, which ends the grant (oauth.code-replay-ends-grant).
    expect(await stored(app, 'refresh_tokens', winner.refresh_token)).toEqual({ count: 1 })
    const form = { grant_type: 'refresh_token', refresh_token: winner.refresh_token, ...secretOf(at) }
    expect(await token(app, form)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  },
)
