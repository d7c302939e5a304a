import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { test } from '../../test/harness.ts'
import { systemClock } from '../clock.ts'

const guide = readFileSync(new URL('../../../docs/guides/webhooks.md', import.meta.url), 'utf8')

test('the receiver in the guide accepts our deliveries and refuses others', async ({ app, receiver }) => {
  const dir = mkdtempSync(join(tmpdir(), 'baton-guide-'))
  const file = join(dir, 'verify.mjs')
  writeFileSync(file, /```js\n([\s\S]*?)```/.exec(guide)?.[1] ?? '')
  const { verify } = await import(file)
  const { owner } = await app.workspace()
  const hook = { label: 'Guide', url: receiver.url, all_teams: true, resource_types: ['Issue'] }
  const { body: webhook } = await owner.post('/webhooks', hook)
  app.clock.advance({ milliseconds: systemClock.now().getTime() - app.clock.now().getTime() })
  // The login from March has expired by now.
  const fresh = await app.anonymous.post('/auth/sign-in', { email: owner.user.email, password: owner.password })
  const headers = { authorization: `Bearer ${fresh.body.token}`, 'x-workspace-id': owner.workspaceId }
  await app.anonymous.with(headers).post(`/webhooks/${webhook.id}/test`)
  const [ping] = receiver.take()
  const raw = ping?.raw.toString() ?? ''
  const signature = String(ping?.headers['svc-signature'])
  expect(verify(raw, signature, webhook.secret)).toMatchObject({ type: 'Ping' })
  expect(verify(raw.replace('Guide', 'Other'), signature, webhook.secret)).toBeNull()
  expect(
    verify(
      raw,
      signature.replace(/./, (digit) => (digit === '0' ? '1' : '0')),
      webhook.secret,
    ),
  ).toBeNull()
  expect(verify(raw, '', webhook.secret)).toBeNull()
  rmSync(dir, { recursive: true })
})
