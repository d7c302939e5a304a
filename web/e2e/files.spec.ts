import type { Locator, Page } from '@playwright/test'
import { redPixel } from '../../server/test/pictures.ts'
import { checkAxe, expect, narrow, scrolledSideways, signedIn, tabTo, test, verifies } from './baton.ts'
import { recordSideEffects } from './harmless.ts'

/** Pastes or drops a file as the browser does. */
const give = (target: Locator, how: 'paste' | 'drop', name: string, bytes: Buffer) =>
  target.evaluate(
    (element, { how, name, base64 }) => {
      const content = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
      const data = new DataTransfer()
      data.items.add(new File([content], name, { type: 'image/png' }))
      const event =
        how === 'paste'
          ? new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })
          : new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true })
      element.dispatchEvent(event)
    },
    { how, name, base64: bytes.toString('base64') },
  )

const description = (page: Page) => page.getByRole('textbox', { name: 'Description' })
const comment = (page: Page) => page.getByRole('textbox', { name: 'Comment', exact: true })
const isShown = (image: Locator) =>
  expect.poll(() => image.evaluate((one: HTMLImageElement) => one.naturalWidth)).toBe(1)

test(
  'pasted, dropped and picked files are uploaded and shown',
  verifies('file.paste-and-drop', 'file.reference-links'),
  async ({ page, company }) => {
    const [door] = company.issues
    await signedIn(page, company.owner)
    await page.goto(`/issue/${door.code}`)
    await page.getByRole('button', { name: 'Edit description' }).focus()
    await page.keyboard.press('Enter')
    await description(page).fill('See: ')
    await give(description(page), 'paste', 'pasted [1].png', redPixel)
    await expect(description(page)).toHaveValue(/^See: !\[pasted 1\.png\]\(fil_\w{26}\)$/)
    await give(description(page), 'drop', 'dropped.png', redPixel)
    await expect(description(page)).toHaveValue(/pasted 1\.png\]\(fil_\w{26}\) !\[dropped\.png\]\(fil_\w{26}\)$/)
    await page.getByRole('button', { name: 'Save' }).click()
    const shown = page.getByRole('region', { name: 'Description' }).getByRole('img')
    await expect(shown).toHaveCount(2)
    await isShown(shown.first())

    const files = page.getByRole('region', { name: 'Files' })
    await expect(files.getByRole('listitem')).toHaveCount(2)
    await comment(page).focus()
    await give(comment(page), 'paste', 'a.png', redPixel)
    await expect(comment(page)).toHaveValue(/^!\[a\.png\]\(fil_\w{26}\)$/)
    await give(comment(page), 'drop', 'b.png', redPixel)
    await expect(comment(page)).toHaveValue(/!\[b\.png\]\(fil_\w{26}\)$/)
    const chooser = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Attach files' }).click()
    await (await chooser).setFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('Hello') })
    await expect(comment(page)).toHaveValue(/ \[notes\.txt\]\(fil_\w{26}\)$/)
    await page.getByRole('button', { name: /^Comment/ }).click()
    const article = page.getByRole('article', { name: 'Comment by Olive Owner' })
    await isShown(article.getByRole('img', { name: 'a.png' }))
    await expect(article.getByRole('link', { name: 'notes.txt' })).toHaveAttribute('href', /\/files\/fil_\w+\/content/)
    await checkAxe(page)

    await page.setViewportSize(narrow)
    expect(await scrolledSideways(page)).toEqual([])
    await files.getByRole('button', { name: 'Delete dropped.png' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete file' }).click()
    await expect(files.getByRole('listitem')).toHaveCount(1)
  },
)

test(
  'a failed upload keeps the text and can be repeated',
  verifies('file.paste-and-drop'),
  async ({ page, company, faults }) => {
    const [door] = company.issues
    faults.expect(/status of 503/)
    await signedIn(page, company.owner)
    await page.goto(`/issue/${door.code}`)
    let fails: 'refuse' | 'hold' | null = 'refuse'
    let release = () => {}
    await page.route('**/api/v1/files?*', async (route) => {
      if (fails === 'refuse') {
        const body = JSON.stringify({
          code: 'NOT_READY',
          message: 'Files cannot be stored at the moment.',
          details: {},
        })
        return route.fulfill({ status: 503, contentType: 'application/json', body })
      }
      if (fails === 'hold') await new Promise<void>((resolve) => (release = resolve))
      return route.continue()
    })
    await comment(page).fill('My words ')
    await give(comment(page), 'paste', 'a.png', redPixel)
    const uploads = page.getByRole('list', { name: 'Uploads' })
    await expect(uploads.getByRole('alert')).toHaveText('Not uploaded. Files cannot be stored at the moment.')
    await expect(comment(page)).toHaveValue('My words ')
    fails = 'hold'
    await tabTo(uploads.getByRole('button', { name: 'Retry a.png' }))
    await page.keyboard.press('Enter')
    await expect(uploads.getByRole('progressbar', { name: 'Uploading a.png' })).toBeVisible()
    await expect(page.getByRole('button', { name: /^Comment/ })).toBeDisabled()
    fails = null
    release()
    await expect(comment(page)).toHaveValue(/^My words !\[a\.png\]\(fil_\w{26}\)$/)
    await expect(uploads).toHaveCount(0)
  },
)

