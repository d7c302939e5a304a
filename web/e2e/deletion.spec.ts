import { checkAxe, expect, narrow, scrolledSideways, signedIn, tabTo, test, verifies } from './baton.ts'

const banner = 'This workspace is read-only and will be deleted on'

test(
  'an owner deletes the workspace with the keyboard, all see it, and it is canceled',
  verifies('export.deletion-confirmed', 'export.deletion-canceled'),
  async ({ page, company, secondBrowser, faults }) => {
    const { name } = await company.owner.api.getWorkspace()
    const theirs = await secondBrowser(company.member)
    await theirs.goto('/issues')
    await signedIn(page, company.owner)
    await page.goto('/settings/export')
    await expect(page.getByRole('button', { name: 'Delete workspace' })).toBeEnabled()
    await tabTo(page.getByRole('button', { name: 'Delete workspace' }))
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog')
    await expect(dialog).toContainText('cannot be restored')
    await page.keyboard.type(`${name}x`)
    await expect(dialog.getByRole('button', { name: 'Delete workspace' })).toBeDisabled()
    await page.keyboard.press('Backspace')
    await page.keyboard.press('Enter')
    await expect(page.getByRole('status').filter({ hasText: banner })).toBeVisible()
    await checkAxe(page)
    expect((await company.owner.api.getWorkspace()).deletion_at).not.toBeNull()

    // The member sees it without a reload, can read, and cannot cancel.
    await expect(theirs.getByText(banner)).toBeVisible()
    await expect(theirs.getByRole('button', { name: 'Cancel deletion' })).toHaveCount(0)
    const [door] = company.issues
    await theirs.goto(`/issues/${door.code}`)
    await expect(theirs.getByRole('heading', { name: door.title })).toBeVisible()
    faults.allow(/status of 409/)
    await expect(company.owner.api.createLabel({ name: 'Late' })).rejects.toMatchObject({
      code: 'WORKSPACE_PENDING_DELETION',
    })

    await page.setViewportSize(narrow)
    await page.goto('/issues')
    const cancel = page.getByRole('button', { name: 'Cancel deletion' })
    await expect(cancel).toBeVisible()
    expect(await scrolledSideways(page)).toEqual([])
    await cancel.click()
    await page.getByRole('dialog').getByRole('button', { name: 'Keep workspace' }).click()
    await expect(page.getByText(banner)).toHaveCount(0)
    await expect(theirs.getByText(banner)).toHaveCount(0)
    expect((await company.owner.api.getWorkspace()).deletion_at).toBeNull()
  },
)

test('an admin sees who can delete the workspace', async ({ page, company }) => {
  await signedIn(page, company.admin)
  await page.goto('/settings/export')
  await expect(page.getByText('Only owners can export or delete the workspace.')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Delete workspace' })).toHaveCount(0)
})
