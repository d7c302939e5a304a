import { checkAxe, expect, keyboardOnly, narrow, scrolledSideways, signedIn, test } from './baton.ts'
import { composer, feed, menu, pick, property, toast } from './parts.ts'

test('all fields of an issue are edited in place, and a change can be undone', async ({ page, company }) => {
  const { api } = company.owner
  const [door] = company.issues
  await signedIn(page, company.owner)
  await page.goto(`/issue/${door.code}`)

  const title = page.getByRole('textbox', { name: 'Title' })
  await title.fill('The door sticks badly')
  // During composition, Enter accepts the suggestion of the input method and must not save.
  await title.dispatchEvent('keydown', { key: 'Enter', isComposing: true })
  await expect(title).toBeFocused()
  await page.keyboard.press('Enter')
  await page.getByText('when it rains').click()
  const description = page.getByRole('textbox', { name: 'Description' })
  await description.fill('- [x] push\n- [ ] pull')
  await description.press('Control+Enter')
  await expect(page.getByText('To do: pull')).toBeVisible()

  await pick(page, 'Status', 'QA')
  await expect(property(page, 'Status')).toHaveText('QA')
  await toast(page, 'ENG-1 moved to QA').getByRole('button', { name: 'Undo' }).click()
  await expect(property(page, 'Status')).toHaveText('Todo')

  await property(page, 'Labels').click()
  await menu(page).getByRole('combobox').fill('carpentry')
  await menu(page).getByRole('option', { name: 'Create label “carpentry”' }).click()
  await page.keyboard.press('Escape')
  await expect(property(page, 'Labels')).toContainText('carpentry')
  await pick(page, 'Due date', 'Tomorrow')
  await property(page, 'Estimate').click()
  await menu(page).getByRole('combobox').fill('6')
  await menu(page).getByRole('option', { name: '6 hours', exact: true }).click()
  await pick(page, 'Assignee', 'Mona Member')
  await expect(feed(page)).toContainText('Olive Owner renamed it to “The door sticks badly”')
  await expect
    .poll(() => api.getIssue({ issue_id: door.id }))
    .toMatchObject({
      title: 'The door sticks badly',
      description: '- [x] push\n- [ ] pull',
      status: 'todo',
      time_estimate: 6,
      assignee_id: company.member.id,
    })
})

test('an issue has a parent, sub-issues and blockers, and is deleted', async ({ page, company }) => {
  const { api } = company.owner
  const [door, hinges, frame] = company.issues
  await signedIn(page, company.owner)
  await page.goto(`/issue/${door.code}`)
  await page.getByRole('button', { name: 'Add sub-issue' }).click()
  await page.getByRole('textbox', { name: 'Title of the sub-issue' }).fill('Plane the edge')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('region', { name: 'Sub-issues' })).toContainText('0 of 1 done')
  await expect(page.getByRole('link', { name: /Plane the edge/ })).toBeVisible()
  await page.keyboard.type('Oil the lock')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('region', { name: 'Sub-issues' }).getByRole('link')).toContainText([
    'Plane the edge',
    'Oil the lock',
  ])
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Blocked by' }).click()
  await menu(page).getByRole('combobox').fill('frame')
  await menu(page)
    .getByRole('option', { name: /Measure the frame/ })
    .click()
  await expect(page.getByRole('region', { name: 'Blocked by' }).getByRole('link')).toContainText(frame.code)
  await page.getByRole('button', { name: 'Set parent' }).click()
  await menu(page)
    .getByRole('option', { name: new RegExp(hinges.code) })
    .click()
  await expect(page.getByRole('region', { name: 'Parent' }).getByRole('link')).toContainText(hinges.code)

  await expect(feed(page)).toContainText(`marked it as blocked by ${frame.code}`)
  await expect
    .poll(() => api.getIssue({ issue_id: door.id }))
    .toMatchObject({
      blocked_by_ids: [frame.id],
      parent_id: hinges.id,
    })

  await page.getByRole('button', { name: 'Issue actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete issue…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete issue' }).click()
  await expect(page).toHaveURL(/\/issues/)
  await expect(page.getByText(`${door.code} deleted`)).toBeVisible()
})

