import { BatonClient } from '@baton/sdk'
import { hostileTexts } from '../../abuse/hostile.ts'
import { type Company, expect, installUrl, type ScriptedAgent, signedIn, test } from './baton.ts'
import { expectHarmless, recordSideEffects } from './harmless.ts'

/** Short enough for every field. */
const name = '"><img src=x onerror=window.ran=1>עדה'
const markup = `x</title></script><script>window.ran='text'</script>${name}`
const markdown = hostileTexts.map((text) => `x${text}`).join('\n\n')

/** Hostile text in every field that a workspace has; returns the paths or URLs of the screens that show it. */
async function fill({ owner, engineering }: Company, robot: ScriptedAgent, hookUrl: string): Promise<string[]> {
  const { api } = owner
  await api.updateWorkspace({ name, guidance: markdown.slice(0, 5000) })
  await api.updateTeam({ team_id: engineering.id, name, guidance: markup, repositories: [{ repository: name }] })
  const guest = new BatonClient({ baseUrl: api.rootUrl })
  const email = `hostile-${owner.id}@example.com`
  const { user, token } = await guest.signUp({ email, password: owner.password, name })
  const invited = await api.createInvitation({ email, role: 'member' })
  await new BatonClient({ baseUrl: api.rootUrl, token }).acceptInvitation({ token: invited.token })
  await api.createInvitation({ email: "'-window.ran-'@example.com", role: 'member' })
  await api.addTeamMember({ team_id: engineering.id, user_id: user.id })

  const initiative = await api.createInitiative({ name, description: markdown })
  const label = await api.createLabel({ name })
  const cycle = await api.createCycle({ team_id: engineering.id, name })
  const project = await api.createProject({
    title: markup,
    description: markdown,
    team_ids: [engineering.id],
    lead_id: user.id,
    initiative_id: initiative.id,
    label_ids: [label.id],
  })
  const milestone = await api.createMilestone({ project_id: project.id, name })
  await api.createView({ name, query: `q=${encodeURIComponent(name)}&status=todo`, shared: true })
  await api.createPersonalAgent({ name, instructions: markup })
  const webhook = await api.createWebhook({
    label: name,
    url: hookUrl,
    all_teams: true,
    resource_types: ['Issue', 'Comment', 'Project'],
  })
  const issue = await api.createIssue({
    title: markup,
    description: markdown,
    team_id: engineering.id,
    project_id: project.id,
    milestone_id: milestone.id,
    cycle_id: cycle.id,
    label_ids: [label.id],
    assignee_id: user.id,
    status: 'todo',
  })
  await api.updateIssue({ issue_id: issue.id, title: `${markup} again`, delegate_id: robot.userId })
  await api.createComment({ target_type: 'issue', target_id: issue.id, text: `@[${name}](${owner.id}) ${markdown}` })
  await api.createComment({ target_type: 'project', target_id: project.id, text: markdown })

  const session = await robot.session()
  await session.setPlan([{ content: markup, status: 'completed' }, name])
  await session.action(name, markup, markdown)
  await session.addUrl(name, `https://code.example.com/${encodeURIComponent(name)}`)
  await session.thought(markdown)
  await session.select(markdown, [{ value: markup, label: name, description: markup }, name])

  await api.setTeamReview({ team_id: engineering.id, mode: 'on', accept_status: 'done' })
  await api.updateIssue({ issue_id: issue.id, delegate_id: null })
  await api.updateIssue({ issue_id: issue.id, delegate_id: robot.userId })
  const delivered = await robot.session()
  const suggestions = [{ field: 'priority' as const, value: 'high', reason: markup.slice(0, 200) }]
  await delivered.client.suggestChanges({ session_id: delivered.id, suggestions })
  await delivered.respond(markdown)
  const automation = await api.createAutomation({
    team_id: engineering.id,
    name,
    trigger: { type: 'issue', on: 'created' },
    filter: { text: name },
    actions: [{ type: 'comment', text: markup }],
  })

  const answered = async () =>
    (await api.listWebhookDeliveries({ webhook_id: webhook.id, status: 'failed' })).data.length +
    (await api.listWebhookDeliveries({ webhook_id: webhook.id })).data.filter(({ attempts }) => attempts.length > 0)
      .length
  await expect.poll(answered).toBeGreaterThan(0)
  const { data: deliveries } = await api.listWebhookDeliveries({ webhook_id: webhook.id })
  const delivery = deliveries.find(({ attempts }) => attempts.length > 0)
  const settings = ['account', 'workspace', 'members', 'teams', `teams/${engineering.id}`, 'webhooks', 'audit-log']
  const automations = ['automations', `automations/${automation.id}`]
  const apps = [
    'agent-apps',
    `agent-apps/${robot.registered.app.id}`,
    `agent-apps/${robot.registered.app.id}/deliveries`,
  ]
  const hooks = ['', '/deliveries', `/deliveries/${delivery?.id}`].map((rest) => `webhooks/${webhook.id}${rest}`)
  return [
    '/issues',
    `/issues?layout=board&q=${encodeURIComponent(name)}`,
    `/issue/${issue.code}`,
    `/issue/${encodeURIComponent(name)}`,
    '/projects',
    `/project/${project.id}`,
    '/agents',
    `/agent-session/${session.id}`,
    '/inbox',
    '/reviews',
    '/triage',
    '/insights',
    await installUrl(owner, robot.registered),
    `/invitations/accept?token=${encodeURIComponent(name)}`,
    ...[...settings, ...automations, ...apps, ...hooks].map((screen) => `/settings/${screen}`),
  ]
}

test('hostile text in every field of a workspace is only text on every screen', async ({
  page,
  company,
  agent,
  receiver,
  service,
  faults,
}) => {
  test.slow()
  const robot = await agent({ name: `Robot ${name}` })
  const hook = await receiver()
  hook.answer = (response) => response.writeHead(500, { 'content-type': 'text/html' }).end(`${markup}${markdown}`)
  const screens = await fill(company, robot, hook.url)
  // An issue and an invitation that do not exist.
  faults.allow(/status of 404/)
  const seen = recordSideEffects(page, service.url)
  await signedIn(page, company.owner)
  for (const screen of screens) {
    await test.step(screen, async () => {
      await page.goto(screen)
      await expect(page.getByRole('main')).toBeVisible()
      await expect(page.locator('[aria-busy="true"]')).toHaveCount(0)
      // The hostile text is shown, at least as the name of the workspace.
      if (!screen.startsWith('/invitations')) await expect(page.locator('body')).toContainText('onerror=window.ran')
      await expectHarmless(page, seen)
    })
  }
})
