import { linearCsv, linearRow } from '../../server/test/import-files.ts'
import { checkAxe, expect, narrow, scrolledSideways, signedIn, test, verifies } from './baton.ts'

test(
  'a manager imports a file, sees the progress without reload, and assigns a placeholder',
  verifies('import.progress', 'import.placeholder-assign'),
  async ({ page, company }) => {
    test.slow()
    const { api } = company.owner
    await signedIn(page, company.owner)
    await page.goto('/settings/import')
    await page.getByRole('button', { name: 'Import issues' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'Import issues' })
    const rows = Array.from({ length: 1200 }, (_, index) =>
      linearRow({ Title: `Imported ${index}`, Creator: 'Grace Hopper', Status: index === 0 ? 'Simmering' : 'Todo' }),
    )
    await dialog
      .getByLabel('Files')
      .setInputFiles({ name: 'linear.csv', mimeType: 'text/csv', buffer: Buffer.from(linearCsv(rows)) })
    await dialog.getByRole('button', { name: 'Read' }).click()
    await expect(page.getByRole('status').getByText('Ready')).toBeVisible({ timeout: 30_000 })
    await expect(page.getByRole('row', { name: /issues/i })).toContainText('1200')
    await expect(page.getByRole('list', { name: 'Problems' })).toContainText('Simmering')
    expect((await api.listIssues({ query: 'Imported' })).data).toEqual([])
    await checkAxe(page)
    await page.getByLabel('Statuses: Simmering').selectOption('todo')
    await page.getByRole('button', { name: 'Preview again' }).click()
    await expect(page.getByRole('list', { name: 'Problems' })).toHaveCount(0, { timeout: 30_000 })
    // Without a reload: the live stream tells of each batch.
    await page.getByRole('status').evaluate((status) => {
      const seen = new Set<string>()
      Object.assign(window, { progressSeen: seen })
      new MutationObserver(() => seen.add(status.textContent ?? '')).observe(status, {
        childList: true,
        characterData: true,
        subtree: true,
      })
    })
    await page.getByRole('button', { name: 'Start import' }).click()
    await expect(page.getByRole('status').getByText('Done')).toBeVisible({ timeout: 90_000 })
    const seen = await page.evaluate(() => [...(window as unknown as { progressSeen: Set<string> }).progressSeen])
    const batches = seen.filter((text) => /^Running: issues, \d+ of 1200/.test(text))
    expect(batches.length, seen.join('\n')).toBeGreaterThan(1)
    await page.setViewportSize(narrow)
    expect(await scrolledSideways(page)).toEqual([])
    await expect(page.getByRole('button', { name: 'Start import' })).toHaveCount(0)
    await page.getByRole('link', { name: 'Show issues' }).click()
    await expect(page).toHaveURL(/\/issues/)
    await page.goto('/settings/import')
    await page.setViewportSize({ width: 1280, height: 800 })
    await expect(page.getByRole('list', { name: 'Imports' })).toContainText('1,200 issues created')
    await page.setViewportSize(narrow)
    const [{ code } = { code: '' }] = (await api.listIssues({ query: 'Imported 0' })).data
    await page.goto(`/issue/${code}`)
    await expect(page.getByRole('main')).toContainText('Grace Hopper')
    await page.goto('/settings/placeholders')
    await page.getByLabel('Member for Grace Hopper').selectOption({ index: 1 })
    await page.getByRole('button', { name: 'Assign' }).click()
    const question = page.getByRole('dialog', { name: /^Assign Grace Hopper to / })
    await expect(question).toContainText('This cannot be undone.')
    await checkAxe(page)
    await question.getByRole('button', { name: 'Assign placeholder' }).click()
    await expect(page.getByText('No placeholders')).toBeVisible()
  },
)

