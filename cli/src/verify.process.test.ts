import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { signedHeaders, signWebhook } from '@baton/sdk'
import { expect, test } from 'vitest'
import { Shell } from '../test/baton.ts'
import { examine } from './signature.ts'

const secret = 'pwhsec_abc'
const now = new Date('2026-01-01T00:00:00Z')
const { body, headers } = signWebhook(
  { type: 'Ping', action: 'create', data: { webhook_id: 'w', label: 'ü' } },
  { secret, now },
)
const signature = headers['svc-signature'] ?? ''
const text = Buffer.from(body).toString()

test('accepts a signed delivery of up to 60 s', () => {
  const saved = { rawBody: body, signature, secret, toleranceMs: 60_000 }
  const at = (ms: number) => examine({ ...saved, now: new Date(now.getTime() + ms) }).at(-1)
  expect(at(60_000)).toEqual({ step: 'is_fresh', ok: true })
  expect(at(60_001)).toMatchObject({ step: 'is_fresh', ok: false, problem: expect.stringMatching(/60 s before/) })
  expect(at(-60_001)).toMatchObject({ step: 'is_fresh', ok: false, problem: expect.stringMatching(/60 s after/) })
})

test.for<[string, Partial<Parameters<typeof examine>[0]>, string, RegExp]>([
  ['no signature', { signature: '' }, 'signature_present', /signature is missing/],
  ['a prefix', { signature: `sha256=${signature}` }, 'signature_present', /prefix sha256=/],
  ['capitals', { signature: signature.toUpperCase() }, 'signature_present', /lower case/],
  ['base64', { signature: Buffer.from(signature, 'hex').toString('base64') }, 'signature_present', /base64/],
  [
    'a serialized body',
    { rawBody: Buffer.from(JSON.stringify(JSON.parse(text), null, 2)) },
    'signature_fits',
    /parsed and serialized again/,
  ],
  ['a line feed', { rawBody: Buffer.from(`${text}\n`) }, 'signature_fits', /parsed and serialized|white space/],
  ['an incomplete secret', { secret: 'abc' }, 'signature_fits', /secret is incomplete/],
  ['another secret', { secret: 'pwhsec_other' }, 'signature_fits', /does not match this body and secret/],
  [
    'another body',
    { rawBody: Buffer.from(text.replace('ü', 'u')) },
    'signature_fits',
    /does not match this body and secret/,
  ],
])('recognizes %s', ([, changed, step, words]) => {
  const steps = examine({ rawBody: body, signature, secret, now, toleranceMs: 60_000, ...changed })
  const last = steps.at(-1)
  expect(last).toMatchObject({ step, ok: false })
  expect(`${last?.problem} ${last?.advice}`).toMatch(words)
})

test('reports a signed body that is not an event', () => {
  const rawBody = Buffer.from('{"type":"Ping"}')
  const signature = signedHeaders(rawBody, 'Ping', { secret })['svc-signature'] ?? ''
  const steps = examine({ rawBody, signature, secret, now, toleranceMs: 0 })
  expect(steps.at(-1)).toMatchObject({ step: 'is_json', ok: false })
})

test('reads the body from stdin or a file, and the secret from the environment or a file', async () => {
  const shell = await Shell.open()
  const at = ['--at', now.toISOString(), '--signature', signature]
  await writeFile(join(shell.cwd, 'body.json'), body)
  await writeFile(join(shell.cwd, '.env'), `WEBHOOK_SECRET=${secret}\n`)
  const fine = await shell.run(['verify', '--body', 'body.json', ...at, '--json'])
  expect(fine).toMatchObject({ code: 0 })
  expect(fine.json().ok).toBe(true)
  const piped = await shell.run(['verify', ...at], { input: body, env: { WEBHOOK_SECRET: secret } })
  expect(piped).toMatchObject({ code: 0, stdout: expect.stringMatching(/^(ok .*\n){4}$/) })
  const pretty = JSON.stringify(JSON.parse(text), null, 2)
  const changed = await shell.run(['verify', ...at, '--secret', secret, '--json'], { input: pretty })
  expect(changed).toMatchObject({ code: 1, stderr: expect.stringMatching(/serialized again/) })
  expect(changed.json()).toMatchObject({ ok: false, steps: [{ ok: true }, { step: 'signature_fits', ok: false }] })
  const old = await shell.run(['verify', '--signature', signature], { input: body })
  expect(old).toMatchObject({ code: 1, stdout: expect.stringMatching(/FAILED {2}webhook_timestamp/) })
  const elsewhere = await Shell.open()
  expect(await elsewhere.run(['verify', ...at], { input: body })).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/secret is missing/),
  })
})
