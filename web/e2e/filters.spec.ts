import { expect, keyboardOnly, narrow, scrolledSideways, signedIn, test } from './baton.ts'
import { menu, property, rowOf } from './parts.ts'

const days = (count: number) => {
  const now = new Date()
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + count, 12).toISOString()
}

test('issues are filtered by due date, reporter, and values they do not have', async ({ page, company }) => {
  const { owner, member, issues } = company
  const [door, hinges, frame] = issues
  await owner.api.updateIssue({ issue_id: door.id, due_date: days(-2) })
  await owner.api.updateIssue({ issue_id: hinges.id, due_date: days(3) })
  await owner.api.createIssue({ title: 'Reported by the owner', team_id: company.engineering.id })
  await member.api.createIssue({ title: 'Reported by Mona', team_id: company.engineering.id })
  await signedIn(page, owner)
  await page.goto('/issues?team=ENG')
  await rowOf(page, door.title).waitFor()
  const filter = async (field: string, ...values: string[]) => {
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await menu(page).getByRole('option', { name: field, exact: true }).click()
    for (const value of values) await menu(page).getByRole('option', { name: value, exact: true }).click()
    await page.keyboard.press('Escape')
  }
  const clear = async () => page.getByRole('button', { name: 'Clear', exact: true }).click()

  await page.getByRole('button', { name: 'Filter', exact: true }).click()
  await expect(page.getByRole('combobox', { name: 'Filter by' })).toBeFocused()
  await page.keyboard.type('deleg')
  await expect(menu(page).getByRole('option')).toHaveText(['Agent'])
  await page.keyboard.press('Escape')

  await filter('Due date', 'Overdue', 'In the next 7 days')
  await expect(page).toHaveURL(/due=overdue%2C7d/)
  await expect(rowOf(page, door.title)).toBeVisible()
  await expect(rowOf(page, hinges.title)).toBeVisible()
  await expect(rowOf(page, frame.title)).toHaveCount(0)
  const chip = page.getByRole('button', { name: 'Due date is any of overdue, in the next 7 days', exact: true })
  await expect(chip).toBeVisible()
  await page.getByRole('button', { name: 'is any of: change to “Due date is none of”' }).click()
  await expect(page).toHaveURL(/due=%21overdue/)
  await expect(rowOf(page, frame.title)).toBeVisible()
  await expect(rowOf(page, door.title)).toHaveCount(0)

  // A view stores it.
  await page.getByRole('button', { name: 'Save view' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('Nothing urgent')
  await page.getByRole('dialog').getByRole('button', { name: 'Save view' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Nothing urgent' })).toBeVisible()
  await page.reload()
  await expect(page.getByRole('button', { name: /^Due date is none of overdue/ })).toBeVisible()
  expect((await owner.api.listViews({})).data).toMatchObject([{ query: 'team=ENG&due=%21overdue%2C7d' }])

  await clear()
  await filter('Reporter', 'Mona Member')
  await expect(rowOf(page, 'Reported by Mona')).toBeVisible()
  await expect(rowOf(page, 'Reported by the owner')).toHaveCount(0)
  await page.getByRole('button', { name: 'is: change to “Reporter is not”' }).click()
  await expect(rowOf(page, 'Reported by the owner')).toBeVisible()
  await expect(rowOf(page, 'Reported by Mona')).toHaveCount(0)
  await clear()
  await filter('Created', 'Today')
  await expect(rowOf(page, door.title)).toBeVisible()
  await page.getByRole('button', { name: 'Remove filter: Created is today' }).click()

  // A typed date.
  keyboardOnly(page)
  await page.keyboard.press('f')
  await expect(page.getByRole('combobox', { name: 'Filter by' })).toBeFocused()
  await page.keyboard.type('due')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('combobox', { name: 'Due date is' })).toBeFocused()
  await page.keyboard.type('in 2 days')
  await expect(menu(page).getByRole('option')).toHaveText([/^\w+ \d+/, /^Before /, /^After /])
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Escape')
  await expect(rowOf(page, door.title)).toBeVisible()
  await expect(rowOf(page, hinges.title)).toHaveCount(0)
})

test('My issues has the private ones', async ({ page, company }) => {
  const { owner, member } = company
  await owner.api.createIssue({ title: 'Buy a present', personal: true })
  await member.api.createIssue({ title: 'A secret of Mona', personal: true })
  await signedIn(page, owner)
  await page.goto('/issues')
  await page.getByRole('link', { name: 'My issues' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'My issues' })).toBeVisible()
  await expect(rowOf(page, 'The door sticks')).toBeVisible()
  await expect(rowOf(page, 'Buy a present')).toBeVisible()
  await expect(rowOf(page, 'Oil the hinges')).toHaveCount(0)
  await expect(rowOf(page, 'A secret of Mona')).toHaveCount(0)
})

test('a due date is set in words, by calendar and by keyboard', async ({ page, company }) => {
  const { api } = company.owner
  const [door] = company.issues
  await signedIn(page, company.owner)
  await page.goto(`/issue/${door.code}`)
  await expect(property(page, 'Due date')).toBeVisible()
  const dueOn = async () => (await api.getIssue({ issue_id: door.id })).due_date?.slice(0, 10)

  await property(page, 'Due date').click()
  const next = new Date(new Date().getFullYear(), new Date().getMonth() + 1, 15)
  await menu(page).getByRole('button', { name: 'Next month' }).click()
  const name = next.toLocaleDateString('en', { dateStyle: 'full' })
  await menu(page).getByRole('button', { name }).click()
  const iso = (date: Date) =>
    `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, '0')}-${String(date.getDate()).padStart(2, '0')}`
  await expect.poll(dueOn).toBe(iso(next))
  await expect(page.getByRole('dialog')).toHaveCount(0)

  keyboardOnly(page)
  const type = async (words: string) => {
    await page.keyboard.press('Shift+D')
    await expect(page.getByRole('combobox', { name: 'Due date' })).toBeFocused()
    await page.keyboard.type(words)
  }
  await type('24 dec')
  await page.keyboard.press('Enter')
  await expect.poll(dueOn).toMatch(/-12-24$/)
  await type('tomorrow')
  await page.keyboard.press('Enter')
  await expect.poll(dueOn).toBe(days(1).slice(0, 10))
  await type('some day')
  await expect(menu(page).getByText('No date found.')).toBeVisible()
  await page.keyboard.press('Escape')

  // The calendar starts with the due date.
  await type('')
  await expect(menu(page).getByRole('button', { name: 'Next month' })).toBeVisible()
  for (let count = 0; count < 3; count++) await page.keyboard.press('Tab')
  const tomorrow = new Date(days(1)).toLocaleDateString('en', { dateStyle: 'full' })
  await expect(menu(page).getByRole('button', { name: tomorrow })).toBeFocused()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Enter')
  await expect.poll(dueOn).toBe(days(9).slice(0, 10))
})

test('a new issue starts in the team that was used last; no value of its fields is cut', async ({ page, company }) => {
  const { owner } = company
  await owner.api.createCycle({ team_id: company.design.id, name: 'Cycle with a long name' })
  await signedIn(page, owner)
  await page.goto('/projects')
  await page.getByRole('link', { name: 'Agents' }).waitFor()
  await page.keyboard.press('c')
  const dialog = page.getByRole('dialog', { name: 'New issue' })
  const team = dialog.getByRole('button', { name: /^Team:/ })
  await team.click()
  await page.getByRole('option', { name: /Engineering/ }).click()
  await dialog.getByLabel('Title').fill('For the engineers')
  await dialog.getByRole('button', { name: 'Create issue' }).click()
  await expect(page.getByText('ENG-5 created')).toBeVisible()
  await page.keyboard.press('c')
  await expect(team).toHaveAccessibleName('Team: Engineering')
  await team.click()
  await page.getByRole('option', { name: /Design/ }).click()
  await dialog.getByRole('button', { name: 'Due date: none' }).click()
  await menu(page).getByRole('combobox').fill('next friday')
  await page.keyboard.press('Enter')
  await expect(dialog.getByRole('button', { name: /^Due date: \w+ \d+/ })).toBeVisible()
  const buttons = dialog.getByRole('button', {
    name: /^(Team|Status|Priority|Type|Assignee|Delegate|Labels|Project|Cycle|Due date):/,
  })
  await expect(buttons).toHaveCount(10)
  await dialog.getByRole('button', { name: 'Assignee: none' }).click()
  await menu(page).getByRole('option', { name: 'Olive Owner' }).click()
  await expect(dialog.getByRole('button', { name: 'Assignee: Olive Owner' })).toBeVisible()
  const cut = await buttons.evaluateAll((all) =>
    all
      .filter((one) => [...one.children].some((part) => part.scrollWidth > part.clientWidth && part.clientWidth > 0))
      .map((one) => one.textContent),
  )
  expect(cut).toEqual([])
  expect(await scrolledSideways(page)).toEqual([])
  await dialog.getByLabel('Title').fill('For the designers')
  await dialog.getByRole('button', { name: 'Create issue' }).click()
  await expect(page.getByText('DES-2 created')).toBeVisible()
  await page.reload()
  await page.getByRole('link', { name: 'Agents' }).waitFor()
  await page.keyboard.press('c')
  await expect(team).toHaveAccessibleName('Team: Design')
  expect((await owner.api.getIssue({ issue_id: 'DES-2' })).due_date).toMatch(/T12:00:00/)
})

test('a dragged card is faded at its old place', async ({ page, company }) => {
  await signedIn(page, company.owner)
  await page.goto('/issues?team=ENG&layout=board')
  const card = page.getByRole('listitem').filter({ hasText: 'The door sticks' })
  await card.hover()
  await page.mouse.down()
  await page.mouse.move(600, 300, { steps: 5 })
  await expect(card).toHaveCSS('opacity', '0.4')
  await page.mouse.up()
  await expect(card).toHaveCSS('opacity', '1')
})

test.describe('on a phone', () => {
  test.use({ viewport: narrow })
  test('filters and the date menu fit', async ({ page, company }) => {
    const [door] = company.issues
    await signedIn(page, company.owner)
    await page.goto('/issues?status=!done,qa&due=!overdue')
    await rowOf(page, door.title).waitFor()
    expect(await scrolledSideways(page)).toEqual([])
    await page.goto(`/issue/${door.code}`)
    await page.getByRole('textbox', { name: 'Title' }).waitFor()
    await page.keyboard.press('Shift+D')
    await expect(menu(page).getByRole('button', { name: 'Next month' })).toBeVisible()
    expect(await scrolledSideways(page)).toEqual([])
  })
})
