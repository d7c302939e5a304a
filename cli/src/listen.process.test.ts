import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { verifyWebhook } from '@baton/sdk'
import { expect } from 'vitest'
import { test, verifies } from '../../server/test/harness.ts'
import { listenable } from '../../server/test/listener.ts'
import { listen } from '../../server/test/loopback-server.ts'
import { isSigned } from '../../server/test/receiver.ts'
import { Shell } from '../test/baton.ts'
import { forward } from './forward.ts'

const listenUrl = 'https://listen.invalid/'

test(
  'forwards each attempt with its headers and bytes and returns the answer',
  verifies('listen.cli-forwards'),
  async ({ app, receiver }) => {
    const { owner } = await app.workspace()
    const robot = await listenable(app, owner, listenUrl)
    const secret = await robot.secret()
    const shell = await Shell.of(owner, app.rootUrl)
    const listening = shell.start(['listen', '--app', robot.id, '--forward-to', receiver.url, '--json'])
    await listening.says(/"ready"/)
    expect((await robot.listener())?.user.id).toBe(owner.user.id)

    await robot.issue('ümlaut ✓ </script>')
    await app.deliver()
    const [received] = receiver.take()
    if (!received) throw new Error('nothing was received')
    expect(isSigned(received, secret)).toBe(true)
    const { raw: rawBody, headers } = received
    expect(verifyWebhook({ rawBody, headers, secret, now: app.clock.now() }).ok).toBe(true)
    const [delivery] = await robot.deliveries()
    expect(headers).toMatchObject({ 'svc-delivery': delivery.id, 'svc-event': 'Issue', 'user-agent': 'Svc-Webhook/1' })
    expect(delivery).toMatchObject({
      status: 'succeeded',
      attempts: [{ http_status: 200, response_excerpt: 'answer 200' }],
    })

    receiver.answer = 503
    await robot.issue()
    await app.deliver()
    const [failed] = await robot.deliveries()
    expect(failed).toMatchObject({ status: 'pending', attempts: [{ http_status: 503, reason: 'http_error' }] })
    receiver.answer = (response) => response.writeHead(302, { location: 'https://elsewhere.example.com/' }).end()
    await robot.issue()
    await app.deliver()
    expect((await robot.deliveries())[0]).toMatchObject({ attempts: [{ http_status: 302, reason: 'redirect' }] })

    await listening.says(/302/)
    const attempts = listening.lines().filter(({ event }) => event === 'attempt')
    expect(attempts.map(({ status, type, late }) => [status, type, late])).toEqual([
      [200, 'Issue', false],
      [503, 'Issue', false],
      [302, 'Issue', false],
    ])
    expect(await listening.interrupt()).toMatchObject({ code: 0 })
    expect(listening.stdout + listening.stderr).not.toContain(owner.token)
  },
)

test('forwards several attempts at once, and reports an unreachable program', async ({ app }) => {
  const { owner } = await app.workspace()
  const robot = await listenable(app, owner, listenUrl)
  const shell = await Shell.of(owner, app.rootUrl)
  // Each is answered only after all have arrived, so forwarding one by one would never end.
  const waiting: (() => void)[] = []
  const server = createServer((request, response) => {
    request.resume()
    waiting.push(() => response.end('together'))
    if (waiting.length === 3) for (const answer of waiting) answer()
  })
  const port = await listen(server)
  const listening = shell.start(['listen', '--forward-to', `http://127.0.0.1:${port}/`])
  await listening.says(/Ready/)
  await Promise.all([robot.issue(), robot.issue(), robot.issue()])
  await app.deliver()
  expect((await robot.deliveries()).map(({ status }: { status: string }) => status)).toEqual(Array(3).fill('succeeded'))

  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await robot.issue()
  await app.deliver()
  expect((await robot.deliveries())[0]).toMatchObject({ attempts: [{ http_status: 502 }] })
  await listening.says(/could not be reached \(ECONNREFUSED\)/)
  expect(await listening.interrupt()).toMatchObject({ code: 0 })
})

