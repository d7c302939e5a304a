import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type TestPerson, test, verifies } from '../../server/test/harness.ts'
import { Shell } from '../test/baton.ts'

/** The address that the command prints for the browser. */
async function pageOf(running: ReturnType<Shell['start']>): Promise<URL> {
  const address = /https?:\/\/\S+\/cli-login\?\S+\n/
  await running.says(address)
  return new URL(address.exec(running.stderr)?.[0].trim() ?? '')
}

/** What the page does when the user allows it. */
async function allow(person: TestPerson, page: URL) {
  const { challenge, name, port } = Object.fromEntries(page.searchParams)
  const { body } = await person.post('/auth/cli-logins', { challenge, name, ...(port && { port: Number(port) }) })
  return body as { code: string; redirect_to: string }
}

test('logs in with the browser', verifies('account.cli-login'), async ({ app }) => {
  const { owner } = await app.workspace()
  const shell = await Shell.open()
  const running = shell.start(['login', '--browser', '--url', app.rootUrl, '--json'])
  const page = await pageOf(running)
  expect(`${page.origin}${page.pathname}`).toBe(`${app.rootUrl}/cli-login`)
  expect(page.searchParams.get('name')).toMatch(/^baton on /)
  const { redirect_to } = await allow(owner, page)
  expect(redirect_to).toContain(`http://127.0.0.1:${page.searchParams.get('port')}/?code=`)
  // A page of another site can send any code there; it is ignored.
  const wrong = new URL(redirect_to)
  wrong.searchParams.set('code', 'a-guess')
  expect((await fetch(wrong)).status).toBe(400)
  expect((await fetch(new URL('/favicon.ico', redirect_to))).status).toBe(404)
  const returned = await fetch(redirect_to)
  expect([returned.status, await returned.text()]).toEqual([200, expect.stringContaining('You are logged in.')])
  const ended = await running.ended
  expect(ended.code).toBe(0)
  expect(ended.json()).toMatchObject({
    url: app.rootUrl,
    email: owner.user.email,
    workspace: { id: owner.workspaceId },
  })
  const config = JSON.parse(await readFile(join(shell.configDirectory, 'config.json'), 'utf8'))
  const { token } = config.logins[app.rootUrl]
  expect(ended.stdout + ended.stderr).not.toContain(token)
  const login = app.anonymous.with({ authorization: `Bearer ${token}` })
  const { data } = (await login.get('/auth/logins')).body as { data: { current: boolean }[] }
  expect(data.find(({ current }) => current)).toMatchObject({
    method: 'cli',
    client: expect.stringMatching(/^baton on /),
  })
  expect((await shell.run(['apps'])).code).toBe(0)
})

test('takes no password together with the browser', async () => {
  const shell = await Shell.open()
  const refused = await shell.run(['login', '--browser', '--email', 'ada@example.com'])
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/--browser needs no --email/) })
  const alone = await shell.run(['login', '--paste', '--url', 'http://127.0.0.1:1'])
  expect(alone).toMatchObject({ code: 2, stderr: expect.stringMatching(/--paste needs --browser/) })
})
