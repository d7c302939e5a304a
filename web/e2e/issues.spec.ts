import type { Page } from '@playwright/test'
import { expect, keyboardOnly, narrow, scrolledSideways, signedIn, test } from './baton.ts'
import { rowOf, typeInPalette } from './parts.ts'

const columnOf = (page: Page, name: string) => page.getByRole('region', { name, exact: true })

test('an issue is created, found, changed and renamed with the mouse', async ({ page, company }) => {
  await signedIn(page, company.owner)
  await page.goto('/issues')
  await expect(rowOf(page, 'The door sticks')).toBeVisible()

  await page.getByRole('button', { name: 'New issue', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'New issue' })
  await dialog.getByLabel('Title').fill('Paint the door')
  await dialog.getByRole('button', { name: /^Team:/ }).click()
  await page.getByRole('option', { name: /Engineering/ }).click()
  await dialog.getByRole('button', { name: 'Priority: No priority' }).click()
  await page.getByRole('option', { name: 'Urgent' }).click()
  await dialog.getByRole('button', { name: 'Create issue' }).click()
  await expect(page.getByText('ENG-5 created')).toBeVisible()
  const row = rowOf(page, 'Paint the door')
  await expect(row.getByRole('button', { name: 'Priority: Urgent' })).toBeVisible()

  await row.getByRole('button', { name: 'Status: Backlog' }).click()
  await page.getByRole('option', { name: 'QA' }).click()
  await expect(row.getByRole('button', { name: 'Status: QA' })).toBeVisible()
  await row.getByRole('link', { name: 'Paint the door' }).dblclick()
  await page.getByLabel('Title of ENG-5').fill('Paint the door green')
  await page.getByLabel('Title of ENG-5').press('Enter')
  await expect(rowOf(page, 'Paint the door green')).toBeVisible()
  await expect
    .poll(() => company.owner.api.getIssue({ issue_id: 'ENG-5' }))
    .toMatchObject({ title: 'Paint the door green', status: 'qa', priority: 'urgent' })

  await page.getByRole('button', { name: /^Grouped by/ }).click()
  await page.getByRole('option', { name: 'Assignee' }).click()
  await expect(page.getByRole('button', { name: /^Olive Owner 1$/ })).toBeVisible()
})

test('groups collapse and expand by keyboard', async ({ page, company }) => {
  await signedIn(page, company.owner)
  await page.goto('/issues?team=ENG&group=assignee')
  const door = rowOf(page, 'The door sticks')
  const current = page.locator('[aria-current="true"]')
  await expect(door).toBeVisible()
  keyboardOnly(page)
  for (const key of ['j', 'j', 'ArrowLeft']) await page.keyboard.press(key)
  await expect(door).toHaveCount(0)
  await expect(page.getByRole('button', { name: /^Olive Owner 1$/ })).toHaveAttribute('aria-expanded', 'false')
  await expect(current).toContainText('Measure the frame')
  await page.keyboard.press('ArrowRight')
  await expect(current).toContainText('The door sticks')
  await page.keyboard.press('ArrowLeft')
  await typeInPalette(page, 'expand all')
  await page.keyboard.press('Enter')
  await expect(door).toBeVisible()
})

