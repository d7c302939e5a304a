// A Chromium for the browser tests: the one that is there, or Debian's, which root can install.
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

/** The path of a Chromium on this machine, or null. `BATON_CHROMIUM` names one, and then no other will do. */
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

/** Finds one or installs one. A StepFailed says why there is none. */
export async function browser() {
  const found = findBrowser()
  if (found) return found
  if (process.env.BATON_CHROMIUM) {
    throw new StepFailed(`BATON_CHROMIUM is ${process.env.BATON_CHROMIUM}, which is no program that can be run`)
  }
  const isRoot = process.getuid?.() === 0
  if (!isRoot || !isProgram('/usr/bin/apt-get')) {
    throw new StepFailed(
      'no Chromium was found; install one (on Debian as root: apt-get install chromium-headless-shell) or name yours in BATON_CHROMIUM',
    )
  }
  await installBrowser()
  const installed = findBrowser()
  if (!installed) throw new StepFailed('a Chromium was installed, but is not where one is looked for')
  return installed
}

async function installBrowser() {
  let name = await candidate()
  if (!name) {
    await step('Reading package lists', 'apt-get', ['update', '-qq'])
    name = await candidate()
  }
  if (!name) throw new StepFailed(`no package of this system is called ${packages.join(' or ')}`)
  const install = () =>
    step(`Installing ${name}`, 'apt-get', ['install', '-y', '-qq', '--no-install-recommends', name], {
      env: { DEBIAN_FRONTEND: 'noninteractive' },
    })
  try {
    await install()
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error
    // The lists name versions that are gone from the mirror after a while.
    await step('Reading package lists', 'apt-get', ['update', '-qq'])
    await install()
  }
}

/** The first of our packages that the package lists know. */
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
