import { linearCsv, linearRow } from '../../server/test/import-files.ts'
import { checkAxe, expect, narrow, scrolledSideways, signedIn, test, verifies } from './baton.ts'

test(
  'a manager imports a file, sees the progress without reload, and assigns a placeholder',
  verifies('import.progress', 'import.placeholder-assign'),
  async ({ page, company }) => {
    const { api } = company.owner
    await signedIn(page, company.owner)
    await page.goto('/settings/import')
    await page.getByRole('button', { name: 'Import issues' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'Import issues' })
    const rows = Array.from({ length: 1500 }, (_, index) =>
      linearRow({ Title: `Imported ${index}`, Creator: 'Grace Hopper', Status: index === 0 ? 'Simmering' : 'Todo' }),
    )
    await dialog
      .getByLabel('Files')
      .setInputFiles({ name: 'linear.csv', mimeType: 'text/csv', buffer: Buffer.from(linearCsv(rows)) })
    await dialog.getByRole('button', { name: 'Read' }).click()
    await expect(page.getByRole('status').getByText('Ready')).toBeVisible({ timeout: 30_000 })
    await expect(page.getByRole('row', { name: /issues/i })).toContainText('1500')
    await expect(page.getByRole('list', { name: 'Problems' })).toContainText('Simmering')
    expect((await api.listIssues({ query: 'Imported' })).data).toEqual([])
    await checkAxe(page)
    await page.getByLabel('Statuses: Simmering').selectOption('todo')
    await page.getByRole('button', { name: 'Preview again' }).click()
    await expect(page.getByRole('list', { name: 'Problems' })).toHaveCount(0, { timeout: 30_000 })
    await page.getByRole('button', { name: 'Start import' }).click()
    // Without a reload: the live stream tells of each batch.
    await expect(page.getByRole('status')).toContainText('Running', { timeout: 15_000 })
    await expect(page.getByRole('status').getByText('Done')).toBeVisible({ timeout: 60_000 })
    await page.setViewportSize(narrow)
    expect(await scrolledSideways(page)).toEqual([])
    const [{ code } = { code: '' }] = (await api.listIssues({ query: 'Imported 0' })).data
    await page.goto(`/issue/${code}`)
    await expect(page.getByRole('main')).toContainText('Grace Hopper')
    await page.goto('/settings/placeholders')
    await page.getByLabel('Member for Grace Hopper').selectOption({ index: 1 })
    await page.getByRole('button', { name: 'Assign' }).click()
    await expect(page.getByText('No placeholders')).toBeVisible()
    await checkAxe(page)
  },
)
