// Finds a Chromium for the browser tests: the system's or one that Playwright downloaded before. Otherwise installs
// Debian's package when run as root, or else downloads Playwright's.
import { existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { installPackage, isProgram } from './debian.mjs'
import { bin, StepFailed, step } from './setup.mjs'

const names = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'chrome-headless-shell',
]
const packages = ['chromium-headless-shell', 'chromium']

/** The path of a Chromium on this machine, or null. If `BATON_CHROMIUM` is set, no other is used. */
export function findBrowser(env = process.env) {
  if (env.BATON_CHROMIUM) return isProgram(env.BATON_CHROMIUM) ? env.BATON_CHROMIUM : null
  const folders = new Set(['/usr/bin', ...(env.PATH ?? '').split(':').filter(Boolean), '/opt/google/chrome'])
  const onMac = [
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
  ]
  const ofSystem = names.flatMap((name) => [...folders].map((folder) => join(folder, name)))
  return [...ofSystem, ...onMac, ...downloadedBrowsers(env)].find(isProgram) ?? null
}

/** Programs in the folder of Playwright's downloads, newest first. */
export function downloadedBrowsers(env) {
  const caches = { darwin: join('Library', 'Caches'), linux: '.cache' }
  const folder =
    env.PLAYWRIGHT_BROWSERS_PATH || join(env.HOME || homedir(), caches[process.platform] ?? '.cache', 'ms-playwright')
  if (!existsSync(folder)) return []
  const programs = /^(headless_shell|chrome-headless-shell|chrome|Chromium|Google Chrome for Testing)$/
  return readdirSync(folder)
    .filter((name) => /^chromium(_headless_shell)?-\d+$/.test(name))
    .sort((a, b) => Number(b.split('-').pop()) - Number(a.split('-').pop()))
    .flatMap((name) =>
      readdirSync(join(folder, name), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && programs.test(entry.name))
        .map((entry) => join(entry.parentPath, entry.name)),
    )
}

/** Finds a Chromium or installs one. Throws StepFailed with the reason if there is none. */
export async function browser() {
  const found = findBrowser()
  if (found) return found
  if (process.env.BATON_CHROMIUM) {
    throw new StepFailed(`BATON_CHROMIUM is ${process.env.BATON_CHROMIUM}, which cannot be executed`)
  }
  for (const way of [() => installPackage(packages), download]) {
    try {
      await way()
      const installed = findBrowser()
      if (installed) return installed
    } catch (error) {
      if (!(error instanceof StepFailed)) throw error
    }
  }
  throw new StepFailed(
    'no Chromium found and none could be installed; install one (on Debian: apt-get install chromium-headless-shell) or set BATON_CHROMIUM',
  )
}

const download = () =>
  step('Downloading a browser', bin('playwright'), ['install', '--only-shell', 'chromium'], { timeoutMs: 300_000 })
