import { checkAxe, expect, keyboardOnly, narrow, scrolledSideways, signedIn, tabTo, test, verifies } from './baton.ts'

test(
  'a member builds an automation as a sentence, tries it and reads its history',
  verifies('automation.create', 'automation.run-history'),
  async ({ page, company, faults }) => {
    const { api } = company.owner
    const team = company.engineering
    await signedIn(page, company.owner)
    await page.goto('/settings/automations')
    await page.getByRole('button', { name: 'Create automation' }).first().click()
    await page.getByLabel('Name', { exact: true }).fill('Thank reporters')
    await page.getByLabel('Team', { exact: true }).selectOption(team.id)
    await page.getByRole('button', { name: 'Add condition' }).click()
    await page.getByRole('option', { name: 'Type' }).click()
    await page.getByRole('option', { name: 'Bug' }).click()
    await page.keyboard.press('Escape')
    faults.expect(/status of 422/)
    await page.getByRole('button', { name: 'Create automation' }).click()
    await expect(page.getByLabel('Comment', { exact: true })).toHaveAccessibleDescription(/./)
    expect((await api.listAutomations({})).data).toEqual([])
    await page.getByLabel('Comment', { exact: true }).fill('Thanks for {{issue.code}}')

    const issue = await api.createIssue({ title: 'It breaks', type: 'bug', team_id: team.id })
    const trial = page.getByRole('complementary', { name: 'Try' })
    await trial.getByRole('button', { name: 'Try' }).click()
    await expect(trial.getByRole('list', { name: 'It would' })).toHaveText(/Comment/)
    expect((await api.listComments({ target_type: 'issue', target_id: issue.id })).data).toEqual([])
    await page.setViewportSize(narrow)
    expect(await scrolledSideways(page)).toEqual([])
    await page.getByRole('button', { name: 'Create automation' }).click()
    await expect(page.getByText('It has not run yet.')).toBeVisible()

    const bug = await api.createIssue({ title: 'It breaks again', type: 'bug', team_id: team.id })
    await expect(page.getByRole('list', { name: 'Runs' }).getByText(bug.code)).toBeVisible({ timeout: 20_000 })
    await expect(page.getByRole('list', { name: 'Runs' }).getByText('Done')).toBeVisible({ timeout: 20_000 })
    await page.goto(`/issue/${bug.code}`)
    await expect(page.getByText(', automation Thank reporters').first()).toBeVisible()
  },
)

test('“Repeat…” fills the editor from an issue', verifies('automation.recurring'), async ({ page, company }) => {
  const { api } = company.owner
  const issue = await api.createIssue({
    title: 'Write the report',
    description: 'With figures',
    priority: 'high',
    type: 'story',
    team_id: company.engineering.id,
  })
  await signedIn(page, company.owner)
  await page.goto(`/issue/${issue.code}`)
  await page.getByRole('button', { name: 'Issue actions' }).click()
  await page.getByRole('menuitem', { name: 'Repeat…' }).click()
  await expect(page.getByLabel('When', { exact: true })).toHaveValue('schedule')
  await expect(page.getByLabel('Title', { exact: true })).toHaveValue('Write the report')
  await expect(page.getByLabel('Description')).toHaveValue('With figures')
  await expect(page.getByLabel('Priority', { exact: true })).toHaveValue('high')
  const name = page.getByLabel('Name', { exact: true })
  keyboardOnly(page)
  await tabTo(name)
  await page.keyboard.press('Enter')
  await expect(page.getByText('It has not run yet.')).toBeVisible()
  const [automation] = (await api.listAutomations({})).data
  expect(automation).toMatchObject({
    preset: 'recurring',
    trigger: { type: 'schedule', cron: '0 9 * * 1' },
    actions: [{ type: 'create_issue', title: 'Write the report', priority: 'high', issue_type: 'story' }],
  })
})

