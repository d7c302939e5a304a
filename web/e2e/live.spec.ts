import type { BrowserContext } from '@playwright/test'
import { expect, signedIn, test } from './baton.ts'

/** Counts the open live streams of a browser over all its tabs. */
function countStreams(context: BrowserContext) {
  const open = new Set<object>()
  let most = 0
  const isStream = (url: string) => new URL(url).pathname === '/api/v1/live'
  context.on('request', (request) => {
    if (!isStream(request.url())) return
    open.add(request)
    most = Math.max(most, open.size)
  })
  const over = (request: object) => void open.delete(request)
  context.on('requestfinished', over)
  context.on('requestfailed', over)
  return { open: () => open.size, most: () => most }
}

test('the tabs of a browser share one stream, and another tab takes over when one closes', async ({
  page,
  context,
  company,
}) => {
  const streams = countStreams(context)
  const { api } = company.owner
  const [door, hinges] = company.issues
  await signedIn(page, company.member)
  await page.goto('/issues')
  await expect(page.getByText(door.title)).toBeVisible()
  await expect.poll(streams.open).toBe(1)
  const second = await context.newPage()
  await second.goto('/issues')
  await expect(second.getByText(door.title)).toBeVisible()

  await api.updateIssue({ issue_id: door.id, title: 'The door is stuck' })
  await expect(page.getByText('The door is stuck')).toBeVisible()
  await expect(second.getByText('The door is stuck')).toBeVisible()
  expect(streams.most()).toBe(1)

  const handedOver = second.waitForRequest(/\/api\/v1\/live/)
  await page.close()
  await handedOver
  await api.updateIssue({ issue_id: hinges.id, title: 'Oil all hinges' })
  await expect(second.getByText('Oil all hinges')).toBeVisible()
})

test('shows that the browser is offline, and missed changes once it is back', async ({
  page,
  context,
  company,
  faults,
}) => {
  faults.allow(/ERR_INTERNET_DISCONNECTED/)
  const [door] = company.issues
  await signedIn(page, company.member)
  await page.goto('/issues')
  await expect(page.getByText(door.title)).toBeVisible()
  await context.setOffline(true)
  await expect(page.getByRole('status').filter({ hasText: 'You are offline' })).toBeVisible()
  await company.owner.api.updateIssue({ issue_id: door.id, title: 'The door is stuck' })
  await expect(page.getByText(door.title)).toBeVisible()
  await context.setOffline(false)
  await expect(page.getByText('You are offline')).toHaveCount(0)
  await expect(page.getByText('The door is stuck')).toBeVisible()
})

test('a removed member leaves the workspace at once', async ({ page, company, faults }) => {
  // The live stream ends, and cannot be opened again.
  faults.expect(/status of 403/)
  await signedIn(page, company.member)
  await page.goto('/projects')
  await expect(page.getByText(company.project.title)).toBeVisible()
  await company.owner.api.removeMember({ user_id: company.member.id })
  await expect(page.getByRole('heading', { name: 'Create a workspace' })).toBeVisible()
})
