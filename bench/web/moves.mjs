// What a user does in the list, the same in the web app and in the bare list, and how long each takes.
import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from '../setting.mjs'
import { probe } from './probe.mjs'

const visits = 5
const presses = 200
const opens = 10
const scrollMs = 3000
const longFrameMs = 50
const waitMs = 60_000

/** Opens a page of a new visitor, without a cache, and waits until its first rows are painted. */
async function visit({ browser, url, signIn }, { board = false } = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  await signIn?.(context)
  await context.addInitScript(probe)
  const page = await context.newPage()
  await page.goto(board ? `${url}?layout=board` : url)
  await until(page, () => window.bench.hasRows)
  return page
}

const until = (page, condition, argument) => page.waitForFunction(condition, argument, { timeout: waitMs })

/** Moves by one row and waits until it is painted. */
async function step(page, key) {
  const before = await page.evaluate(() => window.bench.moves.length)
  await page.keyboard.press(key)
  await until(page, (count) => window.bench.moves.length > count, before)
}

/** Median time from the start of the navigation until a key press has moved the focus. */
export async function timeToUsable(subject) {
  const took = []
  for (let n = 0; n < visits; n++) {
    const page = await visit(subject)
    await step(page, 'j')
    took.push(await page.evaluate(() => window.bench.usableAt))
    await page.context().close()
  }
  return percentile(took, 0.5)
}

/** Presses keys at about the rate of a held key. Returns the time of each until its row was painted. */
async function press(page, count) {
  await page.evaluate(() => {
    window.bench.moves = []
  })
  for (let n = 0; n < count; n++) {
    await page.keyboard.press(n % 4 === 3 ? 'k' : 'j')
    // Uneven, so that presses fall on all moments of a frame.
    await sleep(25 + ((n * 7) % 17))
  }
  await until(page, (all) => window.bench.moves.length >= all, count)
  return page.evaluate(() => window.bench.moves)
}

const p95 = (times) => percentile(times, 0.95)

/** The 95th percentile of key presses in a loaded list; `during` may change issues while keys are pressed. */
export async function keysAtRest(subject, during = (work) => work()) {
  const page = await visit(subject)
  await subject.loaded?.(page)
  const times = await during(() => press(page, presses), page)
  await page.context().close()
  return p95(times)
}

/** The same while the list loads its pages. A list that is complete too early is opened again. */
export async function keysWhileLoading(subject) {
  const batch = 20
  const times = []
  for (let tries = 0; times.length < presses; tries++) {
    if (tries > presses) throw new Error('the list loads faster than keys can be pressed')
    const page = await visit(subject)
    for (;;) {
      const pressed = await press(page, batch)
      if (!(await subject.isLoading(page))) break
      times.push(...pressed)
    }
    await page.context().close()
  }
  return p95(times)
}

/** Median time from Enter until the title of the issue is painted. */
export async function timeToOpen(subject) {
  const page = await visit(subject)
  await subject.loaded?.(page)
  const took = []
  for (let n = 0; n < opens; n++) {
    await until(page, () => document.querySelector('[role="grid"] [data-row]') !== null)
    // Another issue each time.
    for (let row = 0; row <= n; row++) await step(page, 'j')
    await page.evaluate(() => {
      window.bench.opened = null
    })
    await page.keyboard.press('Enter')
    await until(page, () => window.bench.opened !== null)
    took.push(await page.evaluate(() => window.bench.opened))
    await page.goBack()
  }
  await page.context().close()
  return percentile(took, 0.5)
}

/** The number of long frames while the wheel turns down and up over the first column or the list. */
export async function longFrames(subject, options) {
  const page = await visit(subject, options)
  await subject.loaded?.(page)
  await page.mouse.move(400, 500)
  await page.evaluate(() => window.bench.recordFrames())
  const started = performance.now()
  for (let n = 0; performance.now() - started < scrollMs; n++) {
    await page.mouse.wheel(0, n % 50 < 25 ? 120 : -120)
    await sleep(16)
  }
  const frames = await page.evaluate(() => window.bench.stopFrames())
  await page.context().close()
  return frames.filter((ms) => ms > longFrameMs).length
}