test('everything works from the keyboard alone', async ({ page, company }) => {
  const { owner, issues } = company
  await signedIn(page, owner)
  await page.goto('/issues?team=ENG&group=none&sort=newest')
  await expect(rowOf(page, 'Order new screws')).toBeVisible()
  keyboardOnly(page)
  const { keyboard } = page
  const current = page.locator('[aria-current="true"]')
  const openMenu = async (key: string, title: string) => {
    await keyboard.press(key)
    await expect(page.getByRole('combobox', { name: title })).toBeFocused()
  }
  await keyboard.press('j')
  await expect(current).toContainText('Order new screws')
  await keyboard.press('j')
  await keyboard.press('ArrowDown')
  await keyboard.press('k')
  await expect(current).toContainText('Measure the frame')

  await openMenu('s', 'Change status')
  await keyboard.type('in prog')
  await keyboard.press('Enter')
  await expect(current.getByRole('button', { name: 'Status: In progress' })).toBeVisible()
  await openMenu('a', 'Assign to')
  await keyboard.type('mona')
  await keyboard.press('Enter')
  await expect(current.getByRole('button', { name: 'Assignee: Mona Member' })).toBeVisible()
  await openMenu('m', 'Move to')
  await keyboard.type('design')
  await keyboard.press('Enter')
  await expect
    .poll(() => owner.api.getIssue({ issue_id: issues[2].id }))
    .toMatchObject({
      status: 'in_progress',
      assignee_id: company.member.id,
      team_id: company.design.id,
    })
  await expect(rowOf(page, 'Measure the frame')).toHaveCount(0)

  await expect(current).toContainText('Oil the hinges')
  await keyboard.press('Space')
  await expect(page).toHaveURL(/peek=ENG-2/)
  await expect(page.getByRole('complementary', { name: 'Issue ENG-2' })).toBeVisible()
  await keyboard.press('Escape')
  await expect(page).not.toHaveURL(/peek/)
  await keyboard.press('r')
  await expect(page.getByLabel('Title of ENG-2')).toBeFocused()
  await keyboard.press('Control+a')
  await keyboard.type('Oil all the hinges')
  await keyboard.press('Enter')
  await expect(current).toContainText('Oil all the hinges')

  await keyboard.press('c')
  await keyboard.type('Typed at once')
  await keyboard.press('Enter')
  await expect(rowOf(page, 'Typed at once')).toBeVisible()
  await expect(page.getByRole('dialog')).toHaveCount(0)

  await keyboard.press('#')
  await expect(page.getByRole('dialog', { name: 'Delete ENG-2?' })).toBeVisible()
  await keyboard.press('Enter')
  await expect(page.getByText('ENG-2 deleted')).toBeVisible()
  await expect(rowOf(page, 'Oil all the hinges')).toHaveCount(0)
  await expect(owner.api.getIssue({ issue_id: issues[1].id })).rejects.toMatchObject({ code: 'RESOURCE_NOT_FOUND' })

  await keyboard.press('Home')
  await keyboard.press('o')
  await expect(page).toHaveURL(/\/issue\/ENG-/)
})

test('a new issue from all issues starts with the team that the user last listed or added to', async ({
  page,
  company,
}) => {
  await signedIn(page, company.owner)
  const dialog = page.getByRole('dialog', { name: 'New issue' })
  for (const [key, name] of [
    ['ENG', 'Engineering'],
    ['DES', 'Design'],
  ]) {
    await page.goto(`/issues?team=${key}`)
    await expect(page.getByRole('button', { name: `Team is ${name}`, exact: true })).toBeVisible()
    await page.goto('/issues')
    await expect(rowOf(page, 'The door sticks')).toBeVisible()
    await page.keyboard.press('c')
    await expect(dialog.getByRole('button', { name: `Team: ${name}` })).toBeVisible()
    await page.keyboard.press('Escape')
  }
})

test('a new issue starts with the filters, shows errors, and keeps its text when it is closed', async ({
  page,
  company,
  faults,
}) => {
  const { owner, design } = company
  await signedIn(page, owner)
  await page.goto(`/issues?team=DES&status=todo&assignee=${owner.id}`)
  await expect(page.getByRole('heading', { name: 'No matching issues' })).toBeVisible()
  await page.keyboard.press('c')
  const dialog = page.getByRole('dialog', { name: 'New issue' })
  await expect(dialog.getByLabel('Title')).toBeFocused()
  for (const value of ['Team: Design', 'Status: Todo', 'Assignee: Olive Owner']) {
    await expect(dialog.getByRole('button', { name: value })).toBeVisible()
  }
  await page.keyboard.press('Enter')
  await expect(dialog.getByText('Enter a title.')).toBeVisible()
  await page.keyboard.type('Half a thought')
  await page.keyboard.press('Escape')
  await expect(dialog).toHaveCount(0)
  await page.keyboard.press('c')
  await expect(dialog.getByLabel('Title')).toHaveValue('Half a thought')

  const { data: before } = await owner.api.listIssues({ team_id: design.id })
  faults.expect(/status of 422/)
  await page.route('**/api/v1/issues', async (route) => {
    if (route.request().method() !== 'POST') return route.continue()
    // The server refuses this: the project does not exist.
    const body = { ...route.request().postDataJSON(), project_id: 'prj_gone' }
    await route.continue({ postData: JSON.stringify(body) })
  })
  await dialog.getByLabel('Create more').check()
  await dialog.getByRole('button', { name: 'Create issue' }).click()
  await expect(dialog.getByText('Project: is not a project of this workspace')).toBeVisible()
  expect((await owner.api.listIssues({ team_id: design.id })).data).toEqual(before)
  await page.unroute('**/api/v1/issues')

  await dialog.getByRole('button', { name: 'Create issue' }).click()
  await expect(page.getByText('DES-2 created')).toBeVisible()
  await expect(dialog.getByLabel('Title')).toHaveValue('')
  await expect(dialog.getByLabel('Title')).toBeFocused()
  await page.keyboard.press('Escape')
  await expect(rowOf(page, 'Half a thought')).toBeVisible()
  expect(await owner.api.getIssue({ issue_id: 'DES-2' })).toMatchObject({ status: 'todo', assignee_id: owner.id })
})

