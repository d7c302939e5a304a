import { checkAxe, expect, nothingListens, signedIn, test, verifies } from './baton.ts'

test.use({ settings: nothingListens })

test('the reason of a pause is shown to managers', verifies('mail.status-and-test'), async ({ page, company }) => {
  await signedIn(page, company.owner)
  await page.goto('/settings/workspace')
  await page.getByRole('button', { name: 'Send test mail' }).click()
  await expect(page.getByText('The mail server cannot be used')).toBeVisible()
  await expect(page.getByText(/The connection to 127\.0\.0\.1 failed: .*ECONNREFUSED/)).toBeVisible()
  await expect(page.getByText('Paused', { exact: true })).toBeVisible()
  await checkAxe(page)
})
