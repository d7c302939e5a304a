import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { BatonClient } from '@baton/sdk'
import type { Page } from '@playwright/test'
import { linkIn } from '../../server/test/smtp.ts'
import {
  checkAxe,
  expect,
  keyboardOnly,
  narrow,
  type Person,
  scrolledSideways,
  signedIn,
  test,
  verifies,
} from './baton.ts'

test.use({ mail: true })

const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url')

/** A login in which no sign-in method was used: that of a program. */
async function signedInLongAgo(page: Page, url: string, { api }: Person) {
  const verifier = randomBytes(32).toString('base64url')
  const { code } = await api.createCliLogin({ challenge: challengeOf(verifier), name: 'Old laptop' })
  const { token } = await new BatonClient({ baseUrl: url }).exchangeCliLogin({ code, verifier })
  await page.context().addCookies([{ name: 'baton_session', value: token, url }])
}

/** Moves the focus with Tab until the element has it. */
async function tabTo(page: Page, name: string) {
  for (let tries = 0; tries < 60; tries++) {
    await page.keyboard.press('Tab')
    const focused = await page.evaluate(() => {
      const element = document.activeElement
      return (
        element?.getAttribute('aria-label') ??
        (element as HTMLInputElement | null)?.labels?.[0]?.textContent ??
        element?.textContent
      )
    })
    if (focused?.startsWith(name)) return
  }
  throw new Error(`Tab does not reach ${name}`)
}

test.describe('on a phone', () => {
  test.use({ viewport: narrow })

  test(
    'a forgotten password is reset with the keyboard',
    verifies('account.screens-usable', 'reset.link-from-root-url'),
    async ({ page, company, smtp, service }) => {
      const { email } = company.member
      await page.goto('/sign-in')
      await expect(page.getByRole('link', { name: 'Forgot password?' })).toBeVisible()
      expect(await scrolledSideways(page)).toEqual([])
      keyboardOnly(page)
      await tabTo(page, 'Forgot password?')
      await page.keyboard.press('Enter')
      await expect(page.getByRole('heading', { name: 'Forgot password?' })).toBeVisible()
      await expect(page.getByLabel('E-mail')).toBeFocused()
      await page.keyboard.type(email.toUpperCase())
      await page.keyboard.press('Enter')
      await expect(page.getByRole('heading', { name: 'Check your mail' })).toBeVisible()
      await checkAxe(page)

      const link = linkIn(await smtp.arrived(email, /Set a new password/), '/reset-password')
      expect(new URL(link).origin).toBe(service.url)
      await page.goto(link)
      await expect(page.getByLabel('New password')).toBeFocused()
      await page.keyboard.type('a longer horse battery')
      await page.keyboard.press('Enter')
      await expect(page.getByRole('heading', { name: 'Password changed' })).toBeVisible()
      await checkAxe(page)
      await tabTo(page, 'Sign in')
      await page.keyboard.press('Enter')
      await expect(page).toHaveURL('/sign-in')
      await new BatonClient({ baseUrl: service.url }).signIn({ email, password: 'a longer horse battery' })
    },
  )

  test('a link that was used says so', async ({ page, company, smtp, service, faults }) => {
    const { email } = company.member
    const anonymous = new BatonClient({ baseUrl: service.url })
    await anonymous.requestPasswordReset({ email })
    const link = linkIn(await smtp.arrived(email, /Set a new password/), '/reset-password')
    const token = new URLSearchParams(new URL(link).hash.slice(1)).get('token') ?? ''
    await anonymous.confirmPasswordReset({ token, new_password: 'a longer horse battery' })
    faults.expect(/status of 404/)
    await page.goto(link)
    await page.getByLabel('New password').fill('another horse battery')
    await page.getByRole('button', { name: 'Set password' }).click()
    await expect(page.getByRole('heading', { name: 'This link no longer works' })).toBeVisible()
    await page.getByRole('link', { name: 'Request a new link' }).click()
    await expect(page).toHaveURL('/forgot-password')
    await anonymous.signIn({ email, password: 'a longer horse battery' })
  })

  test(
    'the account works with the keyboard',
    verifies('account.screens-usable', 'account.logins-listed', 'account.login-ended'),
    async ({ page, company, secondBrowser, service }) => {
      const other = await secondBrowser(company.member)
      await signedIn(page, company.member)
      await page.goto('/settings/account')
      await expect(page.getByText(`Verify ${company.member.email}`)).toBeVisible()
      await expect(page.getByText('This device')).toBeVisible()
      await checkAxe(page)
      expect(await scrolledSideways(page)).toEqual([])
      keyboardOnly(page)
      await tabTo(page, 'Sign out everywhere else')
      await page.keyboard.press('Enter')
      await expect(page.getByRole('dialog', { name: 'Sign out everywhere else?' })).toBeVisible()
      await page.keyboard.press('Enter')
      await expect(page.getByRole('button', { name: 'Sign out everywhere else' })).toHaveCount(0)
      await expect(page.getByRole('list', { name: 'Devices' }).getByRole('listitem')).toHaveCount(1)
      const me = await other.context().request.get(`${service.url}/api/v1/auth/me`)
      expect(me.status()).toBe(401)
    },
  )
})