test('filters are stored in the URL, survive a reload, and are undone by Back', async ({ page, company }) => {
  await signedIn(page, company.owner)
  await page.goto('/issues?layout=board&q=nothing-like-that')
  await expect(page.getByRole('heading', { name: 'No matching issues' })).toBeVisible()
  await page.goto('/issues')
  await expect(rowOf(page, 'The door sticks')).toBeVisible()
  await page.getByRole('button', { name: 'Filter', exact: true }).click()
  await page.getByRole('option', { name: 'Status' }).click()
  await page.getByRole('option', { name: 'Todo' }).click()
  await page.getByRole('option', { name: 'Done' }).click()
  await page.keyboard.press('Escape')
  await expect(page).toHaveURL(/status=todo%2Cdone/)
  await expect(rowOf(page, 'Oil the hinges')).toHaveCount(0)
  await page.keyboard.press('f')
  await expect(page.getByRole('combobox', { name: 'Filter by' })).toBeFocused()
  await page.keyboard.type('team')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('combobox', { name: 'Team is' })).toBeFocused()
  await page.keyboard.type('eng')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Escape')
  await expect(rowOf(page, 'Choose a colour')).toHaveCount(0)
  await page.getByLabel('Find in this list').fill('door')
  await expect(page).toHaveURL(/q=door/)
  await expect(rowOf(page, 'Order new screws')).toHaveCount(0)

  await page.reload()
  await expect(rowOf(page, 'The door sticks')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Status is any of Todo, Done', exact: true })).toBeVisible()
  await expect(page.getByLabel('Find in this list')).toHaveValue('door')
  await expect(rowOf(page, 'Order new screws')).toHaveCount(0)
  await page.goBack()
  await expect(page).not.toHaveURL(/team=/)
  await expect(rowOf(page, 'Choose a colour')).toBeVisible()
  await page.goBack()
  await expect(page).not.toHaveURL(/status=/)
  await expect(rowOf(page, 'Oil the hinges')).toBeVisible()

  await page.goto('/issues?q=nothing+is+called+that')
  await expect(page.getByRole('heading', { name: 'No matching issues' })).toBeVisible()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await expect(rowOf(page, 'The door sticks')).toBeVisible()
})

test('cards of the board are dragged, and moved with the keyboard', async ({ page, company }) => {
  const { owner, issues } = company
  await signedIn(page, owner)
  await page.goto('/issues?team=ENG&layout=board')
  const card = (title: string) => page.getByRole('listitem').filter({ hasText: title })
  await expect(columnOf(page, 'Todo').getByText('The door sticks')).toBeVisible()
  await card('The door sticks').dragTo(card('Oil the hinges'), { targetPosition: { x: 100, y: 4 } })
  await expect(columnOf(page, 'In progress').getByText('The door sticks')).toBeVisible()
  await expect(page.getByText('ENG-1 moved to In progress')).toBeVisible()
  await expect(columnOf(page, 'In progress').getByRole('listitem')).toContainText(['The door sticks', 'Oil the hinges'])
  const [door, hinges] = [issues[0].id, issues[1].id]
  const order = async () => {
    const moved = await owner.api.getIssue({ issue_id: door })
    return {
      status: moved.status,
      above: moved.sort_order > (await owner.api.getIssue({ issue_id: hinges })).sort_order,
    }
  }
  await expect.poll(order).toEqual({ status: 'in_progress', above: true })

  await page.getByRole('button', { name: 'Board', exact: true }).click()
  keyboardOnly(page)
  await page.keyboard.press('ArrowRight')
  await expect(page.getByRole('group', { name: 'Board' })).toBeFocused()
  await page.keyboard.press('ArrowRight')
  await expect(page.locator('[aria-current="true"]')).toContainText('The door sticks')
  await page.keyboard.press('m')
  await expect(page.getByRole('combobox', { name: 'Move to' })).toBeFocused()
  await page.keyboard.type('release')
  await page.keyboard.press('Enter')
  await expect(columnOf(page, 'Release').getByText('The door sticks')).toBeVisible()
  await expect.poll(async () => (await owner.api.getIssue({ issue_id: door })).status).toBe('release')
})

