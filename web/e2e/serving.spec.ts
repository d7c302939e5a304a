import { existsSync } from 'node:fs'
import { expect, signedIn, test } from './baton.ts'

const app = new URL('../package.json', import.meta.url)
test.skip(!existsSync(app), 'there is no web app in this clone')

test('the app is served under a strict policy, which it keeps', async ({ page }) => {
  const response = await page.goto('/')
  expect(response?.status()).toBe(200)
  const policy = response?.headers()['content-security-policy'] ?? ''
  expect(policy).toContain("default-src 'self'")
  expect(policy).not.toContain('unsafe')
  await expect(page).toHaveTitle(/Baton/)
  await expect(page.getByRole('heading').first()).toBeVisible()
})

test('an address inside the app leads there', async ({ page, company }) => {
  await signedIn(page, company.owner)
  const [issue] = company.issues
  const response = await page.goto(`/issue/${issue.code}`)
  expect(response?.status()).toBe(200)
  await expect(page.getByText(issue.title).first()).toBeVisible()
  await page.reload()
  await expect(page.getByText(issue.title).first()).toBeVisible()
})

test('who is not signed in is led to the sign-in page', async ({ page }) => {
  await page.goto('/issues')
  await expect(page).toHaveURL(/\/sign-in/)
})

test('what the API does not have is said in JSON, not with a page', async ({ page, baseURL }) => {
  const response = await page.request.get(`${baseURL}/api/v1/nowhere`)
  expect(response.status()).toBe(404)
  expect(await response.json()).toMatchObject({ code: 'ROUTE_NOT_FOUND' })
})
