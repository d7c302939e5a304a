import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentAppManifest } from '@baton/sdk'
import { type Browser, expect, type Page } from '@playwright/test'
import { installUrl } from './agents.ts'
import { type Person, signedIn } from './company.ts'
import { demoPerson } from './demo.ts'
import { settled } from './screens.ts'
import { withService } from './service.ts'
import { wide } from './viewports.ts'

interface Picture {
  /** Of the file in docs/pictures. */
  name: string
  path: (ada: Person) => Promise<string>
  /** Finds on the screen what the caption in the README says. */
  shows: (page: Page) => Promise<void>
}

interface Places {
  browser: Browser
  folder: string
  /** To be written. */
  clockFile: string
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
      await expect(page.locator('pre')).toBeVisible()
    },
  },
  {
    name: 'review',
    path: async () => '/reviews',
    shows: async (page) => {
      await expect(page.getByRole('list', { name: 'Waiting for review' }).getByRole('listitem')).toHaveCount(2)
      await expect(page.getByText('The button is disabled after the first click').first()).toBeVisible()
      // Before the Markdown renderer has loaded, its text is shown as it is.
      await expect(page.locator('pre')).toBeVisible()
      await expect(page.getByRole('button', { name: /Accept/ })).toBeVisible()
    },
  },
  {
    name: 'insights',
    path: async ({ api }) => {
      // The figures are counted soon after the start.
      await expect.poll(async () => (await api.getAgentInsights()).as_of, { timeout: 60_000 }).not.toBeNull()
      return '/insights?tab=agents&from=2026-01-19&to=2026-03-03'
    },
    shows: (page) => expect(page.getByRole('figure').first()).toBeVisible(),
  },
  {
    name: 'consent',
    path: async (ada) => {
      const manifest: AgentAppManifest = {
        schemaVersion: '1.0.0',
        name: 'Scribe',
        description: 'Writes release notes from finished issues.',
        developer: { name: 'Scribe Tools' },
        oauth: {
          redirect_uris: ['https://scribe.example.com/callback'],
          scopes: ['read', 'write', 'app:assignable', 'app:mentionable'],
        },
        webhook: { url: 'https://scribe.example.com/events' },
      }
      const { app, client_id, client_secret, webhook_secret } = await ada.api.createAgentApp(manifest)
      const secrets = { clientId: client_id, clientSecret: client_secret, webhookSecret: webhook_secret }
      return installUrl(ada, { app, manifest, ...secrets })
    },
    shows: (page) => expect(page.getByRole('heading', { name: /Scribe/ }).first()).toBeVisible(),
  },
]

/** The clock of the service that makes the demo, so that its days are the same in every run. */
const madeAt = '2026-03-03T09:30:00.000Z'

/** Moves every time of the responses by the seconds that this start took, and stops the clock of the page. */
async function atFixedTime(page: Page, createdMs: number) {
  const fixedMs = Date.parse(madeAt)
  const moved = (time: string) => new Date(Date.parse(time) - createdMs + fixedMs).toISOString()
  await page.clock.setFixedTime(fixedMs + 60_000)
  await page.route(/\/api\/v1\//, async (route) => {
    // The consent begins with a redirect, which the browser has to follow.
    if (route.request().isNavigationRequest()) return route.continue()
    const response = await route.fetch()
    const body = (await response.text())
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, moved)
      // The colour of an icon follows from the id of its app, which is new in every run.
      .replace(/(<rect width="128" height="128" fill=")#[0-9a-f]{6}/, '$1#166534')
    await route.fulfill({ response, body })
  })
}

/** Settings of a service whose clock, which is in the file, began at `madeAt`. */
function clockSettings(file: string) {
  writeFileSync(file, String(Date.parse(madeAt) - Date.now()))
  return { NODE_OPTIONS: `--import=${new URL('../../faults/jump.mjs', import.meta.url)}`, FAULTS_CLOCK: file }
}

/** Takes every picture of the README from a new demo and returns their file names. */
export async function takeReadmePictures({ browser, folder, clockFile }: Places) {
  await withService({ BATON_DEMO: '1', ...clockSettings(clockFile) }, async ({ url }) => {
    const ada = await demoPerson(url, 'ada', 'owner')
    const { data: sessions } = await ada.api.listAgentSessions({ limit: 1 })
    for (const { name, path, shows } of pictures) {
      const context = await browser.newContext({
        baseURL: url,
        viewport: wide,
        colorScheme: 'light',
        timezoneId: 'UTC',
        reducedMotion: 'reduce',
      })
      const page = await context.newPage()
      await atFixedTime(page, Date.parse(sessions[0]?.created_at ?? ''))
      // Without a stream the demo has no viewer, and its show does not continue.
      await page.route(/\/api\/v1\/live(\?|$)/, () => {})
      await signedIn(page, ada)
      await page.goto(await path(ada))
      await settled(page)
      await shows(page)
      // Painted anew as a whole: corners that were painted in parts differ by a shade.
      await page.evaluate(() => document.body.style.setProperty('display', 'none'))
      await page.evaluate(() => document.body.style.removeProperty('display'))
      await page.screenshot({ path: join(folder, fileOf(name)), animations: 'disabled' })
      await context.close()
    }
  })
  return pictures.map(({ name }) => fileOf(name))
}

const fileOf = (name: string) => `${name}.png`