test('properties, text and comments of an issue can be edited with the keyboard alone', async ({ page, company }) => {
  const { api } = company.owner
  const [, , frame] = company.issues
  await signedIn(page, company.owner)
  await page.goto('/issues')
  await page.goto(`/issue/${frame.code}`)
  await expect(property(page, 'Status')).toBeVisible()
  keyboardOnly(page)
  const { keyboard } = page
  const choose = async (keys: string, words: string, title: string) => {
    await keyboard.press(keys)
    await expect(page.getByRole('combobox', { name: title })).toBeFocused()
    // Enter waits for the search results of the typed text.
    await keyboard.type(words)
    await keyboard.press('Enter')
    await expect(page.getByRole('dialog')).toHaveCount(0)
  }
  await choose('s', 'progress', 'Status')
  await choose('p', 'urgent', 'Priority')
  await choose('a', 'amir', 'Assignee')
  await keyboard.press('e')
  await expect(page.getByRole('textbox', { name: 'Description' })).toBeFocused()
  await keyboard.type('With a **folding rule**.')
  await keyboard.press('Control+Enter')
  await expect(page.getByText('folding rule', { exact: true })).toBeVisible()
  await keyboard.press('r')
  await keyboard.type('Measure the frame twice')
  await keyboard.press('Enter')
  await keyboard.press('m')
  await expect(composer(page)).toBeFocused()
  await keyboard.type('Thanks @Amir')
  await expect(page.getByRole('option', { name: 'Amir Admin' })).toBeVisible()
  await keyboard.press('Enter')
  await keyboard.type('for the rule')
  await keyboard.press('Control+Enter')
  await expect(feed(page).getByRole('article')).toContainText('Thanks @Amir Admin for the rule')
  await expect(composer(page)).toHaveValue('')
  await expect
    .poll(() => api.getIssue({ issue_id: frame.id }))
    .toMatchObject({
      title: 'Measure the frame twice',
      status: 'in_progress',
      priority: 'urgent',
      assignee_id: company.admin.id,
      description: 'With a **folding rule**.',
    })
  const { data } = await api.listComments({ target_type: 'issue', target_id: frame.id })
  expect(data).toMatchObject([{ mentioned_user_ids: [company.admin.id] }])

  await keyboard.press('Escape')
  await keyboard.press('Escape')
  await expect(page).toHaveURL(/\/issues/)
})

test('shows changes by others without losing or moving typed text', async ({ page, company, secondBrowser }) => {
  const [door] = company.issues
  await signedIn(page, company.owner)
  await page.goto(`/issue/${door.code}`)
  const other = await secondBrowser(company.member)
  await other.goto(`/issue/${door.code}`)
  await expect(property(other, 'Status')).toBeVisible()

  await page.getByText('when it rains').click()
  await page.getByRole('textbox', { name: 'Description' }).fill('Mine, not saved yet')
  await other.getByText('when it rains').click()
  await other.getByRole('textbox', { name: 'Description' }).fill(`Theirs\n\n${'And so on.\n\n'.repeat(15)}`)
  await other.keyboard.press('Control+Enter')
  await expect(page.getByText('Someone else changed the description')).toBeVisible()
  await expect(page.getByRole('textbox', { name: 'Description' })).toHaveValue('Mine, not saved yet')
  await page.getByRole('button', { name: 'Use their version' }).click()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await expect(page.getByText('Theirs', { exact: true })).toBeVisible()

  // A small window, so that the page scrolls; then another user comments while this one is typing.
  await page.setViewportSize({ width: 1440, height: 500 })
  await composer(page).pressSequentially('I am still')
  await composer(page).scrollIntoViewIfNeeded()
  const before = await composer(page).boundingBox()
  await pick(other, 'Status', 'In progress')
  await composer(other).fill('It is the hinge.')
  await other.keyboard.press('Control+Enter')
  await expect(feed(page).getByText('It is the hinge.')).toBeVisible()
  await expect(property(page, 'Status')).toHaveText('In progress')
  await expect(feed(page)).toContainText('Mona Member moved it from Todo to In progress')
  await expect(composer(page)).toHaveValue('I am still')
  await expect(composer(page)).toBeFocused()
  // The browser keeps the place with the next frame.
  await expect.poll(async () => (await composer(page).boundingBox())?.y).toBeCloseTo(before?.y ?? 0, -1)
})

