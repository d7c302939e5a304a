import { readFile } from 'node:fs/promises'
import type { Page } from '@playwright/test'
import { checkAxe, expect, keyboardOnly, narrow, scrolledSideways, signedIn, test, verifies } from './baton.ts'
import { composer, feed, menu, rowOf, toast, typeInPalette } from './parts.ts'

const comment = (page: Page, text: string) => feed(page).getByRole('article').filter({ hasText: text })

/** Pastes text into the focused input. */
const paste = (page: Page, text: string) =>
  page.evaluate((text) => {
    const data = new DataTransfer()
    data.setData('text/plain', text)
    const event = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })
    document.activeElement?.dispatchEvent(event)
  }, text)

test(
  'a template fills the form without overwriting typed text, and the default of the team is preselected',
  verifies('template.fills-form', 'template.crud'),
  async ({ page, company }) => {
    const { api } = company.owner
    const label = await api.createLabel({ name: 'carpentry' })
    await signedIn(page, company.owner)
    await page.goto('/settings/templates')
    await page.getByRole('button', { name: 'New template' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name', { exact: true }).fill('Bug report')
    await dialog.getByLabel('Team', { exact: true }).selectOption('Engineering')
    await dialog.getByLabel('Issue title').fill('Bug: ')
    await dialog.getByLabel('Description').fill('## Steps')
    await dialog.getByLabel('Priority').selectOption('High')
    await dialog.getByLabel('Type').selectOption('Bug')
    await dialog.getByRole('button', { name: 'Labels: none' }).click()
    await menu(page).getByRole('option', { name: 'carpentry' }).click()
    await page.keyboard.press('Escape')
    await dialog.getByLabel('Default').check()
    await checkAxe(page)
    await dialog.getByRole('button', { name: 'Create template' }).click()
    await expect(page.getByRole('list', { name: 'Templates of Engineering' })).toContainText('Bug reportDefault')
    await api.createTemplate({ name: 'Idea', title: 'Idea: ', description: '## Why' })

    await page.goto('/issues?team=ENG')
    await rowOf(page, 'The door sticks').waitFor()
    await page.keyboard.press('c')
    const form = page.getByRole('dialog', { name: 'New issue' })
    await expect(form.getByRole('button', { name: 'Template: Bug report' })).toBeVisible()
    await expect(form.getByLabel('Title')).toHaveValue('Bug: ')
    await expect(form.getByLabel('Description')).toHaveValue('## Steps')
    await expect(form.getByRole('button', { name: 'Priority: High' })).toBeVisible()
    await expect(form.getByRole('button', { name: 'Labels: carpentry' })).toBeVisible()
    await form.getByLabel('Title').fill('The lock is stuck')
    await form.getByRole('button', { name: 'Template: Bug report' }).click()
    await menu(page).getByRole('option', { name: 'Idea' }).click()
    await expect(form.getByLabel('Title')).toHaveValue('The lock is stuck')
    await expect(form.getByLabel('Description')).toHaveValue('## Why')
    await expect(form.getByRole('button', { name: 'Priority: No priority' })).toBeVisible()
    await form.getByRole('button', { name: 'Template: Idea' }).click()
    await menu(page).getByRole('option', { name: 'Bug report' }).click()
    await form.getByRole('button', { name: 'Create issue' }).click()
    await expect(page.getByText('ENG-5 created')).toBeVisible()
    expect(await api.getIssue({ issue_id: 'ENG-5' })).toMatchObject({
      title: 'The lock is stuck',
      description: '## Steps',
      priority: 'high',
      type: 'bug',
      label_ids: [label.id],
    })

    await page.goto('/settings/templates')
    await page.getByRole('button', { name: 'Delete Bug report' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete template' }).click()
    await expect(page.getByText('Bug report deleted')).toBeVisible()
    expect((await api.listTemplates()).data.map(({ name }) => name)).toEqual(['Idea'])
  },
)

test('a pasted list or CSV is previewed and becomes sub-issues', verifies('batch.paste'), async ({ page, company }) => {
  const { api } = company.owner
  const [door] = company.issues
  const title = page.getByRole('textbox', { name: 'Title of the sub-issue' })
  await signedIn(page, company.owner)
  await page.goto(`/issue/${door.code}`)
  await page.getByRole('button', { name: 'Add sub-issue' }).click()
  await expect(title).toBeFocused()
  await paste(page, '## Plan\n- Plane the edge\n- [x] Buy oil\n- Not this one\n')
  const dialog = page.getByRole('dialog', { name: 'Create sub-issues' })
  await expect(dialog.getByRole('listitem')).toHaveText(['Plane the edge', 'Buy oil', 'Not this one'])
  await dialog.getByRole('checkbox', { name: 'Not this one' }).uncheck()
  await checkAxe(page)
  expect((await api.listIssues({ parent_id: door.id })).data).toEqual([])
  await dialog.getByRole('button', { name: 'Create 2 sub-issues' }).click()
  const list = page.getByRole('region', { name: 'Sub-issues' })
  await expect(list).toContainText('1 of 2 done')
  await expect(list.getByRole('link')).toContainText(['Plane the edge', 'Buy oil'])

  await page.getByRole('button', { name: 'Add sub-issue' }).click()
  await expect(title).toBeFocused()
  await paste(page, 'title,priority,description\n"Paint, twice",urgent,In green\nDry it,,')
  await expect(dialog.getByRole('listitem')).toContainText(['Paint, twice', 'Dry it'])
  await dialog.getByRole('button', { name: 'Create 2 sub-issues' }).click()
  await expect(list).toContainText('1 of 4 done')
  expect((await api.listIssues({ parent_id: door.id })).data.map(({ title }) => title)).toEqual([
    'Dry it',
    'Paint, twice',
    'Buy oil',
    'Plane the edge',
  ])
  expect((await api.listIssues({ parent_id: door.id, priority: 'urgent' })).data).toMatchObject([
    { description: 'In green', team_id: door.team_id },
  ])
})

test(
  'an issue is marked as a duplicate, is shown on the other, and the mark is undone',
  verifies('duplicate.marks-and-undo'),
  async ({ page, company, secondBrowser }) => {
    const [door, hinges] = company.issues
    await signedIn(page, company.owner)
    const theirs = await secondBrowser(company.member)
    await theirs.goto(`/issue/${hinges.code}`)
    await page.goto(`/issue/${door.code}`)
    await page.getByRole('button', { name: 'Duplicate of' }).click()
    await menu(page)
      .getByRole('option', { name: new RegExp(hinges.code) })
      .click()
    await expect(page.getByRole('region', { name: 'Duplicate of' }).getByRole('link')).toContainText(hinges.code)
    await expect(feed(page)).toContainText(`marked it as a duplicate of ${hinges.code}`)
    expect((await company.owner.api.getIssue({ issue_id: door.id })).status).toBe('done')
    await expect(theirs.getByRole('region', { name: 'Duplicates' }).getByRole('link')).toContainText(door.code)
    await page.getByRole('button', { name: `Not a duplicate of ${hinges.code}` }).click()
    await expect(page.getByRole('region', { name: 'Duplicate of' })).toHaveCount(0)
    await expect(theirs.getByRole('region', { name: 'Duplicates' })).toHaveCount(0)
  },
)

test(
  'watching and muting decide what reaches the inbox',
  verifies('watch.automatic', 'watch.inbox'),
  async ({ page, company }) => {
    const { owner, member } = company
    const [door] = company.issues
    const say = (text: string) => owner.api.createComment({ target_type: 'issue', target_id: door.id, text })
    await signedIn(page, member)
    await page.goto(`/issue/${door.code}`)
    await feed(page).getByRole('button', { name: 'Watch', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Watch' }).click()
    await expect(feed(page).getByRole('button', { name: 'Watching' })).toBeVisible()
    await expect(feed(page).getByRole('img', { name: /Watchers: .*Mona Member/ })).toBeVisible()
    await page.goto('/inbox')
    await say('One')
    await expect(page.getByText('Olive Owner commented')).toBeVisible()
    await owner.api.updateIssue({ issue_id: door.id, status: 'done' })
    await expect(page.getByText('Olive Owner changed the status')).toBeVisible()

    await page.goto(`/issue/${door.code}`)
    await feed(page).getByRole('button', { name: 'Watching' }).click()
    await page.getByRole('menuitem', { name: 'Mute' }).click()
    await expect(feed(page).getByRole('button', { name: 'Muted' })).toBeVisible()
    await member.api.readInbox()
    await say('Two')
    expect((await member.api.listInbox({ unread: true })).data).toEqual([])
  },
)

test(
  'reactions are added and removed, and appear in other browsers',
  verifies('reaction.once'),
  async ({ page, company, secondBrowser }) => {
    const [door] = company.issues
    const target = { target_type: 'issue' as const, target_id: door.id }
    const { updated_at } = await company.owner.api.createComment({ ...target, text: 'It works' })
    const theirs = await secondBrowser(company.member)
    await theirs.goto(`/issue/${door.code}`)
    await signedIn(page, company.owner)
    await page.goto(`/issue/${door.code}`)
    await comment(page, 'It works').hover()
    await comment(page, 'It works').getByRole('button', { name: 'Add reaction' }).click()
    await page.getByRole('menuitem', { name: 'Celebrate' }).click()
    const mine = comment(page, 'It works').getByRole('button', { name: 'Celebrate, 1' })
    await expect(mine).toHaveAttribute('aria-pressed', 'true')
    await comment(theirs, 'It works').getByRole('button', { name: 'Celebrate, 1' }).click()
    await expect(comment(page, 'It works').getByRole('button', { name: 'Celebrate, 2' })).toBeVisible()
    await comment(page, 'It works').getByRole('button', { name: 'Celebrate, 2' }).click()
    await expect(comment(theirs, 'It works').getByRole('button', { name: 'Celebrate, 1' })).toBeVisible()
    const { data } = await company.owner.api.listComments(target)
    expect(data[0]?.updated_at).toBe(updated_at)
  },
)

test(
  'the history shows the diff of a description, and Restore saves the old text',
  verifies('edit.restore-description'),
  async ({ page, company }) => {
    const { owner, member } = company
    const [door] = company.issues
    const description = (await owner.api.getIssue({ issue_id: door.id })).description
    await member.api.updateIssue({ issue_id: door.id, description: `${description}\nAnd when it snows.` })
    await signedIn(page, owner)
    await page.goto(`/issue/${door.code}`)
    const line = feed(page).getByText('Mona Member changed the description')
    await expect(line).toBeVisible()
    await feed(page).getByRole('button', { name: 'Show diff' }).click()
    await expect(feed(page).getByRole('list', { name: 'Changed lines' })).toContainText('Added: And when it snows.')
    await checkAxe(page)
    await feed(page).getByRole('button', { name: 'Restore' }).click()
    await expect(toast(page, 'Description restored')).toBeVisible()
    await expect.poll(async () => (await owner.api.getIssue({ issue_id: door.id })).description).toBe(description)
    await expect(feed(page).getByText('Olive Owner changed the description')).toBeVisible()
    const { data } = await owner.api.listIssueHistory({ issue_id: door.id })
    expect(data[0]).toMatchObject({ actor: { id: owner.id }, changes: { description: { to: description } } })
  },
)

test(
  'a description that another user changed meanwhile is not overwritten unseen',
  verifies('edit.conflict'),
  async ({ page, company, faults }) => {
    const { owner, member } = company
    const [door] = company.issues
    await signedIn(page, owner)
    await page.goto(`/issue/${door.code}`)
    await page.getByText('when it rains').click()
    const editor = page.getByRole('textbox', { name: 'Description' })
    await editor.fill('Mine')
    // The change of the other user reaches the server, but not this browser, before it saves.
    const read = (await owner.api.getIssue({ issue_id: door.id })).updated_at
    await page.route(`**/api/v1/issues/${door.id}`, async (route) => {
      if (route.request().method() !== 'PUT') return route.continue()
      await member.api.updateIssue({ issue_id: door.id, description: 'Theirs' })
      await route.continue({ postData: JSON.stringify({ description: 'Mine', if_updated_at: read }) })
    })
    faults.expect(/status of 409/)
    await editor.press('Control+Enter')
    await expect(page.getByText('Another user changed the description.')).toBeVisible()
    await expect(editor).toHaveValue('Mine')
    await expect(page.getByText('Someone else changed the description')).toBeVisible()
    expect((await owner.api.getIssue({ issue_id: door.id })).description).toBe('Theirs')
    await page.unroute(`**/api/v1/issues/${door.id}`)
    await editor.press('Control+Enter')
    await expect.poll(async () => (await owner.api.getIssue({ issue_id: door.id })).description).toBe('Mine')
  },
)

test('the list is saved as CSV with its filters', verifies('export.csv'), async ({ page, company }) => {
  await signedIn(page, company.owner)
  await page.goto('/issues?team=ENG&status=!done')
  await expect(page.getByRole('row').first()).toBeVisible()
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download as CSV' }).click()
  const download = await saved
  expect(download.suggestedFilename()).toMatch(/^issues-\d{4}-\d\d-\d\d\.csv$/)
  const rows = (await readFile(await download.path(), 'utf8')).split('\r\n').filter((row) => row.startsWith('iss_'))
  const { data } = await company.owner.api.listIssues({ team_id: company.engineering.id })
  expect(rows.map((row) => row.slice(0, 30)).sort()).toEqual(
    data
      .filter(({ status }) => status !== 'done')
      .map(({ id }) => id)
      .sort(),
  )
})

test('reacts, watches and marks a duplicate with the keyboard alone', async ({ page, company }) => {
  const { api } = company.owner
  const [door, hinges] = company.issues
  await api.createComment({ target_type: 'issue', target_id: door.id, text: 'It works' })
  await signedIn(page, company.owner)
  await page.goto(`/issue/${door.code}`)
  await expect(comment(page, 'It works')).toBeVisible()
  await expect(feed(page).getByRole('button', { name: 'Watching' })).toBeVisible()
  keyboardOnly(page)
  const { keyboard } = page
  await keyboard.press('Shift+W')
  await expect(feed(page).getByRole('button', { name: 'Watch', exact: true })).toBeVisible()
  await typeInPalette(page, 'Mark as duplicate')
  await keyboard.press('Enter')
  await expect(page.getByRole('combobox', { name: 'Duplicate of' })).toBeFocused()
  await keyboard.type(hinges.title)
  await keyboard.press('Enter')
  await expect(page.getByRole('region', { name: 'Duplicate of' })).toContainText(hinges.code)
  await keyboard.press('m')
  await expect(composer(page)).toBeFocused()
  const add = comment(page, 'It works').getByRole('button', { name: 'Add reaction' })
  for (let step = 0; step < 12 && !(await add.evaluate((button) => button === document.activeElement)); step++) {
    await keyboard.press('Shift+Tab')
  }
  await keyboard.press('Enter')
  await expect(page.getByRole('menuitem').first()).toBeFocused()
  await keyboard.press('r')
  await keyboard.press('Enter')
  await expect(comment(page, 'It works').getByRole('button', { name: 'Rocket, 1' })).toBeVisible()
})

test.describe('on a narrow screen', () => {
  test.use({ viewport: narrow })
  test('nothing scrolls sideways', async ({ page, company }) => {
    const { api } = company.owner
    const [door, hinges] = company.issues
    const { id } = await api.createComment({ target_type: 'issue', target_id: door.id, text: 'It works' })
    const names = ['thumbs_up', 'heart', 'celebrate', 'laugh', 'eyes', 'rocket', 'confused', 'thumbs_down'] as const
    for (const name of names) await api.addReaction({ comment_id: id, name })
    await api.markDuplicate({ duplicate_id: door.id, issue_id: hinges.id })
    await api.updateIssue({ issue_id: door.id, description: `One line ${'without_end'.repeat(20)}` })
    await api.createTemplate({ name: 'Bug report', default: true })
    await signedIn(page, company.owner)
    await page.goto(`/issue/${door.code}`)
    await expect(comment(page, 'It works').getByRole('button', { name: 'Rocket, 1' })).toBeVisible()
    await feed(page).getByRole('button', { name: 'Show diff' }).click()
    await expect(feed(page).getByRole('button', { name: 'Restore' })).toBeVisible()
    expect(await scrolledSideways(page)).toEqual([])
    await page.goto('/settings/templates')
    await page.getByRole('button', { name: 'Edit Bug report' }).click()
    await expect(page.getByRole('button', { name: 'Save template' })).toBeVisible()
    expect(await scrolledSideways(page)).toEqual([])
    await page.goto('/issues')
    await expect(page.getByRole('button', { name: 'Download as CSV' })).toBeVisible()
    expect(await scrolledSideways(page)).toEqual([])
  })
})
