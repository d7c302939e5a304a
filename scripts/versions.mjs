// The versions of Node and PostgreSQL that Baton supports, as npm packages, which scripts/nodes and
// scripts/postgres-versions name.
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installApart, root, StepFailed } from './setup.mjs'

export const nodePackages = 'scripts/nodes'
const postgresPackages = 'scripts/postgres-versions'

/** The packages of a folder for this platform: the folder of each in node_modules, and its version. */
export function versionsFor(packages, platform = process.platform, arch = process.arch) {
  if (platform !== 'linux') return []
  const { optionalDependencies } = JSON.parse(readFileSync(join(root, packages, 'package.json'), 'utf8'))
  return Object.entries(optionalDependencies)
    .filter(([folder]) => folder.endsWith(`-${arch}`))
    .map(([folder, source]) => ({ folder, version: source.split('@').pop() }))
}

/** The program of each version of Node: `node-22` and so on. */
export async function installNodes() {
  const installed = await installApart('Installing other versions of Node', nodePackages)
  return versionsFor(nodePackages).map(({ folder, version }) => ({
    name: folder.replace(/-[^-]+$/, ''),
    version,
    node: programOf(join(installed, 'node_modules', folder, 'bin', 'node')),
  }))
}

/** The folder of programs of each version of PostgreSQL, which a user other than this one can read. */
export async function installPostgresVersions() {
  const installed = await installApart('Installing other versions of PostgreSQL', postgresPackages)
  const dir = mkdtempSync(join(tmpdir(), 'baton-postgres-versions-'))
  const versions = versionsFor(postgresPackages).map(({ folder, version }) => {
    const target = join(dir, folder)
    cpSync(join(installed, 'node_modules', folder), target, { recursive: true })
    // The package does this in an install script, which npm is told not to run.
    for (const { source, target: link } of JSON.parse(readFileSync(join(target, 'native/pg-symlinks.json'), 'utf8'))) {
      if (!existsSync(join(target, link))) symlinkSync(join(target, source), join(target, link))
    }
    programOf(join(target, 'native', 'bin', 'postgres'))
    return { name: folder.replace(/-[^-]+$/, ''), version, bin: join(target, 'native', 'bin') }
  })
  return { dir, versions }
}

/** npm does not fail if an optional package cannot be installed. */
function programOf(path) {
  if (!existsSync(path)) throw new StepFailed(`${path} has not been installed`)
  return path
}

/** Service tests of locks, notifications, several processes or concurrent requests: their result can differ. */
export const filesThatDiffer = () =>
  readdirSync(join(root, 'server', 'src'), { recursive: true })
    .filter((name) => name.endsWith('.test.ts') && !/\.(unit|process)\.test\.ts$/.test(name))
    .filter(
      (name) =>
        /^(db|relay|live|delivery)\/|^http\/rate-|races\.test\.ts$/.test(name) ||
        /verifiesOnPostgres|onPostgres/.test(readFileSync(join(root, 'server', 'src', name), 'utf8')),
    )
    .map((name) => join('server', 'src', name))