test('shows an edit from another browser at once and keeps the current row', async ({
  page,
  company,
  agent,
  secondBrowser,
}) => {
  const { owner, member, issues } = company
  const robot = await agent()
  await signedIn(page, owner)
  await page.goto('/issues')
  const other = await secondBrowser(member)
  await other.goto('/issues')
  await rowOf(other, 'Oil the hinges').waitFor()
  await rowOf(page, 'Oil the hinges').waitFor()
  // Down to the first row, which is in progress.
  await page.keyboard.press('j')
  await expect(page.locator('[aria-current="true"]')).toContainText('Oil the hinges')

  await rowOf(other, 'Oil the hinges').getByRole('button', { name: 'Status: In progress' }).click()
  await other.getByRole('option', { name: 'Backlog' }).click()
  const row = rowOf(page, 'Oil the hinges')
  await expect(row.getByRole('button', { name: 'Status: Backlog' })).toBeVisible()
  await expect(page.locator('[aria-current="true"]')).toContainText('Oil the hinges')

  await owner.api.updateIssue({ issue_id: issues[1].id, delegate_id: robot.userId })
  const session = await robot.session()
  await expect(row.getByRole('link', { name: 'Robot: Waiting for the agent' })).toBeVisible()
  await session.select('Which oil?', ['olive', 'engine'])
  await expect(row.getByRole('link', { name: 'Robot: Needs input' })).toBeVisible()
  await expect(rowOf(other, 'Oil the hinges').getByText('Needs input')).toBeVisible()

  await other.goto('/issues?group=delegate')
  await other.getByRole('button', { name: 'New issue in Robot' }).click()
  await expect(other.getByRole('dialog').getByRole('button', { name: 'Delegate: Robot' })).toBeVisible()

  await owner.api.createIssue({ title: 'From elsewhere', team_id: company.engineering.id })
  await expect(rowOf(page, 'From elsewhere')).toBeVisible()
  await owner.api.deleteIssue({ issue_id: issues[1].id })
  await expect(row).toHaveCount(0)
})

test('a view is saved, shared, opened and deleted', async ({ page, company, secondBrowser }) => {
  const { owner, member } = company
  await signedIn(page, owner)
  await page.goto('/issues?status=todo&group=assignee')
  await rowOf(page, 'The door sticks').waitFor()
  await page.getByRole('button', { name: 'Save view' }).click()
  const dialog = page.getByRole('dialog', { name: 'Save view' })
  await dialog.getByLabel('Name').fill('Ready to begin')
  await dialog.getByLabel('Share with workspace').check()
  await dialog.getByRole('button', { name: 'Save view' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Ready to begin' })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Save view' })).toHaveCount(0)

  const other = await secondBrowser(member)
  await other.goto('/issues')
  await other.getByRole('link', { name: 'Ready to begin' }).click()
  await expect(rowOf(other, 'The door sticks')).toBeVisible()
  await expect(rowOf(other, 'Oil the hinges')).toHaveCount(0)
  await expect(other.getByRole('button', { name: 'Actions for Ready to begin' })).toHaveCount(0)

  await page.getByRole('link', { name: 'Ready to begin' }).hover()
  await page.getByRole('button', { name: 'Actions for Ready to begin' }).click()
  await page.getByRole('menuitem', { name: 'Delete view' }).click()
  await page.getByRole('button', { name: 'Delete view' }).click()
  await expect(page.getByRole('link', { name: 'Ready to begin' })).toHaveCount(0)
  expect((await owner.api.listViews({})).data).toEqual([])
})

test.describe('narrow', () => {
  test.use({ viewport: narrow })

  test('list, board and dialog fit, and an issue opens as a page', async ({ page, company }) => {
    await signedIn(page, company.owner)
    await page.goto('/issues')
    await expect(rowOf(page, 'The door sticks')).toBeVisible()
    expect(await scrolledSideways(page)).toEqual([])
    await rowOf(page, 'The door sticks').getByRole('checkbox').click()
    await expect(page.getByRole('toolbar', { name: '1 selected' })).toBeVisible()
    await page.getByRole('button', { name: 'Board' }).click()
    await expect(columnOf(page, 'Backlog')).toBeVisible()
    await page.getByRole('button', { name: 'New issue', exact: true }).click()
    await expect(page.getByRole('dialog', { name: 'New issue' }).getByLabel('Title')).toBeFocused()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'List' }).click()
    await rowOf(page, 'Oil the hinges').getByRole('link', { name: 'Oil the hinges' }).click()
    await expect(page).toHaveURL(/\/issue\/ENG-2$/)
  })
})
