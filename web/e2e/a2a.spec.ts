import { A2aServer, artifactUpdate, statusUpdate, task } from '../../server/test/a2a-server.ts'
import { checkAxe, expect, narrow, scrolledSideways, signedIn, test, verifies } from './baton.ts'

test(
  'a manager registers an A2A agent from its card',
  verifies('a2a.inspect', 'a2a.create'),
  async ({ page, company, faults }) => {
    const server = await A2aServer.start()
    try {
      await signedIn(page, company.owner)
      await page.goto('/settings/agent-apps/new')
      await page.getByRole('button', { name: 'From an A2A card' }).click()
      faults.expect(/status of 422/)
      await page.getByLabel('Card URL').fill('https://10.0.0.1')
      await page.getByRole('button', { name: 'Read card' }).click()
      await expect(page.getByLabel('Card URL')).toHaveAccessibleDescription(/public address/)
      server.card = { supportedInterfaces: [{ url: server.origin, protocolBinding: 'GRPC', protocolVersion: '1.0' }] }
      await page.getByLabel('Card URL').fill(server.origin)
      await page.getByRole('button', { name: 'Read card' }).click()
      await expect(page.getByText('The agent offers neither JSON-RPC nor HTTP+JSON.')).toBeVisible()
      server.card = {}
      await page.getByRole('button', { name: 'Read card' }).click()
      await expect(page.getByText('Repeats what you say')).toBeVisible()
      const register = page.getByRole('button', { name: 'Register and install' })
      await expect(register).toBeDisabled()
      await page.getByLabel('Name', { exact: true }).fill('Doorman')
      await page.getByLabel('All teams').check()
      await page.getByLabel('Bearer token').check()
      await expect(register).toBeDisabled()
      await page.getByLabel('Token', { exact: true }).fill('canary-token')
      await register.click()

      await expect(page.getByRole('heading', { name: 'A2A agent' })).toBeVisible()
      await expect(page.getByText('A2A 1.0, JSONRPC, streaming')).toBeVisible()
      await expect(page.getByRole('heading', { name: 'Secrets' })).toHaveCount(0)
      await expect(page.getByText('2 of 4')).toBeVisible()
      const [app] = (await company.owner.api.listAgentApps({})).data
      expect(app).toMatchObject({ name: 'Doorman', protocol: 'a2a', a2a: { credential_type: 'bearer' } })
    } finally {
      await server.stop()
    }
  },
)

test('a delegation to an A2A agent shows its work', verifies('a2a.completed-response'), async ({ page, company }) => {
  const server = await A2aServer.start()
  try {
    const { installation_id } = await company.owner.api.createA2aApp({
      card_url: server.origin,
      scopes: ['app:assignable'],
      all_teams: true,
      credential: { type: 'bearer', token: 'canary-token' },
    })
    server.on.SendStreamingMessage = (call) => {
      const stream = call.stream()
      stream.send(
        { task: task('t1', 'WORKING', 'Reading') },
        artifactUpdate('t1', { artifactId: 'a', name: 'Report', parts: [{ text: 'Oiled the hinge.' }] }),
        statusUpdate('t1', 'COMPLETED', 'The door is quiet now.'),
      )
      stream.end()
    }
    const installation = await company.owner.api.getInstallation({ installation_id })
    const [issue] = company.issues
    await company.owner.api.updateIssue({
      issue_id: issue?.id ?? '',
      delegate_id: installation.app_user_id,
      assignee_id: company.owner.id,
    })
    await signedIn(page, company.owner)
    await page.goto(`/issue/${issue?.code}`)
    await expect(page.getByText('The door is quiet now.')).toBeVisible()
    expect(server.calls.map(({ method, headers }) => [method, headers.authorization])).toEqual([
      ['SendStreamingMessage', 'Bearer canary-token'],
    ])
  } finally {
    await server.stop()
  }
})

test(
  'the page of an A2A agent: a new address is accepted, the credential changed',
  verifies('a2a.origin-pinned', 'a2a.credential-sealed'),
  async ({ page, company }) => {
    const server = await A2aServer.start()
    const other = await A2aServer.start()
    try {
      const { app } = await company.owner.api.createA2aApp({
        card_url: server.origin,
        scopes: ['app:assignable'],
        all_teams: true,
      })
      await signedIn(page, company.owner)
      await page.goto(`/settings/agent-apps/${app.id}`)
      await page.getByRole('button', { name: 'Change credential' }).click()
      const dialog = page.getByRole('dialog', { name: 'Change credential' })
      await dialog.getByLabel('API key').check()
      await dialog.getByLabel('Key', { exact: true }).fill('canary-key')
      await dialog.getByRole('button', { name: 'Save credential' }).click()
      await expect(page.getByText('Credential changed')).toBeVisible()
      expect(await company.owner.api.getAgentApp({ app_id: app.id })).toMatchObject({
        a2a: { credential_type: 'api_key' },
      })

      server.card = {
        supportedInterfaces: [{ url: `${other.origin}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      }
      await page.getByRole('button', { name: 'Read card again' }).click()
      await expect(page.getByText('The card names another address')).toBeVisible()
      await checkAxe(page)
      await page.setViewportSize(narrow)
      expect(await scrolledSideways(page)).toEqual([])
      await page.getByRole('button', { name: 'Accept new address' }).click()
      await expect(page.getByText('The card names another address')).toHaveCount(0)
      expect(await company.owner.api.getAgentApp({ app_id: app.id })).toMatchObject({
        webhook: { state: 'enabled', url: `${other.origin}/a2a` },
      })
    } finally {
      await server.stop()
      await other.stop()
    }
  },
)
