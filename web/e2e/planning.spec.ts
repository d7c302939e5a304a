import { checkAxe, expect, keyboardOnly, narrow, signedIn, test, verifies } from './baton.ts'
import { pickDay } from './parts.ts'

test(
  'labels are created, renamed, recoloured, merged and deleted in Settings',
  verifies('issue.labels-crud'),
  async ({ page, company }) => {
    const { member, issues } = company
    const { api } = member
    const old = await api.createLabel({ name: 'defect' })
    await api.updateIssue({ issue_id: issues[0].id, label_ids: [old.id] })
    await signedIn(page, member)
    await page.goto('/settings/labels')
    const list = page.getByRole('list', { name: 'Labels' })
    await expect(list.getByRole('listitem')).toHaveText([/defect/])

    await page.getByRole('button', { name: 'New label' }).click()
    keyboardOnly(page)
    await expect(page.getByRole('dialog').getByLabel('Name')).toBeFocused()
    await page.keyboard.type('bug')
    await page.keyboard.press('Enter')
    await expect(list.getByRole('listitem')).toHaveText([/bug/, /defect/])
    await expect(page.getByRole('dialog')).toHaveCount(0)
    await page.goto('/settings/labels')
    await expect(list.getByRole('listitem')).toHaveCount(2)

    const focusOn = async (name: string) => {
      for (let step = 0; step < 60; step++) {
        await page.keyboard.press('Tab')
        if (await page.getByRole('button', { name, exact: true }).evaluate((it) => it === document.activeElement))
          return
      }
      throw new Error(`${name} was not reached`)
    }
    await focusOn('Edit bug')
    await page.keyboard.press('Enter')
    await expect(page.getByRole('dialog').getByLabel('Name')).toBeFocused()
    await page.keyboard.press('Control+A')
    await page.keyboard.type('Bug')
    await page.keyboard.press('Tab')
    await page.keyboard.press('ArrowRight')
    await checkAxe(page)
    await page.keyboard.press('Enter')
    await expect(list.getByRole('listitem')).toHaveText([/Bug/, /defect/])
    const renamed = (await api.listLabels()).data.find(({ name }) => name === 'Bug')
    expect(renamed?.color).toMatch(/^#[0-9a-f]{6}$/)

    await focusOn('Actions for defect')
    await page.keyboard.press('Enter')
    await expect(page.getByRole('menuitem').first()).toBeFocused()
    await page.keyboard.press('m')
    await page.keyboard.press('Enter')
    await expect(page.getByRole('option', { name: 'Bug' })).toBeVisible()
    await page.keyboard.press('Enter')
    await expect(page.getByText('Every issue and project with defect gets Bug instead')).toBeVisible()
    await page.keyboard.press('Enter')
    await expect(list.getByRole('listitem')).toHaveText([/Bug/])
    expect((await api.getIssue({ issue_id: issues[0].id })).label_ids).toEqual([renamed?.id])

    await focusOn('Actions for Bug')
    await page.keyboard.press('Enter')
    await expect(page.getByRole('menuitem').first()).toBeFocused()
    await page.keyboard.press('d')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByText('It is removed from every issue').waitFor()
    await page.keyboard.press('Enter')
    await expect(page.getByText('No labels yet')).toBeVisible()
    expect((await api.getIssue({ issue_id: issues[0].id })).label_ids).toEqual([])
  },
)

test(
  'cycles are created, edited and closed in Settings, and unfinished issues move on',
  verifies('team.cycles-crud'),
  async ({ page, company }) => {
    const { member, engineering, issues } = company
    const { api } = member
    const next = await api.createCycle({ team_id: engineering.id, name: 'Week 2' })
    const [open, done] = issues
    await signedIn(page, member)
    await page.setViewportSize(narrow)
    await page.goto('/settings/cycles')
    await page.getByRole('button', { name: 'New cycle of Engineering' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Week 1')
    await pickDay(page, dialog.getByRole('button', { name: /^Starts:/ }), '2026-03-09')
    await pickDay(page, dialog.getByRole('button', { name: /^Ends:/ }), '2026-03-02')
    await dialog.getByRole('button', { name: 'Create cycle' }).click()
    await expect(dialog.getByRole('alert')).toHaveText('The end is before the start.')
    expect((await api.listCycles()).data).toHaveLength(1)
    await pickDay(page, dialog.getByRole('button', { name: /^Ends:/ }), '2999-03-16')
    await checkAxe(page)
    await dialog.getByRole('button', { name: 'Create cycle' }).click()
    const list = page.getByRole('list', { name: 'Cycles of Engineering' })
    await expect(list.getByRole('listitem')).toHaveCount(2)
    const week = (await api.listCycles()).data.find(({ name }) => name === 'Week 1')
    await api.updateIssue({ issue_id: open.id, cycle_id: week?.id ?? null })
    await api.updateIssue({ issue_id: done.id, cycle_id: week?.id ?? null, status: 'done' })

    await page.getByRole('button', { name: 'Actions for Week 1' }).click()
    await page.getByRole('menuitem', { name: 'Close cycle…' }).click()
    await dialog.getByLabel('Unfinished issues (1)').selectOption('Move to Week 2')
    await dialog.getByRole('button', { name: 'Close cycle' }).click()
    await expect(list.getByRole('listitem').filter({ hasText: 'Week 1' })).toContainText('Closed')
    expect((await api.getIssue({ issue_id: open.id })).cycle_id).toBe(next.id)
    expect((await api.getIssue({ issue_id: done.id })).cycle_id).toBe(week?.id)
  },
)

test('a second label or cycle with the same name is saved only after a warning', async ({ page, company }) => {
  const { member, engineering, issues } = company
  const { api } = member
  await api.createLabel({ name: 'Bug' })
  const defect = await api.createLabel({ name: 'defect' })
  await api.updateIssue({ issue_id: issues[0].id, label_ids: [defect.id] })
  await api.createCycle({ team_id: engineering.id, name: 'Week 1' })
  await signedIn(page, member)
  await page.goto('/settings/labels')
  const dialog = page.getByRole('dialog')
  await page.getByRole('button', { name: 'New label' }).click()
  await dialog.getByLabel('Name').fill(' ｂug ')
  await dialog.getByRole('button', { name: 'Create label' }).click()
  await expect(dialog.getByRole('alert')).toHaveText('A label named Bug exists already.')
  expect((await api.listLabels()).data).toHaveLength(2)
  await dialog.getByRole('button', { name: 'Create anyway' }).click()
  await expect(dialog).toHaveCount(0)
  expect((await api.listLabels()).data).toHaveLength(3)

  await page.getByRole('button', { name: 'Edit defect' }).click()
  await dialog.getByLabel('Name').fill('bug')
  await page.keyboard.press('Enter')
  await dialog.getByRole('button', { name: /^Merge into/ }).click()
  await dialog.getByRole('button', { name: 'Merge labels' }).click()
  await expect(dialog).toHaveCount(0)
  expect((await api.listLabels()).data.map(({ id }) => id)).not.toContain(defect.id)

  await page.goto(`/issue/${issues[0].code}`)
  await expect(page.getByText(/added the label .*bug/i)).toBeVisible()
  await expect(page.getByText('a deleted label')).toHaveCount(0)

  await page.goto('/settings/cycles')
  await page.getByRole('button', { name: 'New cycle of Engineering' }).click()
  await dialog.getByLabel('Name').fill('week 1')
  await dialog.getByRole('button', { name: 'Create cycle' }).click()
  await expect(dialog.getByRole('alert')).toHaveText('A cycle of this team is named Week 1 already.')
  expect((await api.listCycles()).data).toHaveLength(1)
  await dialog.getByRole('button', { name: 'Create anyway' }).click()
  await expect(dialog).toHaveCount(0)
  expect((await api.listCycles()).data).toHaveLength(2)
})

test('on a phone the active settings tab stays in sight', async ({ page, company }) => {
  await signedIn(page, company.owner)
  await page.setViewportSize(narrow)
  for (const [path, name] of [
    ['audit-log', 'Audit log'],
    ['api', 'API'],
    ['account', 'Account'],
  ] as const) {
    await page.goto(`/settings/${path}`)
    const tab = page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name, exact: true })
    await expect(tab).toBeInViewport({ ratio: 1 })
  }
})

test('a dialog opened from the drawer of a phone closes the drawer, so that there is one scrim', async ({
  page,
  company,
}) => {
  await signedIn(page, company.owner)
  await page.setViewportSize(narrow)
  await page.goto('/issues')
  await page.getByRole('button', { name: 'Menu' }).click()
  const sidebar = page.getByRole('complementary', { name: 'Sidebar' })
  await sidebar.getByRole('button', { name: 'Search' }).click()
  await expect(page.getByRole('dialog')).toBeVisible()
  await expect(sidebar).toBeHidden()
})
