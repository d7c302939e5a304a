import { expect } from 'vitest'
import type { TestApp } from '../../server/test/harness.ts'
import { test } from '../../server/test/harness.ts'
import type { Receiver } from '../../server/test/receiver.ts'
import { Shell } from '../test/baton.ts'

async function scene(app: TestApp, receiver: Receiver) {
  const { owner } = await app.workspace()
  const team = (await owner.post('/teams', { name: 'Engineering', key: 'ENG' })).body
  const { body: issue } = await owner.post('/issues', { title: 'Mend', team_id: team.id })
  const scopes = ['read', 'app:assignable', 'app:mentionable']
  const robot = await app.installed(owner, { scopes, webhook: receiver.url })
  return { owner, issue, robot, shell: await Shell.of(owner, app.rootUrl) }
}

test('each trigger causes its event', async ({ app, receiver }) => {
  const { owner, issue, robot, shell } = await scene(app, receiver)
  const deliveredEvents = async () => {
    await app.deliver()
    return receiver.take().map(({ body }) => [body.action, body.data.agent_activity?.signal ?? null])
  }
  const created = await shell.run(['trigger', 'created', '--issue', issue.code, '--json'])
  expect(created).toMatchObject({ code: 0, stderr: '' })
  const { session_id } = created.json()
  expect((await owner.get(`/issues/${issue.id}`)).body.delegate_id).toBe(robot.userId)
  expect(await deliveredEvents()).toEqual([['created', null]])

  expect(await shell.run(['trigger', 'prompt', '--issue', issue.code, '--text', 'Hello'])).toMatchObject({ code: 0 })
  expect(await deliveredEvents()).toEqual([['prompted', null]])
  const twice = await app.unchanged(() => shell.run(['trigger', 'created', '--issue', issue.code]))
  expect(twice).toMatchObject({ code: 1, stderr: expect.stringContaining(`already delegated`) })
  expect(await shell.run(['trigger', 'stop', '--session', session_id, '--json'])).toMatchObject({ code: 0 })
  expect(await deliveredEvents()).toEqual([['prompted', 'stop']])
  const afterwards = await app.unchanged(() => shell.run(['trigger', 'prompt', '--session', session_id]))
  expect(afterwards).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('\n  end_reason: a person pressed Stop (stopped)\n'),
  })
  expect(await shell.run(['trigger', 'mention', '--issue', issue.code, '--text', 'look'])).toMatchObject({ code: 0 })
  expect(await deliveredEvents()).toEqual([['created', null]])

  const ping = await shell.run(['trigger', 'ping', '--json'])
  expect(ping.json()).toMatchObject({ ok: true, status: 200 })
  expect(receiver.take().map(({ body }) => body.type)).toEqual(['Ping'])
  receiver.answer = 500
  expect(await shell.run(['trigger', 'ping'])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/500 http_error/),
  })
})

test('prints the link of the issue', async ({ app, receiver }) => {
  const { issue, shell } = await scene(app, receiver)
  const { url } = issue
  expect(url).toMatch(/^http/)
  for (const what of ['created', 'prompt', 'stop', 'mention']) {
    const ended = await shell.run(['trigger', what, '--issue', issue.code])
    expect(ended, what).toMatchObject({ code: 0, stdout: expect.stringMatching(new RegExp(`\\.\\n${url}\\n$`)) })
  }
  const json = await shell.run(['trigger', 'mention', '--issue', issue.code, '--json'])
  expect(json.json().issue_url).toBe(url)
})

test('refuses an invalid trigger and changes nothing', async ({ app, receiver }) => {
  const { issue, owner, shell } = await scene(app, receiver)
  await app.installed(owner, { scopes: ['read'], name: 'Reader', webhook: receiver.url })
  await owner.post('/agent-apps', {
    schemaVersion: '1.0.0',
    name: 'Idle',
    developer: { name: 'Robots Inc' },
    oauth: { redirect_uris: ['https://robots.example.com/callback'], scopes: ['read'] },
  })
  const refusals: [string[], number, RegExp][] = [
    [['trigger'], 2, /missing/],
    [['trigger', 'paint'], 2, /created, mention, prompt, stop, ping/],
    [['trigger', 'created'], 2, /--issue/],
    [['trigger', 'created', '--issue', issue.code], 1, /No app was given\. In Acme: .*\n.* as --app/],
    [['trigger', 'created', '--issue', issue.code, '--app', 'Idle'], 1, /not installed/],
    [['trigger', 'stop', '--issue', issue.code], 1, /has no agent session[\s\S]*trigger created --issue iss_/],
    [
      ['trigger', 'created', '--issue', issue.code, '--app', 'Reader'],
      1,
      /\n {2}reason: it lacks.*\(app_missing_scope\)/,
    ],
    [['trigger', 'created', '--issue', 'ENG-999', '--app', 'Reader'], 1, /Not found: issue ENG-999 in Acme/],
    [['trigger', 'prompt', '--issue', 'ENG-999'], 1, /Not found: issue ENG-999 in Acme/],
    [['trigger', 'stop', '--session', 'ses_1'], 1, /Not found: session ses_1 in Acme/],
  ]
  for (const [args, code, words] of refusals) {
    const ended = await app.unchanged(() => shell.run(args))
    expect(ended, args.join(' ')).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(words) })
  }
})

test('lists deliveries with attempts, filters failed ones, follows changes and redelivers', async ({
  app,
  receiver,
}) => {
  const { issue, robot, shell } = await scene(app, receiver)
  receiver.answer = 500
  await shell.run(['trigger', 'created', '--issue', issue.code])
  await app.deliver()
  const [delivery] = (await shell.run(['deliveries', '--json'])).json()
  expect(delivery).toMatchObject({ status: 'pending', attempts: [{ number: 1, http_status: 500 }] })
  expect((await shell.run(['deliveries'])).stdout).toMatch(
    /AgentSessionEvent created {2}pending\n {2}1\. .* 500 http_error/,
  )
  expect((await shell.run(['deliveries', '--failed', '--json'])).json()).toEqual([])

  const following = shell.start(['deliveries', '--follow', '--json'])
  await following.says(/"pending"/)
  receiver.answer = 200
  const again = await shell.run(['deliveries', 'redeliver', delivery.id, '--app', robot.app.id, '--json'])
  expect(again).toMatchObject({ code: 0 })
  await app.deliver()
  await following.says(/"succeeded"/)
  expect(await following.interrupt()).toMatchObject({ code: 0 })
  expect(following.lines().at(-1)).toMatchObject({ id: delivery.id, attempts: [{ number: 1 }, { number: 2 }] })

  const gone = 'dlv_00000000-0000-7000-8000-000000000000'
  expect(await app.unchanged(() => shell.run(['deliveries', 'redeliver', gone]))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`Not found: delivery ${gone} of ${robot.app.name}`),
  })
  expect(await shell.run(['deliveries', 'redeliver'])).toMatchObject({ code: 2 })
  expect(await shell.run(['deliveries', '--limit', '0'])).toMatchObject({ code: 2 })
})
