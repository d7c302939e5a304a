// The web app in a browser with 20,000 issues, compared with a bare list of the same rows in the same browser.
// BENCH_ISSUES sets another number of issues.
import { chromium } from '@playwright/test'
import { findBrowser } from '../../scripts/browser.mjs'
import { buildWeb } from '../../scripts/setup.mjs'
import { environmentOf, serviceProgram, startProgram } from '../setting.mjs'
import { startBareList } from '../web/bare-server.mjs'
import { keysAtRest, keysWhileLoading, longFrames, timeToOpen, timeToUsable } from '../web/moves.mjs'
import { createWorkspace } from '../web/workspace.mjs'

const issueCount = Number(process.env.BENCH_ISSUES ?? 20_000)
const changesPerSecond = 20

const row = (name, more) => ({ name: `web app: ${name}`, unit: 'ms', better: 'less', ...more })
const bareList = 'a bare list of the same rows'
/** A frame takes 16.7 ms, which the bare list waits for too. */
const keys = { absolute: true, target: 20, floorIs: `${bareList}, at rest` }

export const rows = [
  row('first list usable', { floorIs: `${bareList} from one response` }),
  row('key press to paint, p95', keys),
  row('key press to paint while the list loads, p95', keys),
  row('key press to paint during 20 changes a second, p95', keys),
  row('opening an issue', { floorIs: 'the bare list, which shows the title and the description' }),
  row('frames over 50 ms while a board scrolls for 3 s', { unit: 'frames', absolute: true, floorIs: bareList }),
]

export const ownDatabase = true
/** One round is enough: each row repeats its moves. */
export const once = true
export const missing = () => (findBrowser() ? undefined : 'no Chromium was found; set BATON_CHROMIUM')

export async function run(where) {
  await buildWeb()
  const { issues, token, workspaceId } = await createWorkspace(where, issueCount)
  const service = await startProgram(serviceProgram, environmentOf(where))
  const bare = await startBareList(issues)
  const browser = await chromium.launch({ executablePath: findBrowser() })
  const { app, floor, change } = subjects({ browser, service, bare, issues, token, workspaceId })
  try {
    const bareKeys = await keysAtRest(floor)
    return [
      { ours: await timeToUsable(app), floor: await timeToUsable(floor) },
      { ours: await keysAtRest(app), floor: bareKeys },
      { ours: await keysWhileLoading(app), floor: bareKeys },
      { ours: await keysAtRest(app, (work, page) => whileChanging(change, work, page)), floor: bareKeys },
      { ours: await timeToOpen(app), floor: await timeToOpen(floor) },
      { ours: await longFrames(app, { board: true }), floor: await longFrames(floor) },
    ]
  } finally {
    await browser.close()
    bare.stop()
    await service.stop()
  }
}

/** The web app and the bare list for the moves, and a function that changes an issue. */
export function subjects({ browser, service, bare, issues, token, workspaceId }) {
  const app = {
    browser,
    url: `${service.url}/issues`,
    async signIn(context) {
      await context.addCookies([{ name: 'baton_session', value: token, url: service.url }])
      await context.addInitScript((id) => localStorage.setItem(`baton.first-steps.${id}`, 'dismissed'), workspaceId)
    },
    isLoading: async (page) => (await page.getByText('loading more').count()) > 0,
    loaded: (page) => page.getByText('loading more').waitFor({ state: 'detached', timeout: 120_000 }),
  }
  const floor = { browser, url: bare.url }
  const change = (n) => changeIssue(service.url, { token, workspaceId }, issues, n)
  return { app, floor, change }
}

/** Runs `work` while issues change. Fails if a change was refused, or if the page did not read the changed issues. */
export async function whileChanging(change, work, page) {
  const changes = []
  let failure
  let made = 0
  let read = 0
  page.on('response', (response) => {
    if (response.ok() && response.url().includes('/api/v1/issues/')) read++
  })
  const next = () =>
    change(changes.length).then(
      () => made++,
      (error) => {
        failure ??= error
      },
    )
  const timer = setInterval(() => changes.push(next()), 1000 / changesPerSecond)
  const done = await work().finally(() => clearInterval(timer))
  // The last ones may still be on their way.
  if (made === 0 || read < made / 2) failure ??= new Error(`the page read ${read} of ${made} changed issues`)
  await Promise.all(changes)
  if (failure) throw failure
  return done
}

/** Renames an issue, or gives it another status, so that it moves to another group; spread over all issues. */
async function changeIssue(url, { token, workspaceId }, issues, n) {
  const { id, title, status } = issues[(n * 7919) % issues.length]
  const body = n % 2 === 0 ? { title: `${title} again` } : { status: status === 'qa' ? 'todo' : 'qa' }
  const answer = await fetch(`${url}/api/v1/issues/${id}`, {
    method: 'PUT',
    headers: {
      authorization: `Bearer ${token}`,
      'x-workspace-id': workspaceId,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`PUT ${id}: ${answer.status} ${await answer.text()}`)
}
