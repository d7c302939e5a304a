import type { Page } from '@playwright/test'
import { checkAxe, expect, keyboardOnly, narrow, signedIn, test, verifies } from './baton.ts'

/** An authenticator in the browser that keeps passkeys and always verifies its user. */
async function addAuthenticator(page: Page) {
  const client = await page.context().newCDPSession(page)
  await client.send('WebAuthn.enable')
  await client.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
}

test(
  'registers a passkey, and signs in with it without typing an e-mail address',
  verifies('passkey.register-and-sign-in'),
  async ({ page, company }) => {
    await addAuthenticator(page)
    await signedIn(page, company.member)
    await page.goto('/settings/account')
    const passkeys = page.getByRole('list', { name: 'Passkeys' }).getByRole('listitem')
    await page.getByLabel('Name of the passkey').focus()
    keyboardOnly(page)
    await page.keyboard.press('ControlOrMeta+A')
    await page.keyboard.type('Work laptop')
    await page.keyboard.press('Enter')
    await expect(passkeys).toContainText('Work laptop')
    await expect(passkeys).toContainText('never used')
    await checkAxe(page)

    await page.context().clearCookies()
    await page.goto('/sign-in')
    await expect(page.getByRole('button', { name: 'Sign in with a passkey' })).toBeVisible()
    await page.keyboard.press('Tab')
    await expect(page.getByRole('button', { name: 'Sign in with a passkey' })).toBeFocused()
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL(/\/issues$/)
    await page.goto('/settings/account')
    await expect(passkeys).toContainText('last used')
    await expect(page.getByRole('list', { name: 'Devices' })).toContainText('passkey')
  },
)

test.describe('on a phone', () => {
  test.use({ viewport: narrow })
  test('removes a passkey, and says that a device has one already', async ({ page, company }) => {
    await addAuthenticator(page)
    await signedIn(page, company.member)
    await page.goto('/settings/account')
    const passkeys = page.getByRole('list', { name: 'Passkeys' }).getByRole('listitem')
    await page.getByRole('button', { name: 'Add passkey' }).click()
    await expect(passkeys).toHaveCount(1)
    await page.getByRole('button', { name: 'Add passkey' }).click()
    await expect(page.getByText('This device already has a passkey for your account.')).toBeVisible()
    await passkeys.getByRole('button', { name: /^Remove/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await expect(passkeys).toHaveCount(0)
    expect((await company.member.api.getAccount()).passkeys).toBe(0)
  })
})

test('says that no passkey was found', async ({ page, company }) => {
  await addAuthenticator(page)
  expect(company.name).toBeDefined()
  await page.goto('/sign-in')
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await expect(page.getByText('Canceled, or no passkey was found.')).toBeVisible()
})

test('removes the password of an account with a passkey', async ({ page, company }) => {
  await addAuthenticator(page)
  await signedIn(page, company.member)
  await page.goto('/settings/account')
  await page.getByRole('button', { name: 'Add passkey' }).click()
  await page.getByRole('button', { name: 'Remove password' }).click()
  const confirm = page.getByRole('dialog', { name: 'Remove your password?' })
  await confirm.getByRole('button', { name: 'Remove' }).click()
  await expect(page.getByText('Your account has no password.')).toBeVisible()
  expect((await company.member.api.getAccount()).has_password).toBe(false)
})
