// Finds programs that tests need, and installs Debian's package of those that are missing, when run as root.
import { accessSync, constants, existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run, StepFailed, step } from './setup.mjs'

const folders = ['/usr/bin', '/usr/sbin', '/bin', '/sbin', '/usr/local/bin']

/**
 * The path of the program; undefined if it is missing and cannot be installed. `packages` are names of packages that have
 * it: the first that Debian offers is installed. In CI, a test that needs the program has to fail without it:
 * `test.skipIf(!program && !process.env.CI)`.
 */
export async function debianProgram(program, ...packages) {
  const found = findProgram(program)
  if (found) return found
  try {
    await installPackage(packages.length > 0 ? packages : [program])
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error
    console.error(`${program}: ${error.message}`)
    return undefined
  }
  return findProgram(program)
}

/** Looks in PATH and in the folders of Debian's programs. */
export const findProgram = (program, env = process.env) =>
  [...(env.PATH ?? '').split(':').filter(Boolean), ...folders].map((folder) => join(folder, program)).find(isProgram)

/** Installs the first of the packages that Debian offers. Throws StepFailed if this is not possible here. */
export async function installPackage(packages) {
  if (process.getuid?.() !== 0 || !isProgram('/usr/bin/apt-get')) {
    throw new StepFailed(`install the package ${packages.join(' or ')}; only root on Debian gets it automatically`)
  }
  let name = await candidate(packages)
  if (!name) {
    await readLists()
    name = await candidate(packages)
  }
  if (!name) throw new StepFailed(`this system has no package ${packages.join(' or ')}`)
  await withoutStartingServices(async () => {
    try {
      await install(name)
    } catch (error) {
      if (!(error instanceof StepFailed)) throw error
      // Old package lists can name versions that the mirror no longer has.
      await readLists()
      await install(name)
    }
  })
}

// Another run may be installing: apt waits for its lock.
const apt = (...args) => ['-o', 'DPkg::Lock::Timeout=300', '-qq', ...args]
const readLists = () => step('Reading package lists', 'apt-get', apt('update'))
const install = (name) =>
  step(`Installing ${name}`, 'apt-get', apt('install', '-y', '--no-install-recommends', name), {
    env: { DEBIAN_FRONTEND: 'noninteractive' },
  })

async function candidate(packages) {
  for (const name of packages) {
    const { code, output } = await run('apt-cache', ['policy', name])
    if (code === 0 && /Candidate: (?!\(none\))/.test(output)) return name
  }
  return undefined
}

const policy = '/usr/sbin/policy-rc.d'

/** Packages of servers start them. Debian asks this file before it starts a service; 101 means no. */
async function withoutStartingServices(work) {
  if (existsSync(policy)) return work()
  writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    await work()
  } finally {
    rmSync(policy, { force: true })
  }
}

export function isProgram(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
