import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Page } from '@playwright/test'
import { ScriptedAgent } from './agents.ts'
import {
  type Company,
  checkAxe,
  expect,
  keyboardOnly,
  narrow,
  type Person,
  scrolledSideways,
  signedIn,
  test,
  verifies,
} from './baton.ts'
import { createCompany } from './company.ts'

/** Two sessions, one finished and one that asked, and issues in a cycle. */
async function fill(company: Company, robot: ScriptedAgent) {
  const { owner, engineering, issues } = company
  const cycle = await owner.api.createCycle({ name: 'Week 1', team_id: engineering.id })
  for (const [index, { id, code }] of issues.slice(0, 2).entries()) {
    await owner.api.updateIssue({ issue_id: id, cycle_id: cycle.id, delegate_id: robot.userId })
    const session = await robot.session()
    if (index === 0) await session.respond(`${code} is done.`)
    else await session.elicit('Which door?')
  }
  await owner.api.updateIssue({ issue_id: issues[0].id, status: 'done' })
  return cycle
}

/** Waits until the worker, which counts a new workspace every minute, has counted what was done. */
async function counted({ api }: Person, sessions: number) {
  const read = async () =>
    (await api.getAgentInsights({})).agents.reduce((sum, { figures }) => sum + figures.finished + figures.waiting, 0)
  await expect.poll(read, { timeout: 150_000, intervals: [2000] }).toBe(sessions)
}

let scene: { company: Company; robot: ScriptedAgent; cycle: { name: string } } | undefined

/** The company that all tests read, because it takes up to a minute until it is counted. */
async function countedCompany(url: string) {
  if (scene) return scene
  const company = await createCompany(url)
  const robot = await ScriptedAgent.register(company.owner, { name: 'Scout' })
  await robot.install(company.owner)
  const cycle = await fill(company, robot)
  await counted(company.owner, 2)
  scene = { company, robot, cycle }
  return scene
}

const chart = (page: Page, name: string) => page.getByRole('figure', { name })

