import { checkAxe, expect, narrow, scrolledSideways, signedIn, tabTo, test, verifies } from './baton.ts'
import { settled } from './screens.ts'

test(
  'a member deletes the account with the keyboard, and others see "Deleted person"',
  verifies('safety.erase-ends-access', 'safety.erase-keeps-work'),
  async ({ page, company, secondBrowser, faults }) => {
    faults.allow(/status of 403.*\/live/) // the stream may begin anew while the account is deleted
    const { member, owner } = company
    const [door] = company.issues
    await member.api.createComment({ target_type: 'issue', target_id: door.id, text: 'I leave soon' })
    await member.api.updateIssue({ issue_id: door.id, priority: 'urgent' })
    await signedIn(page, member)
    await page.setViewportSize(narrow)
    await page.goto('/settings/account')
    const remove = page.getByRole('button', { name: 'Delete account' })
    await expect(remove).toBeVisible()
    expect(await scrolledSideways(page)).toEqual([])
    await tabTo(remove)
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog')
    await expect(dialog).toContainText('cannot be undone')
    await checkAxe(page)
    await page.keyboard.type(`${member.email}x`)
    await expect(dialog.getByRole('button', { name: 'Delete account' })).toBeDisabled()
    await page.keyboard.press('Backspace')
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL(/\/sign-in/)

    const theirs = await secondBrowser(owner)
    await theirs.goto(`/issue/${door.code}`)
    await expect(theirs.getByText('I leave soon')).toBeVisible()
    // In the activity.
    await expect(theirs.getByText('Deleted person').first()).toBeVisible()
  },
)

test(
  'the only owner is told to make another owner first',
  verifies('safety.erase-last-owner'),
  async ({ page, company, faults }) => {
    const { owner } = company
    await signedIn(page, owner)
    await page.goto('/settings/account')
    // Sections above the button load one after another and move it.
    await settled(page)
    await page.getByRole('button', { name: 'Delete account' }).click()
    faults.expect(/status of 409/)
    await page.getByLabel(/^Type .* to confirm$/).fill(owner.email)
    await page.getByRole('dialog').getByRole('button', { name: 'Delete account' }).click()
    await expect(page.getByRole('alert')).toContainText('only owner')
    await expect(owner.api.getWorkspace()).resolves.toBeDefined()
  },
)
