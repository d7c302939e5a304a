import { ssoSettings, TestIssuer } from '../../server/test/issuer.ts'
import { test as base, checkAxe, expect, keyboardOnly, narrow, signedIn } from './baton.ts'
import { withService } from './service.ts'

/** With an identity provider, in which `issuer.user` is signed in. */
const test = base.extend<Record<never, never>, { issuer: TestIssuer }>({
  issuer: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures a fixture needs from this pattern
    async ({}, use) => {
      const issuer = await TestIssuer.start()
      await use(issuer)
      issuer.stop()
    },
    { scope: 'worker' },
  ],
  settings: [
    async ({ issuer }, use) => use(ssoSettings({ issuer, allowed_domains: ['example.com'] })),
    { scope: 'worker' },
  ],
})

test('signs in with a provider by keyboard, and returns to the page', async ({ page, company, issuer }) => {
  issuer.user = issuer.person({ email: company.member.email })
  await page.goto('/settings/account')
  await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible()
  await checkAxe(page)
  keyboardOnly(page)
  await page.keyboard.press('Tab')
  await expect(page.getByRole('button', { name: 'Continue with Company' })).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL('/settings/account')
  await expect(page.getByRole('list', { name: 'Identities' })).toContainText(company.member.email)
})

test('says why the provider was refused', async ({ page, issuer }) => {
  issuer.user = issuer.person({ email: 'stranger@other.example' })
  await page.goto('/sign-in')
  await page.getByRole('button', { name: 'Continue with Company' }).click()
  await expect(page.getByText('Your account at the provider may not use this instance.')).toBeVisible()
  await expect(page.getByLabel('Password')).toBeVisible()
})

for (const viewport of [null, narrow]) {
  test(`connects an identity and removes it${viewport ? ' on a phone' : ''}`, async ({ page, company, issuer }) => {
    if (viewport) await page.setViewportSize(viewport)
    issuer.user = issuer.person({ email: 'mona@other.example' })
    await signedIn(page, company.member)
    await page.goto('/settings/account')
    // Linking does not ask about domains: the user is signed in here. But this provider has rules for everyone.
    await page.getByRole('button', { name: 'Connect Company' }).click()
    await expect(page.getByText('Your account at the provider may not use this instance.')).toBeVisible()
    issuer.user = issuer.person()
    await page.getByRole('button', { name: 'Connect Company' }).click()
    await expect(page.getByRole('list', { name: 'Identities' })).toContainText(issuer.user.email as string)
    await checkAxe(page)
    await page.getByRole('button', { name: 'Remove Company' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await expect(page.getByRole('button', { name: 'Connect Company' })).toBeVisible()
    expect((await company.member.api.getAccount()).identities).toEqual([])
  })
}

base('redirects to the only provider, except after sign-out and with ?local', async ({ page }) => {
  // It starts a service of its own.
  base.slow()
  const issuer = await TestIssuer.start()
  const settings = { ...ssoSettings({ issuer, allowed_domains: ['example.com'] }), BATON_SSO_ONLY: '1' }
  try {
    await withService(settings, async ({ url }) => {
      await page.goto(`${url}/issues`)
      await expect(page.getByRole('heading', { name: 'Sign in at Company' })).toBeVisible()

      await page.goto(`${url}/sign-in?local`)
      await expect(page.getByLabel('Password')).toBeVisible()
      await expect(page.getByRole('button', { name: 'Sign in with a passkey' })).toHaveCount(0)

      issuer.user = issuer.person()
      await page.getByRole('button', { name: 'Continue with Company' }).click()
      await expect(page.getByRole('heading', { name: 'Create a workspace' })).toBeVisible()
      await page.getByRole('button', { name: 'Sign out' }).click()
      await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible()
      await expect(page.getByLabel('Password')).toHaveCount(0)
      await page.getByRole('link', { name: 'Sign out of Company too' }).click()
      await expect(page.getByRole('heading', { name: 'Signed out of Company' })).toBeVisible()
    })
  } finally {
    issuer.stop()
  }
})