test.describe('insights', () => {
  test.describe.configure({ mode: 'default', timeout: 240_000 })

  test.afterAll(async () => {
    await scene?.robot.close()
    expect(scene?.robot.errors ?? []).toEqual([])
    scene = undefined
  })

  test(
    'charts have a caption, a table, patterns, and values by keyboard; axe finds nothing',
    verifies('insight.charts-accessible'),
    async ({ page, service }) => {
      const { company } = await countedCompany(service.url)
      await signedIn(page, company.owner)
      await page.goto('/insights?by=day')

      const sessions = chart(page, 'Agent sessions')
      // The table is there for screen readers before it is shown.
      const today = sessions.getByRole('row').last()
      await expect(today.getByRole('cell')).toHaveText(['1', '0', '0', '0', '1', '0'])
      await expect(sessions.getByRole('columnheader')).toHaveText([
        'Day',
        'Finished',
        'Failed',
        'Stopped',
        'Stale',
        'Needs input',
        'Under way',
      ])
      await expect(sessions.getByRole('row')).toHaveCount(91)
      const tableHeight = () =>
        sessions.getByRole('table').evaluate((table) => table.parentElement?.getBoundingClientRect().height)
      expect(await tableHeight()).toBeLessThan(2)
      await sessions.getByRole('button', { name: 'Show table' }).click()
      expect(await tableHeight()).toBeGreaterThan(1000)
      await sessions.getByRole('button', { name: 'Hide table' }).click()

      // Each series has its own pattern, so that no colour is needed.
      const marks = await sessions
        .locator('pattern')
        .evaluateAll((patterns) =>
          patterns.map((pattern) => pattern.querySelector('path')?.getAttribute('d') ?? 'plain'),
        )
      expect(new Set(marks).size).toBe(6)

      await expect(
        page
          .getByRole('row', { name: /^Scout/ })
          .getByRole('cell')
          .first(),
      ).toHaveText('2')
      await checkAxe(page)

      const heightOf = () => sessions.evaluate((figure) => figure.getBoundingClientRect().height)
      const heightBefore = await heightOf()
      await keyboardOnly(page)
      const slider = sessions.getByRole('slider')
      for (
        let presses = 0;
        presses < 60 && !(await slider.evaluate((one) => one === document.activeElement));
        presses++
      )
        await page.keyboard.press('Tab')
      await expect(slider).toBeFocused()
      await expect(slider).toHaveAttribute('aria-valuetext', /: Finished 1, Failed 0, .*Needs input 1, Under way 0$/)
      // The value had its room before it was shown.
      expect(await heightOf()).toBe(heightBefore)
      await page.keyboard.press('ArrowLeft')
      await expect(slider).toHaveAttribute('aria-valuenow', '89')
      await expect(slider).toHaveAttribute('aria-valuetext', /: Finished 0,/)
      await page.keyboard.press('Home')
      await expect(slider).toHaveAttribute('aria-valuenow', '1')
      await page.keyboard.press('ArrowLeft')
      await expect(slider).toHaveAttribute('aria-valuenow', '1')
      await page.keyboard.press('End')
      await expect(slider).toHaveAttribute('aria-valuenow', '90')
    },
  )

  test(
    'charts print on white, without the rest of the screen',
    verifies('insight.charts-accessible'),
    async ({ page, service }) => {
      const { company } = await countedCompany(service.url)
      await signedIn(page, company.owner)
      await page.goto('/insights?tab=flow')
      await page.setViewportSize({ width: 700, height: 500 })
      await expect(page.getByRole('search', { name: 'Filters' })).toBeVisible()
      const title = page.getByText('Insights: Flow')
      await expect(title).toBeHidden()
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
      await expect(title).toBeVisible()
      await expect(page.getByText(/\d{4}, by week, all teams$/)).toBeVisible()
      const flow = chart(page, 'Created and done')
      await expect(flow).toBeVisible()
      await expect(page.getByRole('navigation')).toHaveCount(0)
      await expect(page.getByRole('search', { name: 'Filters' })).toBeHidden()
      const colors = await flow.evaluate((figure) => {
        const { backgroundColor, color } = getComputedStyle(figure)
        return [backgroundColor, getComputedStyle(document.documentElement).colorScheme, color]
      })
      expect(colors.slice(0, 2)).toEqual(['rgb(255, 255, 255)', 'light'])
      // All of the page is printed, not only what fits the screen.
      expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeGreaterThan(1000)
    },
  )

  test(
    'filters are in the address, and a member sees flow only',
    verifies('insight.managers-only', 'insight.charts-accessible'),
    async ({ page, service, secondBrowser }) => {
      const { company, cycle } = await countedCompany(service.url)
      await signedIn(page, company.owner)
      await page.goto('/insights')
      await page.getByRole('combobox', { name: 'Team', exact: true }).selectOption('Engineering')
      await expect(page).toHaveURL(new RegExp(`team_id=${company.engineering.id}`))
      await page.getByRole('combobox', { name: 'Period' }).selectOption('By month')
      await expect(page).toHaveURL(/by=month/)
      await page.getByRole('navigation', { name: 'Insights' }).getByRole('link', { name: 'Flow' }).click()
      await expect(chart(page, 'Open issues by age').getByRole('columnheader').first()).toHaveText('Month')
      await page.reload()
      await expect(page.getByRole('combobox', { name: 'Period' })).toHaveValue('month')
      const file = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Export CSV' }).click()
      expect((await file).suggestedFilename()).toBe('flow.csv')
      await page.getByRole('navigation', { name: 'Insights' }).getByRole('link', { name: 'Deliveries' }).click()
      await expect(chart(page, 'Delivery attempts')).toBeVisible()
      await checkAxe(page)

      const member = await secondBrowser(company.member)
      await member.goto('/insights')
      await expect(chart(member, 'Created and done')).toBeVisible()
      await expect(member.getByRole('link', { name: 'Deliveries' })).toHaveCount(0)
      await member.goto('/insights?tab=agents')
      await expect(member.getByText('Owners and admins only')).toBeVisible()

      await member.goto('/settings/cycles')
      await member.getByRole('button', { name: `Actions for ${cycle.name}` }).click()
      await member.getByRole('menuitem', { name: 'Burn-up…' }).click()
      const burnUp = chart(member, 'Scope and done')
      await expect(burnUp.getByRole('row').last().getByRole('cell')).toHaveText(['2', '1'])
      await checkAxe(member)
    },
  )

  test.describe('on a narrow screen', () => {
    test.use({ viewport: narrow })

    test('reports fit', verifies('insight.charts-accessible'), async ({ page, service }) => {
      const { company } = await countedCompany(service.url)
      await signedIn(page, company.owner)
      for (const tab of ['agents', 'flow']) {
        await page.goto(`/insights?tab=${tab}`)
        await expect(page.getByRole('figure').first()).toBeVisible()
        expect((await scrolledSideways(page)).filter((element) => !element.includes('table'))).toEqual([])
      }
      await checkAxe(page)
    })
  })

  test('the charts, the route and the list stay light', verifies('insight.weight'), () => {
    const script = fileURLToPath(new URL('../../scripts/check-bundle.mjs', import.meta.url))
    const { status, stdout } = spawnSync(process.execPath, [script], { encoding: 'utf8' })
    expect(stdout).toMatch(/list of issues loads .* at most 170\.0 kB/)
    expect(stdout).toMatch(/charts weigh .* at most 8\.0 kB/)
    expect(stdout).toMatch(/beyond the shell .* at most 25\.0 kB/)
    expect(status).toBe(0)
  })
})
