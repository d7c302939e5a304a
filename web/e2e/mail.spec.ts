import { linkIn } from '../../server/test/smtp.ts'
import { checkAxe, expect, keyboardOnly, narrow, scrolledSideways, signedIn, test, verifies } from './baton.ts'

test.use({ mail: true })

test(
  'invites by mail, shows what became of it and resends it',
  verifies('mail.invitation-sent', 'mail.invitation-own-token'),
  async ({ page, company, smtp, secondBrowser }) => {
    const email = `grace-${company.id}@example.com`
    await signedIn(page, company.owner)
    await page.goto('/settings/members')
    await page.getByRole('button', { name: 'Invite' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('E-mail addresses').fill(email)
    await dialog.getByRole('button', { name: 'Create invitation' }).click()
    await expect(dialog.getByRole('heading', { name: `Invitation mailed to ${email}` })).toBeVisible()
    const copied = (await dialog.getByRole('code').textContent()) ?? ''
    await checkAxe(page)
    // The link was mailed, so nothing is lost.
    await page.keyboard.press('Escape')
    await expect(dialog).toHaveCount(0)
    const row = page.getByRole('list', { name: 'Invitations' }).getByRole('listitem').filter({ hasText: email })
    await expect(row).toContainText('Mail sent')
    const first = linkIn(await smtp.arrived(email), '/invitations/accept')
    expect(first).not.toBe(copied)

    await row.getByRole('button', { name: `Resend invitation to ${email}` }).click()
    await expect(page.getByText(`A new link is on its way to ${email}.`)).toBeVisible()
    const mailed = linkIn(await smtp.arrived(email), '/invitations/accept')
    await expect(row).toContainText('Mail sent')

    const hers = await secondBrowser()
    await hers.goto(mailed)
    await expect(hers.getByRole('heading', { name: 'You have been invited to Acme' })).toBeVisible()
    await expect(hers.getByLabel('E-mail')).toHaveValue(email)
    await hers.getByLabel('Your name').fill('Grace Hopper')
    await hers.getByLabel('Password').fill('correct horse')
    await hers.getByRole('button', { name: 'Create account' }).click()
    await hers.getByRole('button', { name: 'Join the workspace' }).click()
    await expect(hers).toHaveURL(/\/issues$/)
    const account = await hers.evaluate(async () => (await fetch('/api/v1/auth/account')).json())
    expect(account).toMatchObject({ email, email_verified: true })
  },
)

test('an address that refuses mail is shown', async ({ page, company, smtp }) => {
  const email = `nobody-${company.id}@example.com`
  smtp.onRcpt = (address) => (address === email ? 550 : undefined)
  await company.owner.api.createInvitation({ email, role: 'member' })
  await signedIn(page, company.admin)
  await page.goto('/settings/members')
  const row = page.getByRole('list', { name: 'Invitations' }).getByRole('listitem').filter({ hasText: email })
  await expect(row).toContainText('Mail failed')
  smtp.onRcpt = () => undefined
})

test(
  'a manager sends a test mail with the keyboard',
  verifies('mail.status-and-test'),
  async ({ page, company, smtp }) => {
    await signedIn(page, company.owner)
    await page.goto('/settings/workspace')
    await expect(page.getByText('Working', { exact: true })).toBeVisible()
    await keyboardOnly(page)
    const button = page.getByRole('button', { name: 'Send test mail' })
    for (let tabs = 0; tabs < 60 && !(await button.evaluate((node) => node === document.activeElement)); tabs++)
      await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await expect(page.getByText(`A test mail is on its way to ${company.owner.email}.`)).toBeVisible()
    expect((await smtp.arrived(company.owner.email, /^Test mail/)).parsed.text).toContain('works')
  },
)

test.describe('on a narrow screen', () => {
  test.use({ viewport: narrow })

  test('members and the state of mail fit', async ({ page, company, smtp }) => {
    const email = `a.person.with.a.long.name.${company.id}@department.example.com`
    await company.owner.api.createInvitation({ email, role: 'member', team_ids: [company.design.id] })
    await smtp.arrived(email)
    await signedIn(page, company.owner)
    await page.goto('/settings/members')
    await expect(page.getByText('Mail sent')).toBeVisible()
    expect(await scrolledSideways(page)).toEqual([])
    await page.goto('/settings/workspace')
    await expect(page.getByRole('button', { name: 'Send test mail' })).toBeVisible()
    expect(await scrolledSideways(page)).toEqual([])
  })
})