test('a listed issue opens in the preview and as a page before the service answers', async ({ page, company }) => {
  const [door] = company.issues
  await signedIn(page, company.owner)
  await page.goto('/issues')
  await expect(page.getByText(door.title)).toBeVisible()
  let answer = () => {}
  const held = new Promise<void>((resolve) => {
    answer = resolve
  })
  await page.route('**/api/v1/{issues,comments,agent-sessions}**', async (route) => {
    await held
    await route.continue().catch(() => {})
  })
  await page.getByText(door.title).click()
  const panel = page.getByRole('complementary', { name: `Issue ${door.code}` })
  await expect(panel.getByRole('textbox', { name: 'Title' })).toHaveValue(door.title)
  await expect(panel.getByText('when it rains')).toBeVisible()
  await expect(panel.getByRole('button', { name: 'Status: Todo' })).toBeVisible()
  await panel.getByRole('link', { name: 'Open full page' }).click()
  await expect(page).toHaveURL(new RegExp(`/issue/${door.code}$`))
  await expect(page.getByText('when it rains')).toBeVisible()
  await expect(property(page, 'Status')).toHaveText('Todo')
  answer()
  await expect(feed(page).getByRole('button', { name: 'Hide changes' })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page).toHaveURL(/\/issues/)
})

test('an earlier code leads to the issue; an unknown code offers the other workspaces', async ({
  page,
  company,
  faults,
}) => {
  const [door] = company.issues
  await signedIn(page, company.owner)
  await page.goto(`/issue/${door.code}`)
  await property(page, 'Team').click()
  await expect(menu(page)).toContainText(`${door.code} keeps working`)
  await menu(page).getByRole('option', { name: 'Design' }).click()
  await expect(page).toHaveURL(/\/issue\/DES-2$/)
  await page.goto(`/issue/${door.code}`)
  await expect(page).toHaveURL(/\/issue\/DES-2$/)

  const other = await company.owner.api.createWorkspace({ name: 'Elsewhere' })
  faults.expect(/status of 404/)
  await page.goto('/issue/ENG-99')
  await expect(page.getByRole('heading', { name: 'ENG-99 was not found' })).toBeVisible()
  await checkAxe(page)
  await page.getByRole('button', { name: 'Search in Elsewhere' }).click()
  await expect(page.getByRole('button', { name: company.name })).toBeVisible()
  expect(await page.evaluate(() => localStorage.getItem('baton.workspace'))).toBe(other.id)
})

test.describe('narrow', () => {
  test.use({ viewport: narrow })

  test('on a phone the properties are chips, and nothing scrolls sideways', async ({ page, company }) => {
    const [door] = company.issues
    await company.owner.api.createComment({
      target_type: 'issue',
      target_id: door.id,
      text: `A long word: ${'hinge'.repeat(40)}\n\n| a | b |\n|---|---|\n| ${'x'.repeat(80)} | y |`,
    })
    await signedIn(page, company.member)
    await page.goto(`/issue/${door.code}`)
    await page.getByRole('button', { name: 'Status: Todo' }).click()
    await menu(page).getByRole('option', { name: 'Done' }).click()
    await expect(page.getByRole('button', { name: 'Status: Done' })).toBeVisible()
    // Composers are at the bottom, so messages are not.
    const message = page.getByRole('region', { name: 'Messages' }).getByText(door.code)
    const { y } = (await message.boundingBox()) ?? { y: Number.NaN }
    expect(y).toBeLessThan(narrow.height / 3)
    await page.getByRole('button', { name: 'Dismiss' }).click()
    await page.getByRole('button', { name: 'All properties' }).click()
    await expect(page.getByRole('button', { name: 'Estimate: No estimate' })).toBeVisible()
    await expect(feed(page).getByRole('article')).toBeVisible()
    expect(await scrolledSideways(page)).toEqual([])
    const widest = await page.evaluate(() =>
      Math.max(
        ...[...document.querySelectorAll('main article, main button')].map((e) => e.getBoundingClientRect().right),
      ),
    )
    expect(widest).toBeLessThanOrEqual(390)
    expect((await company.owner.api.getIssue({ issue_id: door.id })).status).toBe('done')
  })
})

test('an issue opens by its code in any letter case', async ({ page, company }) => {
  const [door] = company.issues
  await signedIn(page, company.owner)
  for (const path of ['/issue/', '/issues/']) {
    await page.goto(path + door.code.toLowerCase())
    await expect(page.getByRole('textbox', { name: 'Title' })).toHaveValue(door.title)
    await expect(page).toHaveURL(new RegExp(`/issue/${door.code}$`))
  }
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill(door.code.toLowerCase())
  await expect(page.getByRole('option').first()).toContainText(door.code)
})
