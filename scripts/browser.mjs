// Finds a Chromium for the browser tests: the system's or one that Playwright downloaded before. Otherwise installs
// Debian's package when run as root, or else downloads Playwright's.
import { accessSync, constants, existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { bin, run, StepFailed, step } from './setup.mjs'

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
  const isRoot = process.getuid?.() === 0
  const ways = [...(isRoot && isProgram('/usr/bin/apt-get') ? [installPackage] : []), download]
  for (const way of ways) {
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

async function installPackage() {
  let name = await candidate()
  if (!name) {
    await step('Reading package lists', 'apt-get', ['update', '-qq'])
    name = await candidate()
  }
  if (!name) throw new StepFailed(`this system has no package ${packages.join(' or ')}`)
  const install = () =>
    step(`Installing ${name}`, 'apt-get', ['install', '-y', '-qq', '--no-install-recommends', name], {
      env: { DEBIAN_FRONTEND: 'noninteractive' },
    })
  try {
    await install()
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error
    // Old package lists can name versions that the mirror no longer has.
    await step('Reading package lists', 'apt-get', ['update', '-qq'])
    await install()
  }
}

/** The first of the packages that is available. */
async function candidate() {
  for (const name of packages) {
    const { code, output } = await run('apt-cache', ['policy', name])
    if (code === 0 && /Candidate: (?!\(none\))/.test(output)) return name
  }
  return null
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
