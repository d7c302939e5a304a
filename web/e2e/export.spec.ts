import { readFile } from 'node:fs/promises'
import { BatonClient } from '@baton/sdk'
import type { Page } from '@playwright/test'
import { checkAxe, expect, keyboardOnly, narrow, scrolledSideways, signedIn, signUp, test, verifies } from './baton.ts'

const settings = '/settings/export'

/** A person without a workspace. */
async function outsider(url: string, name: string) {
  const account = await signUp(url, name)
  return { ...account, api: new BatonClient({ baseUrl: url, token: account.token }) }
}

/** Exports the workspace on its screen, and returns the downloaded file. */
async function exported(page: Page): Promise<string> {
  await page.goto(settings)
  await page.getByRole('button', { name: 'Export workspace' }).click()
  const download = page.getByRole('button', { name: 'Download' })
  await expect(download).toBeVisible({ timeout: 20_000 })
  const [file] = await Promise.all([page.waitForEvent('download'), download.click()])
  expect(file.suggestedFilename()).toMatch(/^[a-z0-9-]+-\d{4}-\d\d-\d\d\.tar\.gz$/)
  return file.path()
}

test(
  'an owner exports the workspace, and another person restores it',
  verifies('export.owner-only', 'export.restore-round-trip'),
  async ({ page, company, service, secondBrowser }) => {
    await signedIn(page, company.owner)
    const archive = await exported(page)
    expect((await readFile(archive)).subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]))

    const other = await secondBrowser()
    await signedIn(other, await outsider(service.url, 'Grace Hopper'))
    await other.goto('/workspaces/new')
    await other.getByRole('button', { name: 'Restore from an archive' }).click()
    await checkAxe(other)
    await other.getByLabel('Archive').setInputFiles({
      name: 'workspace.tar.gz',
      mimeType: 'application/gzip',
      buffer: await readFile(archive),
    })
    await other.getByRole('button', { name: 'Restore workspace' }).click()
    const [issue] = company.issues
    await expect(other.getByText(issue.title).first()).toBeVisible({ timeout: 20_000 })
    await other.goto(`/issue/${issue.code}`)
    await expect(other.getByText(issue.title).first()).toBeVisible()

    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await expect(page.getByText('No exports.')).toBeVisible()
  },
)

test(
  'a file that is no archive is refused with its problem',
  verifies('export.restore-hostile'),
  async ({ page, service }) => {
    const person = await outsider(service.url, 'Mallory')
    await signedIn(page, person)
    await page.goto('/workspaces/new')
    await page.getByRole('button', { name: 'Restore from an archive' }).click()
    await page
      .getByLabel('Archive')
      .setInputFiles({ name: 'a.gz', mimeType: 'application/gzip', buffer: Buffer.from('no') })
    await page.getByRole('button', { name: 'Restore workspace' }).click()
    await expect(page.getByRole('alert')).toContainText('Nothing was created', { timeout: 20_000 })
    await expect(page.getByRole('alert')).toContainText('not a complete gzip file')
    await page.getByRole('button', { name: 'Choose another archive' }).click()
    await expect(page.getByLabel('Archive')).toBeVisible()
    expect(await person.api.getMe()).toMatchObject({ workspaces: [] })
  },
)

test('an admin sees that only owners export', verifies('export.owner-only'), async ({ page, company }) => {
  await signedIn(page, company.admin)
  await page.goto(settings)
  await expect(page.getByText('Only owners can export or delete the workspace.')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Export workspace' })).toHaveCount(0)
})

test.describe('on a narrow screen', () => {
  test.use({ viewport: narrow })

  test('an owner exports by keyboard', verifies('export.owner-only'), async ({ page, company }) => {
    await signedIn(page, company.owner)
    await page.goto(settings)
    const button = page.getByRole('button', { name: 'Export workspace' })
    await expect(button).toBeVisible()
    expect(await scrolledSideways(page)).toEqual([])
    keyboardOnly(page)
    for (let presses = 0; presses < 60; presses++) {
      if (await button.evaluate((element) => element === document.activeElement)) break
      await page.keyboard.press('Tab')
    }
    await page.keyboard.press('Enter')
    await expect(page.getByRole('button', { name: 'Download' })).toBeVisible({ timeout: 20_000 })
    expect(await scrolledSideways(page)).toEqual([])
  })
})
