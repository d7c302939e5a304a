import { checkAxe, expect, signedIn, test } from './baton.ts'
import { rowOf } from './parts.ts'

test('several issues are changed at once and undone', async ({ page, company }) => {
  const { owner, issues } = company
  await owner.api.createLabel({ name: 'wood' })
  await signedIn(page, owner)
  await page.goto('/issues?team=ENG&group=none&sort=newest')
  await rowOf(page, 'Order new screws').hover()
  await rowOf(page, 'Order new screws').getByRole('checkbox').click()
  await rowOf(page, 'Oil the hinges')
    .getByRole('checkbox')
    .click({ modifiers: ['Shift'] })
  const bar = page.getByRole('toolbar', { name: '3 selected' })
  await bar.getByRole('button', { name: 'Priority' }).click()
  await page.getByRole('option', { name: 'Urgent' }).click()
  await expect(page.getByText('3 issues: urgent priority')).toBeVisible()
  await page.keyboard.press('s')
  await expect(page.getByRole('combobox', { name: 'Change status' })).toBeFocused()
  await page.keyboard.type('qa')
  await page.keyboard.press('Enter')
  await expect(page.getByText('3 issues moved to QA')).toBeVisible()
  const values = async () => {
    const { data } = await owner.api.listIssues({ team_id: company.engineering.id, limit: 50 })
    return data.map(({ status, priority }) => `${status} ${priority}`).reverse()
  }
  const [first, ...others] = ['todo high', 'in_progress no_priority', 'backlog low', 'done no_priority']
  expect(await values()).toEqual([first, 'qa urgent', 'qa urgent', 'qa urgent'])
  // The toast of a new issue has no Undo. Each Control+Z undoes one earlier change.
  await page.keyboard.press('c')
  await expect(page.getByRole('dialog', { name: 'New issue' }).getByLabel('Title')).toBeFocused()
  await page.keyboard.type('Later')
  await page.keyboard.press('Enter')
  await expect(page.getByText('ENG-5 created')).toBeVisible()
  await page.keyboard.press('Control+z')
  await page.keyboard.press('Control+z')
  await expect.poll(values).toEqual([first, ...others, 'backlog no_priority'])

  await bar.getByRole('button', { name: 'Labels' }).click()
  await page.getByRole('option', { name: 'wood' }).click()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('row').filter({ hasText: 'wood' })).toHaveCount(3)
  await checkAxe(page)
  await page.keyboard.press('Escape')
  await expect(bar).toHaveCount(0)
  expect((await owner.api.getIssue({ issue_id: issues[0].id })).label_ids).toEqual([])
})

test('undoing a move restores the milestone and the cycle', async ({ page, company }) => {
  const { api } = company.owner
  const milestone = await api.createMilestone({ project_id: company.project.id, name: 'Beta' })
  const cycle = await api.createCycle({ team_id: company.engineering.id, name: 'Week 1' })
  const planned = { milestone_id: milestone.id, cycle_id: cycle.id }
  await api.updateIssue({ issue_id: 'ENG-1', ...planned })
  const mine = await api.createIssue({ title: 'Mend my bike', personal: true })
  await signedIn(page, company.owner)
  await page.goto('/issues?group=none')
  const now = (id: string) => () => api.getIssue({ issue_id: id })
  const bar = page.getByRole('toolbar', { name: '1 selected' })
  const undone = async (action: string, to: RegExp, id: string, moved: Record<string, unknown>) => {
    await bar.getByRole('button', { name: action }).click()
    await page.getByRole('option', { name: to }).click()
    await expect.poll(now(id)).toMatchObject(moved)
    await page.getByRole('button', { name: 'Undo' }).last().click()
  }

  await rowOf(page, 'The door sticks').getByRole('checkbox').click()
  await undone('Project', /No project/, 'ENG-1', { milestone_id: null })
  await expect.poll(now('ENG-1')).toMatchObject({ project_id: company.project.id, ...planned })
  await undone('Move to', /Design/, 'ENG-1', { code: 'DES-2', cycle_id: null })
  await expect.poll(now('ENG-1')).toMatchObject({ team_id: company.engineering.id, ...planned })
  await page.keyboard.press('Escape')
  await rowOf(page, 'Mend my bike').getByRole('checkbox').click()
  await undone('Move to', /Design/, mine.id, { team_id: company.design.id, personal: false })
  await expect.poll(now(mine.id)).toMatchObject({ team_id: null, personal: true })
})

test('reverts what the server refuses', async ({ page, company, faults }) => {
  const { owner, issues } = company
  await signedIn(page, owner)
  await page.goto('/issues')
  const row = rowOf(page, 'The door sticks')
  await expect(row.getByRole('button', { name: 'Status: Todo' })).toBeVisible()
  faults.expect(/status of 422/)
  await page.route(`**/api/v1/issues/${issues[0].id}`, async (route) => {
    // The server refuses this: the status does not exist.
    const body = { ...route.request().postDataJSON(), status: 'nowhere' }
    await route.continue({ postData: JSON.stringify(body) })
  })
  await row.getByRole('button', { name: 'Status: Todo' }).click()
  await page.getByRole('option', { name: 'QA' }).click()
  await expect(page.getByRole('alert')).toBeVisible()
  await expect(row.getByRole('button', { name: 'Status: Todo' })).toBeVisible()
  expect(await owner.api.getIssue({ issue_id: issues[0].id })).toMatchObject({ status: 'todo' })

  // If some of several changes are refused, the accepted ones can be undone.
  for (const title of ['The door sticks', 'Oil the hinges']) await rowOf(page, title).getByRole('checkbox').click()
  await page.getByRole('toolbar', { name: '2 selected' }).getByRole('button', { name: 'Status' }).click()
  await page.getByRole('option', { name: 'QA' }).click()
  const other = async () => (await owner.api.getIssue({ issue_id: issues[1].id })).status
  await expect.poll(other).toBe('qa')
  const message = page.getByRole('alert').filter({ hasText: '1 of 2 were not changed' })
  await message.getByRole('button', { name: 'Undo the others' }).click()
  await expect.poll(other).toBe('in_progress')
})