test('reconnects after a lost connection, and ends when replaced or when the URL changes', async ({ app }) => {
  const { owner, admin } = await app.workspace()
  const robot = await listenable(app, owner, listenUrl)
  const shell = await Shell.of(owner, app.rootUrl)
  // A proxy whose connections can be cut.
  const sockets = new Set<() => void>()
  const proxy = createServer((request, response) => {
    const abort = new AbortController()
    sockets.add(() => {
      abort.abort()
      response.destroy()
    })
    const { host: _, connection: _c, ...headers } = request.headers
    void pipe(`${app.rootUrl}${request.url}`, headers as Record<string, string>, abort.signal)
    async function pipe(url: string, headers: Record<string, string>, signal: AbortSignal) {
      try {
        const answer = await fetch(url, { headers, signal })
        response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' })
        for await (const chunk of answer.body ?? []) response.write(chunk)
      } catch {}
      response.end()
    }
  })
  const through = `http://127.0.0.1:${await listen(proxy)}`
  const cuttable = await Shell.of(owner, through)
  const first = cuttable.start(['listen', '--forward-to', 'http://127.0.0.1:1/'])
  await first.says(/Ready/)
  for (const cut of sockets) cut()
  await first.says(/Retrying/)
  await first.says(/Ready[\s\S]*Ready/)

  const another = await Shell.of(admin, app.rootUrl)
  const second = another.start(['listen', '--forward-to', 'http://127.0.0.1:1/'])
  await second.says(/Ready/)
  expect(await first.ended).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/now listens to .*[\s\S]*\nEnd the other command and run `npx baton listen` again/),
  })

  const { body } = await owner.get(robot.path)
  await owner.put(robot.path, {
    schemaVersion: '1.0.0',
    name: body.name,
    developer: { name: 'Robots Inc' },
    oauth: { redirect_uris: body.redirect_uris, scopes: body.requested_scopes },
    webhook: { url: 'https://robots.example.com/hook' },
  })
  expect(await second.ended).toMatchObject({ code: 1, stderr: expect.stringMatching(/another webhook URL/) })

  const refused = await app.unchanged(() => shell.run(['listen', '--forward-to', 'http://127.0.0.1:1/', '--json']))
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/--take-over/) })
  expect(JSON.parse(refused.stdout).error.code).toBe('FORBIDDEN')
  const taking = shell.start(['listen', '--forward-to', 'http://127.0.0.1:1/', '--take-over'])
  await taking.says(/Ready/)
  expect(await taking.interrupt()).toMatchObject({ code: 0 })
})

test('names a wrong webhook secret of the directory in one line', async ({ app, receiver }) => {
  const { owner } = await app.workspace()
  const robot = await listenable(app, owner, listenUrl)
  const { name } = (await owner.get(robot.path)).body
  const shell = await Shell.of(owner, app.rootUrl)
  const setSecret = (secret: string) =>
    writeFile(join(shell.cwd, '.env'), `APP_ID=${robot.id}\nWEBHOOK_SECRET=${secret}\n`)
  await setSecret('pwhsec_wrong')
  receiver.answer = 401
  const listening = shell.start(['listen', '--forward-to', receiver.url])
  await listening.says(/Ready/)
  const deliver = async () => {
    await robot.issue()
    await app.deliver()
  }
  await deliver()
  await listening.says(/--env/)
  const advice = `Run \`npx baton apps rotate webhook ${robot.id} --env .env\` to get a new one.`
  expect(listening.stderr).toContain(`\nWEBHOOK_SECRET in .env is not the webhook secret of ${name}. ${advice}\n`)

  // The file is read again for each refusal.
  await setSecret(await robot.secret())
  await deliver()
  await listening.says(/WEBHOOK_SECRET in \.env is right, but your program refused the delivery/)
  expect(await listening.interrupt()).toMatchObject({ code: 0 })
})

test('listen requires a valid --forward-to', async () => {
  const shell = await Shell.open()
  expect(await shell.run(['listen'])).toMatchObject({ code: 2, stderr: expect.stringMatching(/--forward-to/) })
  expect(await shell.run(['listen', '--forward-to', 'here'])).toMatchObject({ code: 2 })
})

test('returns no answer for a program that does not respond in time', async () => {
  const port = await listen(createServer(() => {}))
  const attempt = { attempt_id: 'att_1', delivery_id: 'dlv_1', url: listenUrl, headers: {}, body: '' }
  const outcome = await forward(attempt, `http://127.0.0.1:${port}/`, { timeoutMs: 50 })
  expect(outcome).toMatchObject({ answer: null, problem: 'no answer in time' })
})
