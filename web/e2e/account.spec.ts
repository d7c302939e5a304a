import { checkAxe, expect, keyboardOnly, narrow, signedIn, test, verifies } from './baton.ts'

test.use({ timezoneId: 'Europe/Zurich' })

test(
  'a person changes their name and time zone with the keyboard, and others see the name at once',
  verifies('account.change-name-and-zone'),
  async ({ page, company, secondBrowser }) => {
    const other = await secondBrowser(company.owner)
    await other.goto('/settings/members')
    await expect(other.getByText('Mona Member')).toBeVisible()
    await signedIn(page, company.member)
    await page.goto('/settings/account')
    await expect(page.getByRole('button', { name: 'Time zone UTC' })).toBeVisible()
    await expect(page.getByRole('button', { name: 'Save' })).toBeDisabled()
    await page.getByLabel('Name', { exact: true }).focus()
    keyboardOnly(page)
    await page.keyboard.press('ControlOrMeta+A')
    await page.keyboard.type('Mona Lisa')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await expect(page.getByRole('option').first()).toContainText('Europe/Zurich')
    await page.keyboard.type('new york')
    await page.keyboard.press('Enter')
    await expect(page.getByRole('button', { name: 'Time zone America/New York' })).toBeFocused()
    // "Use Europe/Zurich", then Save.
    await page.keyboard.press('Tab')
    await expect(page.getByRole('button', { name: 'Use Europe/Zurich' })).toBeFocused()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await expect(page.getByText('Profile saved')).toBeVisible()
    await expect(other.getByText('Mona Lisa')).toBeVisible()
    await expect(page.getByRole('link', { name: 'Mona Lisa' })).toBeVisible()
    expect(await company.member.api.getAccount()).toMatchObject({
      display_name: 'Mona Lisa',
      time_zone: 'America/New_York',
    })
  },
)

test.describe('on a phone', () => {
  test.use({ viewport: narrow })
  test('a name that looks like the built-in agent is refused beside its field', async ({ page, company, faults }) => {
    faults.expect(/status of 422/)
    await signedIn(page, company.member)
    await page.goto('/settings/account')
    await page.getByRole('button', { name: 'Use Europe/Zurich' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Ｂaton')
    await page.getByRole('button', { name: 'Save' }).click()
    await expect(page.getByRole('alert')).toHaveText('Is the name of the built-in agent.')
    await expect(page.getByLabel('Name', { exact: true })).toHaveAttribute('aria-invalid', 'true')
    expect(await company.member.api.getAccount()).toMatchObject({ display_name: 'Mona Member', time_zone: 'UTC' })
  })
})

test.describe('without mail', () => {
  test.use({ viewport: narrow })
  test(
    'the account and the sign-in page say so, and a new address takes effect at once',
    verifies('account.screens-usable', 'account.change-email-without-mail'),
    async ({ page, company }) => {
      await page.goto('/sign-in')
      await page.getByRole('link', { name: 'Forgot password?' }).click()
      await expect(page.getByText('This instance sends no mail.')).toBeVisible()
      await expect(page.getByText('Contact the operator of the instance')).toBeVisible()
      await expect(page.getByRole('textbox')).toHaveCount(0)
      await checkAxe(page)
      await signedIn(page, company.member)
      await page.goto('/account')
      await expect(page).toHaveURL('/settings/account')
      await expect(page.getByText('This instance sends no mail, so addresses are not verified')).toBeVisible()
      await checkAxe(page)
      const address = `moved-${company.id}@example.com`
      await page.getByLabel('New e-mail address').fill(address)
      await page.getByRole('button', { name: 'Change e-mail' }).click()
      await expect(page.getByText('E-mail address changed')).toBeVisible()
      await expect(page.getByRole('main').getByText(address).first()).toBeVisible()
      expect(await company.member.api.getAccount()).toMatchObject({ email: address, email_verified: false })
    },
  )
})
