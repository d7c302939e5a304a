import { expect, signedIn, test } from './baton.ts'

const count = 10_000
const batch = 500
const statuses = ['backlog', 'todo', 'in_progress', 'qa'] as const

test('moves through ten thousand issues without losing a key press', async ({ page, company }) => {
  // Importing them takes most of the time.
  test.setTimeout(180_000)
  const { owner, engineering } = company
  for (let first = 0; first < count; first += batch) {
    await owner.api.importIssues({
      issues: Array.from({ length: batch }, (_, index) => ({
        title: `Imported ${String(first + index + 1).padStart(5, '0')}`,
        team_id: engineering.id,
        status: statuses[index % 4] ?? 'backlog',
      })),
    })
  }
  await signedIn(page, owner)
  // The issues of the company fixture are the oldest, so the last row is known.
  await page.goto('/issues?sort=newest&group=none')
  await expect(page.getByRole('status').filter({ hasText: '10,005 issues' })).toBeVisible({ timeout: 60_000 })
  const rows = page.getByRole('row')
  const current = page.locator('[aria-current="true"]')
  const indexNow = async () => Number(await current.getAttribute('aria-rowindex'))

  // As fast as possible, without waiting in between.
  const presses = 150
  await Promise.all(Array.from({ length: presses }, () => page.keyboard.press('j')))
  await expect.poll(indexNow).toBe(presses)
  expect(await rows.count()).toBeLessThan(120)
  await page.keyboard.press('PageDown')
  await page.keyboard.press('PageDown')
  await expect.poll(indexNow).toBeGreaterThan(presses + 20)
  await page.keyboard.press('End')
  await expect.poll(indexNow).toBe(count + 5)
  await expect(current).toContainText('The door sticks')
  await expect(current).toBeInViewport()
  await page.keyboard.press('k')
  await expect(current).toContainText('Oil the hinges')
  expect(await rows.count()).toBeLessThan(120)

  await page.keyboard.press('Control+f')
  await page.keyboard.type('imported 04711')
  await expect(page.getByLabel('Find in this list')).toHaveValue('imported 04711')
  await expect(rows).toHaveCount(1)
  await expect(rows).toContainText('Imported 04711')

  // The board renders only the visible cards.
  await page.keyboard.press('Escape')
  await page.keyboard.press('Escape')
  await expect(page.getByRole('status').filter({ hasText: '10,005 issues' })).toBeVisible()
  await page.keyboard.press('b')
  await expect(page.getByRole('region', { name: 'Todo' }).getByRole('heading')).toContainText('2,502')
  expect(await page.getByRole('main').getByRole('listitem').count()).toBeLessThan(300)
})
