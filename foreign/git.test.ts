import { createRequire } from 'node:module'
import { sign, verify } from '@octokit/webhooks-methods'
import { expect } from 'vitest'
import { connect } from '../server/test/git.ts'
import { type TestApp, test, verifies } from '../server/test/harness.ts'
import { issueScene } from '../server/test/issues.ts'

interface Recorded {
  name: string
  examples: { action?: string; ref?: string; repository?: { full_name?: string } }[]
}
const recorded: Recorded[] = createRequire(import.meta.url)('@octokit/webhooks-examples')

/** Events that Baton uses. */
const used = ['pull_request', 'pull_request_review', 'push', 'check_run', 'check_suite', 'status']

async function scene(app: TestApp) {
  const { owner } = await issueScene(app)
  const repositories = ['Codertocat/Hello-World', 'electron/electron', 'github/hello-world']
  const { id, secret } = await connect(owner, { repositories })
  const send = async (event: string, raw: string, signature?: string) =>
    app.anonymous.postRoot(`/hooks/git/${id}`, undefined, {
      raw,
      headers: { 'x-github-event': event, 'x-hub-signature-256': signature ?? (await sign(secret, raw)) },
    })
  return { owner, secret, send }
}

test(
  "accepts GitHub's recorded payloads as its library signs them",
  verifies('git.github-signature'),
  async ({ app }) => {
    const { owner, secret, send } = await scene(app)
    for (const { name, examples } of recorded) {
      for (const example of used.includes(name) ? examples : examples.slice(0, 1)) {
        const raw = JSON.stringify(example)
        const { status, body } = await send(name, raw)
        const label = { name, action: example.action, ref: example.ref }
        expect({ ...label, status }).toEqual({ ...label, status: 202 })
        const isUsed = used.includes(name) && !example.ref?.startsWith('refs/tags/')
        if (!isUsed) expect({ ...label, ...body }).toEqual({ ...label, outcome: 'ignored_event' })
        else expect({ ...label, ...body }).not.toEqual({ ...label, outcome: 'ignored_event' })
      }
    }
    const { data } = (await owner.get('/pull-requests')).body
    expect(data).toMatchObject([{ repository: 'Codertocat/Hello-World', number: 2, author: 'Codertocat' }])
    const raw = JSON.stringify(recorded[0]?.examples[0])
    const signature = await sign(secret, raw)
    expect(await verify(secret, raw, signature)).toBe(true)
    for (const [body, one] of [
      [raw.replace('{', '{ '), signature],
      [raw, await sign('whsec_another', raw)],
      [raw, ''],
      [raw, signature.replace('sha256', 'sha1')],
    ] as const) {
      expect((await send('ping', body, one)).status).toBe(401)
    }
  },
)

test('a recorded payload counts only under its own event', verifies('git.event-shape'), async ({ app }) => {
  const { owner, send } = await scene(app)
  // Those of events that Baton uses, and others with a branch or a pull request.
  const similar = recorded.filter(({ name }) => used.includes(name) || /^(pull_request|create|delete)/.test(name))
  for (const { name, examples } of similar) {
    const raw = JSON.stringify(examples[0])
    for (const event of used.filter((one) => one !== name)) {
      const { body } = await send(event, raw)
      expect({ name, event, ...body }).toEqual({ name, event, outcome: 'ignored_event' })
    }
  }
  expect((await owner.get('/pull-requests')).body.data).toEqual([])
})
