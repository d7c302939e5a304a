import { createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { BatonClient } from '@baton/sdk'
import type { Page } from '@playwright/test'
import { Db } from '../../server/src/db/database.ts'
import { openEmbedded } from '../../server/src/db/embedded.ts'
import { connectPostgres } from '../../server/src/db/postgres.ts'
import { sql } from '../../server/src/db/sql.ts'
import { ServiceProcess } from '../../server/test/service-process.ts'
import { expect, signedIn, test } from './baton.ts'
import { createCompany } from './company.ts'
import { ownDatabase } from './template.ts'

const override = '\u202E'
const redirect_uri = 'https://robots.example.com/callback'
const manifest = {
  schemaVersion: '1.0.0' as const,
  name: 'Robot',
  developer: { name: 'Robots Inc' },
  oauth: { redirect_uris: [redirect_uri], scopes: ['read' as const] },
}

/** Whether the element draws the name and then the words after it from left to right. */
const readsLeftToRight = (page: Page, name: string, words: string) =>
  page.getByText(words).evaluate(
    (element, [name, words]) => {
      const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
      const leftOf = (text: string, letter: number) => {
        for (texts.currentNode = element; texts.nextNode(); ) {
          const at = texts.currentNode.textContent?.indexOf(text) ?? -1
          if (at < 0) continue
          const range = document.createRange()
          range.setStart(texts.currentNode, at + letter)
          range.setEnd(texts.currentNode, at + letter + 1)
          return range.getBoundingClientRect().left
        }
        throw new Error(`“${text}” is not there`)
      }
      const drawn = [leftOf(name, 0), leftOf(words, 0), leftOf(words, words.length - 1)]
      return drawn.every((left, index) => index === 0 || left > (drawn[index - 1] ?? 0))
    },
    [name, words] as const,
  )

test('a name stored before the rules for names does not turn the sentences around it', async ({ page, faults }) => {
  faults.allow(/ERR_CONNECTION_(REFUSED|RESET)|dynamically imported/) // the service ends before the page has loaded everything
  const { env, remove } = await ownDatabase()
  let service = await ServiceProcess.start(env)
  try {
    const { owner, member } = await createCompany(service.url)
    const { app, client_id } = await owner.api.createAgentApp(manifest)
    await service.kill('SIGTERM')
    const { DATABASE_URL, BATON_DATA_DIR = '' } = env
    const db = new Db(
      DATABASE_URL
        ? connectPostgres(DATABASE_URL, () => {})
        : await openEmbedded({ dataDir: join(BATON_DATA_DIR, 'db') }),
    )
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
    expect(await readsLeftToRight(page, 'Robot', ', not as you.')).toBe(true)

    await page.goto(`${url}/settings/members`)
    await expect(page.locator('bdi', { hasText: 'Mona' }).first()).toBeVisible()
  } finally {
    await page.close()
    await service.kill('SIGTERM')
    await remove()
  }
})