test(
  'changes of the mapping during a slow save are all saved, and deleting asks first',
  verifies('import.unmapped-value', 'import.csv-mapping'),
  async ({ page, company }) => {
    const { api } = company.owner
    await signedIn(page, company.owner)
    await page.goto('/settings/import')
    await page.getByRole('button', { name: 'Import issues' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'Import issues' })
    const rows = ['Simmering', 'Boiling', 'Boiling', 'Boiling'].map((Status) => linearRow({ Status, Priority: 'Odd' }))
    await dialog
      .getByLabel('Files')
      .setInputFiles({ name: 'linear.csv', mimeType: 'text/csv', buffer: Buffer.from(linearCsv(rows)) })
    await dialog.getByRole('button', { name: 'Read' }).click()
    await expect(page.getByRole('status').getByText('Ready')).toBeVisible({ timeout: 30_000 })
    const problems = page.getByRole('list', { name: 'Problems' })
    await expect(problems.getByRole('listitem').filter({ hasText: 'Boiling' })).toContainText('3 rows: 3, 4, 5')

    const release: (() => void)[] = []
    await page.route('**/api/v1/imports/imp_*', async (route) => {
      if (route.request().method() === 'PATCH') await new Promise<void>((resolve) => release.push(resolve))
      await route.continue()
    })
    await page.getByLabel('Statuses: Simmering').selectOption('todo')
    await page.getByLabel('Statuses: Boiling').selectOption('in_progress')
    await page.getByLabel('Priorities: Odd').selectOption('low')
    await expect(page.getByLabel('Statuses: Simmering')).toHaveValue('todo')
    await expect(page.getByLabel('Priorities: Odd')).toHaveValue('low')
    // Waits for the changes.
    await page.getByRole('button', { name: 'Preview again' }).click()
    for (let saved = 0; saved < 3; saved++) {
      await expect.poll(() => release.length).toBe(saved + 1)
      release[saved]?.()
    }
    await expect(problems).toHaveCount(0, { timeout: 30_000 })
    const [one] = (await api.listImports()).data
    expect(one?.mapping).toMatchObject({
      statuses: { Simmering: 'todo', Boiling: 'in_progress' },
      priorities: { Odd: 'low' },
    })

    await page.getByRole('button', { name: 'Delete' }).click()
    const question = page.getByRole('dialog', { name: 'Delete this import?' })
    await expect(question).toContainText('Imported issues stay.')
    await question.getByRole('button', { name: 'Cancel' }).click()
    expect((await api.listImports()).data).toHaveLength(1)
    await page.getByRole('button', { name: 'Delete' }).click()
    await question.getByRole('button', { name: 'Delete import' }).click()
    await expect(page.getByText('No imports')).toBeVisible()
  },
)

test('a preview says why it would import nothing, and starts when a team is chosen', async ({ page, company }) => {
  const { api } = company.owner
  await signedIn(page, company.owner)
  await page.goto('/settings/import')
  await page.getByRole('button', { name: 'Import issues' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Import issues' })
  await dialog.getByRole('radio', { name: /^CSV/ }).check()
  const buffer = Buffer.from('Title,Priority\nSweep the yard,High\nPaint the door,Low\n')
  await dialog.getByLabel('Files').setInputFiles({ name: 'issues.csv', mimeType: 'text/csv', buffer })
  await dialog.getByRole('button', { name: 'Read' }).click()
  await expect(page.getByRole('status').getByText('Ready')).toBeVisible({ timeout: 30_000 })
  await expect(page.getByText(/^Nothing would be imported\. No column is chosen for the team/)).toBeVisible()
  const start = page.getByRole('button', { name: 'Start import' })
  await expect(start).toBeDisabled()
  await expect(start).toHaveAccessibleDescription(/“Team for issues without one” is None/)
  await page.getByLabel('Team for issues without one').selectOption(company.engineering.id)
  await page.getByRole('button', { name: 'Preview again' }).click()
  await expect(page.getByText(/^Nothing would be imported/)).toHaveCount(0, { timeout: 30_000 })
  await start.click()
  await expect(page.getByRole('status').getByText('Done')).toBeVisible({ timeout: 30_000 })
  expect((await api.listIssues({ query: 'Sweep the yard' })).data).toHaveLength(1)
})
