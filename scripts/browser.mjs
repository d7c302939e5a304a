// Finds a Chromium for the browser tests, or installs Debian's when run as root.
import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import { run, StepFailed, step } from './setup.mjs'

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
  const candidates = [...names.flatMap((name) => [...folders].map((folder) => join(folder, name))), ...onMac]
  return candidates.find(isProgram) ?? null
}

/** Finds a Chromium or installs one. Throws StepFailed with the reason if there is none. */
export async function browser() {
  const found = findBrowser()
  if (found) return found
  if (process.env.BATON_CHROMIUM) {
    throw new StepFailed(`BATON_CHROMIUM is ${process.env.BATON_CHROMIUM}, which cannot be executed`)
  }
  const isRoot = process.getuid?.() === 0
  if (!isRoot || !isProgram('/usr/bin/apt-get')) {
    throw new StepFailed(
      'no Chromium found; install one (on Debian as root: apt-get install chromium-headless-shell) or set BATON_CHROMIUM',
    )
  }
  await installBrowser()
  const installed = findBrowser()
  if (!installed) throw new StepFailed('Chromium was installed, but not in a known folder; set BATON_CHROMIUM')
  return installed
}

async function installBrowser() {
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
