import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { createAgent, memoryTokens, verifyWebhook } from '@baton/sdk'
import { expect, test, vi } from 'vitest'
import { listen } from '../../server/test/loopback-server.ts'
import { Shell } from '../test/baton.ts'

const secret = 'pwhsec_doctor'

async function diagnosed(receiver: RequestListener, ...more: string[]) {
  const url = `http://127.0.0.1:${await listen(createServer(receiver))}/webhook`
  const shell = await Shell.open()
  const ended = await shell.run(['doctor', '--url', url, '--json', ...more], { env: { WEBHOOK_SECRET: secret } })
  const report = ended.json()
  type Finding = { name: string; fault: { fault: string } | null }
  const faults = (report.checks as Finding[]).filter(({ fault }) => fault)
  return { ...ended, report, faults: Object.fromEntries(faults.map(({ name, fault }) => [name, fault?.fault])) }
}

test('an agent built with the SDK passes all checks', async () => {
  const agent = createAgent({
    baseUrl: 'http://127.0.0.1:1',
    webhookSecret: secret,
    clientId: 'x',
    clientSecret: 'x',
    store: memoryTokens(),
    onCreated: () => 'Done.',
  })
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  const { code, report, faults } = await diagnosed((request, response) => void agent.node(request, response))
  expect(faults).toEqual({})
  expect(code).toBe(0)
  expect(report.passed).toBe(report.total)
  expect(report.unseen).toHaveLength(4)
  // The agent logs one line for each event of an unknown installation.
  const lines = log.mock.calls.map((words) => words.join(' '))
  expect(lines.length).toBeGreaterThan(0)
  for (const line of lines) expect(line).toMatch(/^\[baton\] ins_doctor: There are no tokens .*$/)
})

interface Received {
  raw: Buffer
  headers: IncomingHttpHeaders
  // biome-ignore lint/suspicious/noExplicitAny: receivers of tests reach into bodies freely
  event: any
}

/** A correct receiver, except for what `answer` changes. */
function receiver(answer: (received: Received, correct: number) => number | Promise<number>): RequestListener {
  return async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const raw = Buffer.concat(chunks)
    const { headers } = request
    const correct = verifyWebhook({ rawBody: raw, headers, secret }).ok ? 200 : 401
    const status = await answer({ raw, headers, event: JSON.parse(raw.toString()) }, correct)
    response.writeHead(status, status === 307 ? { location: '/there' } : {}).end()
  }
}

const seen = new Set<string>()
const created = new Set<string>()
const again = ({ event }: Received) => event.data.event_id && seen.size === seen.add(event.data.event_id).size
const verified = (received: Received, rawBody: Buffer | string, now = new Date()) =>
  verifyWebhook({ rawBody, headers: received.headers, secret, now }).ok ? 200 : 401
/** The answer of a receiver that needs the session before its messages. */
function needsCreated({ event }: Received, correct: number, isStop: boolean) {
  if (correct !== 200 || event.type !== 'AgentSessionEvent') return correct
  const { id } = event.data.agent_session
  if (event.action === 'created') created.add(id)
  else if ((event.data.agent_activity.signal === 'stop') === isStop && !created.has(id)) return 404
  return correct
}

const bad: [string, RequestListener, Record<string, RegExp>, string[]?][] = [
  [
    'verifies nothing',
    receiver(() => 200),
    {
      bad_signature: /does not check/,
      no_signature: /unsigned deliveries/,
      changed_body: /does not verify the whole body/,
      old_timestamp: /accepts old/,
    },
  ],
  [
    'verifies what it wrote out again',
    receiver((received) => verified(received, JSON.stringify(received.event))),
    {
      raw_bytes: /spaces and escapes/,
    },
  ],
  [
    'accepts old deliveries',
    receiver((received) => verified(received, received.raw, new Date(received.event.webhook_timestamp))),
    {
      old_timestamp: /accepts old/,
    },
  ],
  [
    'trusts the header',
    receiver((received) => {
      const fresh = Math.abs(Date.now() - Number(received.headers['svc-timestamp'])) < 60_000
      return fresh ? verified(received, received.raw, new Date(received.event.webhook_timestamp)) : 400
    }),
    { timestamp_header: /not signed/ },
  ],
  [
    'refuses duplicates',
    receiver((received, correct) => (correct === 200 && again(received) ? 409 : correct)),
    {
      duplicate: /200 and then 409/,
    },
  ],
  [
    'needs created before messages',
    receiver((received, correct) => needsCreated(received, correct, false)),
    {
      reordered: /404 to prompted before created/,
    },
  ],
  [
    'needs created before Stop',
    receiver((received, correct) => needsCreated(received, correct, true)),
    {
      stop_first: /404 to Stop before created/,
    },
  ],
  ['is slow', receiver((_, correct) => sleep(250, correct)), { in_time: /took \d+ ms/ }, ['--slow', '200']],
  [
    'crashes on forged deliveries',
    receiver((_, correct) => (correct === 200 ? 200 : 500)),
    {
      bad_signature: /500 instead of refusing/,
      no_signature: /500/,
      changed_body: /500/,
      old_timestamp: /500/,
    },
  ],
  [
    'has another secret',
    receiver((_, correct) => (correct === 200 ? 401 : correct)),
    { valid: /401 to a signed delivery/ },
  ],
  ['implements nothing', receiver(() => 501), { valid: /501 to a signed delivery/ }],
]

test.for(bad)('reports only that fault of a receiver that %s', async ([, receiver, expected, more = []]) => {
  const { code, faults, report } = await diagnosed(receiver, ...more)
  expect(code).toBe(1)
  expect(Object.keys(faults).sort()).toEqual(Object.keys(expected).sort())
  for (const [name, words] of Object.entries(expected)) expect(faults[name]).toMatch(words)
  expect(report.passed).toBe(report.total - Object.keys(expected).length)
})

test('reports a receiver that redirects', async () => {
  const { code, faults } = await diagnosed(receiver(() => 307))
  expect(code).toBe(1)
  expect(faults.valid).toBe('redirects (307 to /there)')
})

test('prints the report as text, and an unreachable receiver as an error', async () => {
  const shell = await Shell.open()
  const url = `http://127.0.0.1:${await listen(createServer(receiver(() => 200)))}/`
  const words = await shell.run(['doctor', '--url', url, '--secret', secret])
  expect(words).toMatchObject({ code: 1, stdout: expect.stringMatching(/^6 of 10\nNot tested/m), stderr: '' })
  expect(words.stdout).toContain('ins_doctor has no tokens')
  expect(words.stdout).toMatch(
    /FAULT refuses a wrong signature\n +It does not check the signature \(answered 200\)\.\n/,
  )
  const gone = await shell.run(['doctor', '--url', 'http://127.0.0.1:1/', '--secret', secret])
  expect(gone).toMatchObject({ code: 1, stderr: expect.stringMatching(/cannot be reached[\s\S]*Start your receiver/) })
  expect(await shell.run(['doctor', '--url', url])).toMatchObject({ code: 2 })
  // It claims nothing that it could not see.
  expect(words.stdout).toContain('uses the signed time, not the header: not tested, because of a fault above')
  expect(words.stdout).not.toContain('Svc-Timestamp')
  const empty = `http://127.0.0.1:${await listen(createServer(receiver(() => 501)))}/`
  const nothing = await shell.run(['doctor', '--url', empty, '--secret', secret])
  expect(nothing.stdout).toMatch(/^0 of 1$/m)
  expect(nothing.stdout).not.toMatch(/^ok/m)
  expect(nothing.stdout.match(/not tested, because of a fault above$/gm)).toHaveLength(10)
})
