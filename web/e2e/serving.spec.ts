import { existsSync } from 'node:fs'
import { expect, signedIn, test } from './baton.ts'

const app = new URL('../package.json', import.meta.url)
test.skip(!existsSync(app), 'this clone has no web app')

test('serves the app with a strict content security policy', async ({ page }) => {
  const response = await page.goto('/')
  expect(response?.status()).toBe(200)
  const policy = response?.headers()['content-security-policy'] ?? ''
  expect(policy).toContain("default-src 'self'")
  expect(policy).not.toContain('unsafe')
  await expect(page).toHaveTitle(/Baton/)
  await expect(page.getByRole('heading').first()).toBeVisible()
})

test('opens a path of the app directly and after a reload', async ({ page, company }) => {
  await signedIn(page, company.owner)
  const [issue] = company.issues
  const response = await page.goto(`/issue/${issue.code}`)
  expect(response?.status()).toBe(200)
  await expect(page.getByText(issue.title).first()).toBeVisible()
  await page.reload()
  await expect(page.getByText(issue.title).first()).toBeVisible()
})

test('redirects to the sign-in page without a session', async ({ page }) => {
  await page.goto('/issues')
  await expect(page).toHaveURL(/\/sign-in/)
})

test('answers an unknown API route with JSON, not a page', async ({ page, baseURL }) => {
  const response = await page.request.get(`${baseURL}/api/v1/nowhere`)
  expect(response.status()).toBe(404)
  expect(await response.json()).toMatchObject({ code: 'ROUTE_NOT_FOUND' })
})