test(
  'pictures of other hosts stay links',
  verifies('file.remote-images-still-links'),
  async ({ page, company, service, faults }) => {
    faults.expect(/status of 404/)
    const [door] = company.issues
    const seen = recordSideEffects(page, service.url)
    const text = '![remote](https://foreign.example.net/a.png) ![none](fil_00000000000000000000000000) ![odd](fil_../x)'
    await company.owner.api.updateIssue({ issue_id: door.id, description: text })
    await signedIn(page, company.owner)
    await page.goto(`/issue/${door.code}`)
    const shown = page.getByRole('region', { name: 'Description' })
    await expect(shown.getByRole('link', { name: 'remote (foreign.example.net)' })).toBeVisible()
    await expect(shown.getByRole('link', { name: 'none' })).toBeVisible()
    await expect(shown.getByText('odd')).toBeVisible()
    await expect(shown.locator('img')).toHaveCount(0)
    expect(seen).toEqual([])
  },
)

test(
  'scripts in a file do not run',
  verifies('file.script-does-not-run'),
  async ({ page, company, service, faults }) => {
    faults.expect(/Refused to execute script|Content Security Policy|Failed to load resource|sandboxed/)
    // A frame is refused by X-Frame-Options or by its content security policy: the browser reports one of them.
    faults.allow(/Refused to display .* in a frame/)
    await signedIn(page, company.owner)
    await page.goto('/issues')
    const hostile: [string, string][] = [
      ['a.html', '<!doctype html><script>document.title = "ran " + document.cookie; parent.ran = 1</script>'],
      [
        'a.svg',
        '<svg xmlns="http://www.w3.org/2000/svg" onload="document.title=\'ran\'"><script>document.title="ran"</script></svg>',
      ],
      [
        'a.xml',
        '<?xml version="1.0"?><x:script xmlns:x="http://www.w3.org/1999/xhtml">document.title="ran"</x:script>',
      ],
      ['a.js', 'document.title = "ran"'],
      ['a.png', `${redPixel.toString('latin1')}<script>document.title = "ran"</script>`],
    ]
    const { id: workspaceId } = company
    for (const [name, content] of hostile) {
      const { id, inline } = await page.evaluate(
        async ({ name, content, workspaceId }) => {
          const bytes = Uint8Array.from(content, (character) => character.charCodeAt(0) & 255)
          const headers = { 'x-workspace-id': workspaceId }
          return (await fetch(`/api/v1/files?name=${name}`, { method: 'POST', headers, body: bytes })).json()
        },
        { name, content, workspaceId },
      )
      expect([name, inline]).toEqual([name, name === 'a.png'])
      const url = `${service.url}/api/v1/files/${id}/content?workspace_id=${workspaceId}`
      const tab = await page.context().newPage()
      // A download has no page.
      await tab.goto(url).catch(() => {})
      await expect.poll(() => tab.title()).not.toContain('ran')
      if (inline) expect(await tab.evaluate(() => document.scripts.length)).toBe(0)
      await tab.close()
      // Nor as a frame, a script or a worker of the app's own origin.
      const effects = await page.evaluate(async (address) => {
        const before = document.title
        const frame = document.createElement('iframe')
        frame.src = address
        const script = document.createElement('script')
        script.src = address
        document.body.append(frame, script)
        await new Promise((resolve) => script.addEventListener('error', resolve, { once: true }))
        const titles = { before, after: document.title, ran: (window as { ran?: unknown }).ran ?? null }
        frame.remove()
        script.remove()
        return titles
      }, url)
      expect(effects.after).toBe(effects.before)
      expect(effects.ran).toBeNull()
    }
  },
)

test('managers see what the workspace stores', async ({ page, company }) => {
  const { owner } = company
  const headers = { authorization: `Bearer ${owner.token}`, 'x-workspace-id': company.id }
  await signedIn(page, owner)
  await page.goto('/settings/storage')
  await expect(page.getByText(/of 10 GB used, 0 files/)).toBeVisible()
  await fetch(`${new URL(page.url()).origin}/api/v1/files?name=large.png`, { method: 'POST', headers, body: redPixel })
  await page.reload()
  await expect(page.getByText(/used, 1 file$/)).toBeVisible()
  await expect(page.getByRole('link', { name: 'large.png' })).toBeVisible()
  await page.setViewportSize(narrow)
  expect(await scrolledSideways(page)).toEqual([])
})