test(
  'an address is verified by a click of its signed-in owner, also after signing in',
  verifies('account.verify-needs-own-login'),
  async ({ page, company, smtp }) => {
    const { email, password } = company.member
    const link = linkIn(await smtp.arrived(email, /Verify/), '/verify-email')
    const token = new URL(link).hash
    await page.goto(link)
    await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible()
    // The token stays in the fragment, which is sent to no server.
    expect(new URL(page.url()).search).not.toContain(token.slice('#token='.length))
    await page.getByLabel('E-mail').fill(email)
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await expect(page.getByRole('heading', { name: 'Confirm this e-mail address?' })).toBeVisible()
    expect(await company.member.api.getAccount()).toMatchObject({ email_verified: false })
    await page.getByRole('button', { name: 'Confirm' }).click()
    await expect(page.getByRole('heading', { name: 'E-mail address confirmed' })).toBeVisible()
    await page.getByRole('link', { name: 'Open your account' }).click()
    await expect(page.getByText(`${email} is verified.`)).toBeVisible()
  },
)

test(
  'a change of e-mail asks an old login to confirm, and can be undone from the old address',
  verifies('reauth.by-password', 'account.change-email', 'account.change-email-undo'),
  async ({ page, company, smtp, service, faults }) => {
    const { email, password } = company.member
    const address = `moved-${company.id}@example.com`
    await signedInLongAgo(page, service.url, company.member)
    await page.goto('/settings/account')
    faults.expect(/status of 403/)
    await page.getByLabel('New e-mail address').fill(address)
    await page.getByRole('button', { name: 'Change e-mail' }).click()
    const dialog = page.getByRole('dialog', { name: 'Confirm your identity' })
    await expect(dialog.getByLabel('Your password')).toBeFocused()
    await checkAxe(page)
    // Closing it changes nothing.
    await page.keyboard.press('Escape')
    await expect(page.getByText('Canceled. Nothing was changed.')).toBeVisible()
    expect(await company.member.api.getAccount()).toMatchObject({ pending_email: null })

    await page.getByRole('button', { name: 'Change e-mail' }).click()
    // It opens when the service has refused the change.
    await expect(dialog.getByLabel('Your password')).toBeFocused()
    faults.expect(/status of 422/)
    await page.keyboard.type('a guess')
    await page.keyboard.press('Enter')
    await expect(dialog.getByText('Is not your password.')).toBeVisible()
    await page.keyboard.press('ControlOrMeta+A')
    await page.keyboard.type(password)
    await page.keyboard.press('Enter')
    await expect(dialog).toHaveCount(0)
    await expect(page.getByText(`Confirm ${address}`)).toBeVisible()

    await page.goto(linkIn(await smtp.arrived(address, /Confirm/), '/verify-email'))
    await page.getByRole('button', { name: 'Confirm' }).click()
    await expect(page.getByRole('heading', { name: 'E-mail address confirmed' })).toBeVisible()
    expect(await company.member.api.getAccount()).toMatchObject({ email: address, email_verified: true })

    await page.goto(linkIn(await smtp.arrived(email, /is being changed/), '/undo-email'))
    await expect(page.getByRole('heading', { name: 'Undo the change of e-mail address?' })).toBeVisible()
    await page.getByRole('button', { name: 'Undo the change' }).click()
    await expect(page.getByRole('heading', { name: 'E-mail address restored' })).toBeVisible()
    await new BatonClient({ baseUrl: service.url }).signIn({ email, password })
  },
)

test(
  'a program is allowed in the browser, and its code goes to 127.0.0.1',
  verifies('account.cli-login'),
  async ({ page, company, service }) => {
    const verifier = randomBytes(32).toString('base64url')
    const received: string[] = []
    const server = createServer((request, response) => {
      received.push(request.url ?? '')
      response.end('You are logged in.')
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const search = new URLSearchParams({
      challenge: challengeOf(verifier),
      name: 'baton on laptop',
      port: String(port),
    })
    await signedIn(page, company.member)
    await page.goto(`/cli-login?${search}`)
    await expect(page.getByRole('heading', { name: 'Allow baton on laptop to act as you?' })).toBeVisible()
    await expect(page.getByText('which is not verified')).toBeVisible()
    await expect(page.getByText('It gets full access to your account')).toBeVisible()
    expect(received).toEqual([])
    await page.getByRole('button', { name: 'Allow' }).click()
    await expect(page).toHaveURL(new RegExp(`^http://127\\.0\\.0\\.1:${port}/\\?code=`))
    server.close()
    const code = new URL(page.url()).searchParams.get('code') ?? ''
    expect(received[0]).toBe(`/?code=${code}`)
    const { token } = await new BatonClient({ baseUrl: service.url }).exchangeCliLogin({ code, verifier })
    const [login] = (await new BatonClient({ baseUrl: service.url, token }).listLogins()).data
    expect(login).toMatchObject({ method: 'cli', client: 'baton on laptop', current: true })
  },
)

test('without a port the code is shown to paste', async ({ page, company, service }) => {
  const verifier = randomBytes(32).toString('base64url')
  await signedIn(page, company.member)
  await page.goto(`/cli-login?${new URLSearchParams({ challenge: challengeOf(verifier), name: 'baton' })}`)
  await page.getByRole('button', { name: 'Allow' }).click()
  await expect(page.getByRole('heading', { name: 'Paste this code in your terminal' })).toBeVisible()
  const code = (await page.getByRole('code').textContent()) ?? ''
  const { user } = await new BatonClient({ baseUrl: service.url }).exchangeCliLogin({ code, verifier })
  expect(user.email).toBe(company.member.email)
  await page.goto('/cli-login?challenge=short&name=x')
  await expect(page.getByRole('heading', { name: 'This address is not complete' })).toBeVisible()
})