test('a schedule offers what it can begin with, and Try shows errors at their fields', async ({
  page,
  company,
  faults,
}) => {
  const { api } = company.owner
  await signedIn(page, company.owner)
  await page.goto('/settings/automations/new')
  const first = page.getByLabel('Action 1', { exact: true })
  await expect(first).toHaveValue('comment')
  await expect(page.getByText('{{issue.code}}')).toBeVisible()
  await page.getByLabel('When', { exact: true }).selectOption('it is time')
  await expect(first).toHaveValue('create_issue')
  await expect(first.getByRole('option')).toHaveText(['create an issue', 'notify people'])
  await expect(page.getByText('{{issue.code}}')).toHaveCount(0)
  await page.getByRole('button', { name: 'Add action' }).click()
  await expect(page.getByLabel('Action 2', { exact: true }).getByRole('option')).toHaveCount(6)
  await expect(page.getByText('{{issue.code}}')).toHaveCount(1)

  faults.expect(/status of 422/)
  const trial = page.getByRole('complementary', { name: 'Try' })
  await trial.getByRole('button', { name: 'Try' }).click()
  await expect(trial.getByRole('status')).toHaveText('Not tried. Correct the marked fields first.')
  await expect(page.getByLabel('Comment', { exact: true })).toHaveAccessibleDescription(/must/i)
  await checkAxe(page)
  await page.getByLabel('Comment', { exact: true }).fill('See {{issue.code}}')
  await trial.getByRole('button', { name: 'Try' }).click()
  await expect(page.getByLabel('Title', { exact: true })).toHaveAccessibleDescription('Give a title or a template.')
  await page.getByLabel('Title', { exact: true }).fill('Report of {{week}}')
  await trial.getByRole('button', { name: 'Try' }).click()
  await expect(trial.getByRole('list', { name: 'It would' })).toContainText('Create an issue: Report of 2')
  expect((await api.listIssues({ query: 'Report of' })).data).toEqual([])
})

test('a schedule is chosen by day and time, and the page says when it runs next', async ({ page, company }) => {
  const { api } = company.owner
  await signedIn(page, company.owner)
  await page.goto('/settings/automations/new')
  await page.getByLabel('Name', { exact: true }).fill('Weekly report for everyone who asked for one')
  await page.getByLabel('When', { exact: true }).selectOption('it is time')
  await page.getByLabel('Title', { exact: true }).fill('Report')
  await page.getByLabel('Day', { exact: true }).selectOption('Friday')
  await page.getByLabel('Time', { exact: true }).fill('16:30')
  await page.getByLabel('Time zone', { exact: true }).selectOption('UTC')
  await page.getByLabel('Schedule', { exact: true }).selectOption('Custom')
  await expect(page.getByLabel('Cron', { exact: true })).toHaveValue('30 16 * * 5')
  await page.getByLabel('Schedule', { exact: true }).selectOption('Every week')
  await checkAxe(page)
  await page.getByRole('button', { name: 'Create automation' }).click()
  await expect(page.getByText(/^Next: Fri, \w+ \d+, 16:30$/)).toBeVisible()
  const [automation] = (await api.listAutomations({})).data
  expect(automation).toMatchObject({ trigger: { type: 'schedule', cron: '30 16 * * 5', time_zone: 'UTC' } })

  await page.setViewportSize(narrow)
  await page.goto('/settings/automations')
  const row = page.getByRole('list', { name: 'Automations' }).getByRole('listitem')
  await expect(row).toContainText('Fridays at 16:30 (UTC), next ')
  await expect(row.getByText('Never run').first()).toBeVisible()
  expect(await scrolledSideways(page)).toEqual([])
})

test('the form says that changes without a condition run nothing within the team', async ({ page, company }) => {
  const { api } = company.owner
  const issue = await api.createIssue({ title: 'A door', team_id: company.engineering.id })
  await api.updateIssue({ issue_id: issue.id, priority: 'high' })
  await signedIn(page, company.owner)
  await page.goto('/settings/automations/new')
  await page.getByLabel('Team', { exact: true }).selectOption(company.engineering.id)
  await page.getByLabel('Comment', { exact: true }).fill('Hello')
  await expect(page.getByText(/^Without a condition/)).toHaveCount(0)
  await page.getByLabel('When', { exact: true }).selectOption('an issue changes')
  await expect(page.getByText(/^Without a condition, no change within the team runs it/)).toBeVisible()
  const trial = page.getByRole('complementary', { name: 'Try' })
  await trial.getByRole('button', { name: 'Try' }).click()
  await expect(trial.getByRole('status')).toContainText(/^0 of the latest \d+ changes .* Without a condition/)
  await page.getByRole('button', { name: 'Add condition' }).click()
  await page.getByRole('option', { name: 'Priority' }).click()
  await page.getByRole('option', { name: 'High' }).click()
  await page.keyboard.press('Escape')
  await expect(page.getByText(/^Without a condition/)).toHaveCount(0)
  await trial.getByRole('button', { name: 'Try' }).click()
  await expect(trial.getByRole('status')).toContainText(/^[1-9]\d* of the latest/)
})
