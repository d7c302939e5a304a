// npm run test:upgrade: builds the last release and replaces its nodes under load by those of this version, and back.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ownCommand } from './own-command.mjs'
import { withPostgres } from './postgres.mjs'
import { build, install, main, root, run, StepFailed, step } from './setup.mjs'

await main(async () => {
  await install()
  await build('Building', 'server')
  const from = await lastRelease()
  const dir = await buildOf(from)
  await withPostgres((url) =>
    ownCommand('npm run test:upgrade', ['release/upgrade.test.ts'], {
      env: { DATABASE_URL: url, BATON_TEST_UPGRADE_FROM: join(dir, 'server', 'dist', 'main.js') },
    }),
  )
})

/** The tag of the last release before this commit; before the first release, the commit in scripts/upgrade-from. */
async function lastRelease() {
  const { code, output } = await run('git', ['describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*', 'HEAD~1'])
  return code === 0 ? output.trim() : readFileSync(join(root, 'scripts', 'upgrade-from'), 'utf8').trim()
}

/** Returns a folder with the built server of that version. It is kept for the next run. */
async function buildOf(version) {
  const commit = (await run('git', ['rev-parse', '--verify', `${version}^{commit}`])).output.trim()
  if ((await run('git', ['cat-file', '-e', `${commit}^{commit}`])).code !== 0) {
    throw new StepFailed(
      `The version to upgrade from, ${version}, is not in this clone. Fetch the history: git fetch --unshallow --tags`,
    )
  }
  const folder = join(root, 'node_modules', '.cache', 'upgrade-from')
  const dir = join(folder, commit)
  const stamp = join(dir, '.built')
  if (existsSync(stamp)) return dir
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  await step(`Taking ${version}`, 'git', ['clone', '--quiet', '--shared', '--no-checkout', root, dir])
  await step('Checking it out', 'git', ['-C', dir, 'checkout', '--quiet', commit])
  await step('Installing its dependencies', 'npm', ['ci', '--prefix', dir, '--no-audit', '--no-fund'])
  await step('Building it', join(dir, 'node_modules', '.bin', 'tsc'), ['-b', join(dir, 'server')])
  writeFileSync(stamp, '')
  return dir
}
