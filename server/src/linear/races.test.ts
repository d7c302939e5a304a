import { expect } from 'vitest'
import { test, verifiesOnPostgres } from '../../test/harness.ts'
import { installedLinearApp, linearForm } from '../../test/linear.ts'
import { collide } from '../../test/races.ts'
import { sha256 } from '../crypto.ts'
import { sql } from '../db/sql.ts'

test(
  'no token is issued for a secret that is being rotated',
  verifiesOnPostgres('linear.oauth-client-credentials'),
  async ({ app }) => {
    const { owner } = await app.workspace()
    const robot = await installedLinearApp(app, owner)
    const rotation = sql`update agent_apps set client_secret_hash = ${sha256('another')} where id = ${robot.app.id}`
    const answers = await collide(app, rotation, () =>
      Array.from({ length: 6 }, () => linearForm(app, 'token', { grant_type: 'client_credentials', ...robot.secrets })),
    )
    expect(answers.map(({ body }) => body.error)).toEqual(Array(6).fill('invalid_client'))
  },
)
