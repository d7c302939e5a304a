import { createHash, randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { BatonClient } from '@baton/sdk'
import type { Page } from '@playwright/test'
import { Db } from '../../server/src/db/database.ts'
import { openEmbedded } from '../../server/src/db/embedded.ts'
import { sql } from '../../server/src/db/sql.ts'
import { ServiceProcess } from '../../server/test/service-process.ts'
import { expect, signedIn, test } from './baton.ts'
import { createCompany } from './company.ts'
import { copyOfTemplate } from './template.ts'

const override = '\u202E'
const redirect_uri = 'https://robots.example.com/callback'
const manifest = {
  schemaVersion: '1.0.0' as const,
  name: 'Robot',
  developer: { name: 'Robots Inc' },
  oauth: { redirect_uris: [redirect_uri], scopes: ['read' as const] },
}

/** Whether the words after the name are drawn to the right of it, in the element that contains the text. */
const readsLeftToRight = (page: Page, text: string) =>
  page.getByText(text).evaluate((element) => {
    const name = element.querySelector('bdi')
    const after = name?.parentElement === element ? name.nextSibling : name?.parentElement?.nextSibling
    if (!name || !after) return false
    const words = document.createRange()
    words.setStart(after, 0)
    words.setEnd(after, 2)
    return words.getBoundingClientRect().left >= name.getBoundingClientRect().right - 1
  })

test('a name stored before the rules for names does not turn the sentences around it', async ({ page }) => {
  const dir = copyOfTemplate()
  const env = { BATON_DATA_DIR: dir, BATON_ROLE: 'all' }
  let service = await ServiceProcess.start(env)
  try {
    const { owner, member } = await createCompany(service.url)
    const { app, client_id } = await owner.api.createAgentApp(manifest)
    await service.kill('SIGTERM')
    const db = new Db(await openEmbedded({ dataDir: join(dir, 'db') }))
    await db.run(sql`update agent_apps set name = ${`Robot${override}`} where id = ${app.id}`)
    await db.run(sql`update users set display_name = ${`Mona${override}`} where id = ${member.id}`)
    await db.close()

    service = await ServiceProcess.start(env)
    const url = service.url.replace('127.0.0.1', 'localhost')
    await signedIn(page, { ...owner, api: new BatonClient({ baseUrl: url }) })
    const query = new URLSearchParams({
      client_id,
      redirect_uri,
      response_type: 'code',
      scope: 'read',
      actor: 'app',
      code_challenge: createHash('sha256').update(randomBytes(32)).digest('base64url'),
      code_challenge_method: 'S256',
    })
    await page.goto(`${url}/api/v1/oauth/authorize?${query}`)
    // Strings have no markup, so the character is left out there.
    await expect(page.getByRole('heading', { name: 'Install Robot in Acme', exact: true })).toBeVisible()
    await expect(page.getByText(', not as you.')).toHaveText(`It acts as Robot${override}, not as you.`)
    expect(await readsLeftToRight(page, ', not as you.')).toBe(true)

    await page.goto(`${url}/settings/members`)
    await expect(page.locator('bdi', { hasText: 'Mona' }).first()).toBeVisible()
  } finally {
    await service.kill('SIGTERM')
    rmSync(dir, { recursive: true, force: true })
  }
})
