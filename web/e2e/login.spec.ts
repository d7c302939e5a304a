import { checkAxe, expect, keyboardOnly, narrow, signedIn, signUp, test } from './baton.ts'

test('returns to the requested page after signing in', async ({ page, company, faults }) => {
  faults.expect(/status of 401/)
  await page.goto('/inbox')
  await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible()
  await page.getByLabel('E-mail').fill(company.member.email)
  await page.getByLabel('Password').fill('something else')
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await expect(page.getByText('The e-mail address or the password is wrong.')).toBeVisible()
  await page.getByLabel('Password').fill(company.member.password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await expect(page).toHaveURL('/inbox')

  const signOut = async () => {
    await page.getByRole('button', { name: company.name }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
  }
  faults.expect(/ERR_FAILED/)
  await page.route('**/auth/sign-out', (route) => route.abort())
  await signOut()
  await expect(page.getByRole('alert')).toContainText('You are still signed in.')
  await page.unroute('**/auth/sign-out')
  await signOut()
  await expect(page).toHaveURL('/sign-in')
})

test('does not redirect to another site after signing in', async ({ page, company }) => {
  await page.goto(`/sign-in?next=${encodeURIComponent('https://robots.example.com/')}`)
  await page.getByLabel('E-mail').fill(company.member.email)
  await page.getByLabel('Password').fill(company.member.password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await expect(page).toHaveURL(/\/issues$/)
})

// With accounts: the first person sees another page.
test('signs up and creates a workspace with the keyboard', async ({ page, company: _ }) => {
  await page.goto('/sign-in')
  await page.getByRole('link', { name: 'Create an account' }).click()
  await expect(page.getByRole('heading', { name: 'Create an account' })).toBeVisible()
  await page.reload()
  await expect(page.getByRole('heading', { name: 'Create an account' })).toBeVisible()
  const email = `nora-${Date.now()}@example.com`
  keyboardOnly(page)
  for (const text of ['Nora New', email, 'long enough']) {
    await page.keyboard.press('Tab')
    await page.keyboard.type(text)
  }
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'Create a workspace' })).toBeVisible()
  await expect(page.getByLabel('Workspace name')).toBeFocused()
  await page.keyboard.type('Northern Tea')
  await page.keyboard.press('Tab')
  await page.keyboard.type('Engineering')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/issues$/)
  await expect(page.getByRole('button', { name: 'Northern Tea' })).toBeVisible()
  await expect(page.getByRole('link', { name: 'Engineering' })).toBeVisible()
})

test('shows sign-up errors at their fields', async ({ page, company, faults }) => {
  faults.expect(/status of 422/)
  await page.goto('/sign-up')
  await page.getByLabel('Your name').fill('Nora New')
  await page.getByLabel('E-mail').fill(company.member.email)
  await page.getByLabel('Password').fill('short')
  await page.getByRole('button', { name: 'Create account' }).click()
  await expect(page.getByLabel('Password')).toHaveAttribute('aria-invalid', 'true')
  await expect(page.getByLabel('Your name')).toHaveValue('Nora New')
})

test.describe('on a phone', () => {
  test.use({ viewport: narrow })
  test('accepts an invitation only once', async ({ page, company, service, faults }) => {
    const nora = await signUp(service.url, 'Nora New')
    const { token } = await company.owner.api.createInvitation({ email: nora.email, role: 'member' })
    // Without a login, the link opens sign-up for its e-mail address, and returns here afterwards.
    await page.goto(`/invitations/accept#token=${token}&email=${nora.email}`)
    await expect(page.getByRole('heading', { name: 'You have been invited to Acme' })).toBeVisible()
    await expect(page.getByText('Olive Owner invited you.')).toBeVisible()
    expect(new URL(page.url()).search).not.toContain(token)
    await expect(page.getByLabel('E-mail')).toHaveValue(nora.email)
    await checkAxe(page)
    await page.getByRole('link', { name: 'Sign in' }).click()
    await expect(page.getByText('You have been invited to Acme.')).toBeVisible()
    expect(new URL(page.url()).search).not.toContain(token)
    await page.getByLabel('Password').fill(company.owner.password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await expect(page.getByRole('heading', { name: 'Join Acme' })).toBeVisible()
    await expect(page.getByText('Olive Owner invited you as a member.')).toBeVisible()
    // Links of earlier versions have the token in the query.
    await page.goto(`/invitations/accept?token=${token}&email=somebody.else@example.com`)
    await expect(page.getByText('This invitation is for somebody.else@example.com')).toBeVisible()
    await signedIn(page, { ...nora, password: company.owner.password, api: company.owner.api })
    await page.goto(`/invitations/accept?token=${token}`)
    await page.getByRole('button', { name: 'Join the workspace' }).click()
    await expect(page).toHaveURL(/\/issues$/)
    const { data } = await company.owner.api.listMembers()
    expect(data.map(({ id }) => id)).toContain(nora.id)
    faults.expect(/status of 404/)
    await page.goto(`/invitations/accept?token=${token}`)
    await expect(page.getByRole('heading', { name: 'This invitation no longer works' })).toBeVisible()

    // Without a login, there is no form to fill in vain.
    await page.context().clearCookies()
    await page.goto(`/invitations/accept#token=${token}`)
    await expect(page.getByRole('heading', { name: 'This invitation no longer works' })).toBeVisible()
    await expect(page.getByText('It was used, revoked or is older than 7 days. Ask for a new one.')).toBeVisible()
    await expect(page.getByRole('textbox')).toHaveCount(0)
    await page.getByRole('link', { name: 'Create an account without an invitation' }).click()
    await expect(page.getByRole('heading', { name: 'Create an account' })).toBeVisible()
  })
})
