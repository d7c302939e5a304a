import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, type Page, test } from '@playwright/test'
import { installUrl, ScriptedAgent } from './agents.ts'
import { type Person, signedIn } from './company.ts'
import { demoPerson } from './demo.ts'
import { settled } from './screens.ts'
import { withService } from './service.ts'
import { wide } from './viewports.ts'

const folder = fileURLToPath(new URL('../../docs/pictures/', import.meta.url))
const mostBytes = 300_000

interface Picture {
  /** Of the file in docs/pictures. */
  name: string
  path: (ada: Person) => Promise<string>
  /** Finds on the screen what the caption in the README says. */
  shows: (page: Page) => Promise<void>
}

const pictures: Picture[] = [
  {
    name: 'board',
    path: async () => '/issues?layout=board',
    shows: (page) => expect(page.getByRole('link', { name: /Scout.?: / }).nth(5)).toBeInViewport(),
  },
  {
    name: 'session',
    path: async ({ api }) => {
      const { data } = await api.listAgentSessions({ limit: 100 })
      return `/agent-session/${data.find(({ changes }) => changes !== null)?.id}`
    },
    shows: async (page) => {
      await expect(page.getByText('Propose a fix')).toBeVisible()
      await expect(page.getByRole('link', { name: /Pull request/ }).first()).toBeVisible()
      await expect(page.getByText('The button is disabled after the first click').first()).toBeVisible()
    },
  },
  {
    name: 'consent',
    path: async (ada) => {
      const agent = await ScriptedAgent.register(ada, { name: 'Scribe' })
      await agent.close()
      return installUrl(ada, agent.registered)
    },
    shows: (page) => expect(page.getByRole('heading', { name: /Scribe/ }).first()).toBeVisible(),
  },
]

test(`${pictures.length} pictures of the README`, async ({ browser }) => {
  await withService({ BATON_DEMO: '1' }, async ({ url }) => {
    const ada = await demoPerson(url, 'ada', 'owner')
    const { data: sessions } = await ada.api.listAgentSessions({ limit: 1 })
    for (const { name, path, shows } of pictures) {
      const context = await browser.newContext({ baseURL: url, viewport: wide, colorScheme: 'light' })
      const page = await context.newPage()
      // A minute after the demo was created, so that "5 minutes ago" is the same in every run.
      await page.clock.setFixedTime(Date.parse(sessions[0]?.created_at ?? '') + 60_000)
      // Without a stream the demo has no viewer, and its show does not continue.
      await page.route(/\/api\/v1\/live(\?|$)/, () => {})
      await signedIn(page, ada)
      await page.goto(await path(ada))
      await settled(page)
      await shows(page)
      const file = `${folder}${name}.png`
      await page.screenshot({ path: file, animations: 'disabled' })
      expect(readFileSync(file).length, `bytes of ${name}.png`).toBeLessThan(mostBytes)
      await context.close()
    }
  })
})
