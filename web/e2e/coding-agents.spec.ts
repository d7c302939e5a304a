import { expect, narrow, scrolledSideways, signedIn, test, verifies } from './baton.ts'
import { menu } from './parts.ts'

test('the page prints the command for each coding agent', async ({ page, company, service, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await signedIn(page, company.owner)
  await page.goto('/agents')
  await page.getByRole('link', { name: 'Add a coding agent' }).click()
  const command = page.getByRole('region', { name: 'command', exact: true })
  await expect(command).toHaveText(`npx ${service.url}/packages/cli.tgz run -- opencode acp`)
  await page.getByRole('button', { name: 'Copy command', exact: true }).click()
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(await command.innerText())
  const commands = {
    Codex: 'run --name Codex --mode workspace-write -- npx @agentclientprotocol/codex-acp',
    Gemini: 'run -- gemini --acp',
    Claude: 'run --name Claude -- npx @agentclientprotocol/claude-agent-acp',
    'Another command': 'run --name Helper --plain -- COMMAND',
  }
  for (const [name, text] of Object.entries(commands)) {
    await page.getByRole('button', { name, exact: true }).click()
    await expect(command).toHaveText(`npx ${service.url}/packages/cli.tgz ${text}`)
  }
  await expect(page.getByText('A worktree is no sandbox')).toBeVisible()
  // The last one is a plain command.
  await expect(page.getByText('A plain command asks for nothing: it has your rights.')).toBeVisible()
  await expect(page.getByText('It asks before it runs commands')).toBeHidden()
  const guide = await page.request.get(
    (await page.getByRole('link', { name: 'Guide: coding agents' }).getAttribute('href')) ?? '',
  )
  expect(guide.status()).toBe(200)
})

test.describe('on a narrow screen', () => {
  test.use({ viewport: narrow })

  test('a member is told to ask', async ({ page, company, service }) => {
    await signedIn(page, company.member)
    await page.goto('/agents/add')
    await expect(page.getByRole('region', { name: 'command', exact: true })).toHaveText(
      `npx ${service.url}/packages/cli.tgz run --request -- opencode acp`,
    )
    await expect(page.getByText('Ask an owner or admin')).toBeVisible()
    expect(await scrolledSideways(page)).toEqual([])
  })
})

test(
  'an agent whose runner is not connected is shown as such in picker, card and list',
  verifies('run.listening-shown-in-pickers'),
  async ({ page, company, service }) => {
    const { api, token, workspaceId } = company.owner
    const [door, hinges] = company.issues
    const { app } = await api.createAgentApp({
      schemaVersion: '1.0.0',
      name: 'Runner',
      developer: { name: 'Robots Inc' },
      oauth: { redirect_uris: ['https://listen.invalid/'], scopes: ['read', 'app:assignable', 'app:mentionable'] },
      webhook: { url: 'https://listen.invalid/' },
    })
    const { app_user_id } = await api.installApp({ app_id: app.id, all_teams: true })
    await api.updateIssue({ issue_id: door.id, delegate_id: app_user_id ?? null })
    await signedIn(page, company.member)
    await page.goto('/agents')
    await expect(page.getByRole('listitem').filter({ hasText: 'Runner' }).getByText('Not connected')).toBeVisible()
    await page.goto(`/issue/${hinges.code}`)
    await page
      .getByRole('button', { name: /^Delegate/ })
      .first()
      .click()
    await expect(menu(page).getByRole('option', { name: /Runner/ })).toContainText('not connected')
    await page.keyboard.press('Escape')

    await page.goto(`/issue/${door.code}`)
    const card = page.getByRole('region', { name: 'Session of Runner' })
    await expect(card).toContainText('Runner is not connected. The work waits until its program runs again')

    // As soon as it listens, the card no longer says so.
    const listening = new AbortController()
    const stream = await fetch(`${service.url}/api/v1/agent-apps/${app.id}/listen`, {
      headers: { authorization: `Bearer ${token}`, 'x-workspace-id': workspaceId },
      signal: listening.signal,
    })
    expect(stream.status).toBe(200)
    await expect(card).not.toContainText('is not connected')
    listening.abort()
    await expect(card).toContainText('is not connected')
  },
)
