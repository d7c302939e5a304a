// npm run test:versions: the server's tests and npm start on every supported version of Node, and on every supported
// version of PostgreSQL the tests that can differ there.
//   node-22 postgres-17 …  only these
//   --all                  on Node all of the server's tests, instead of a third, another every day
import { parseArgs } from 'node:util'
import { ownCommand } from './own-command.mjs'
import { build, buildPackages, buildWeb, bundleServer, install, main } from './setup.mjs'

const { values: flags, positionals: only } = parseArgs({
  options: { all: { type: 'boolean' } },
  allowPositionals: true,
})
/** For each version. */
const budgetSeconds = 600

await main(async () => {
  await install()
  await build('Building and checking types', '.')
  await buildPackages()
  await bundleServer()
  await buildWeb()
  await ownCommand('npm run test:versions', ['release/versions.test.ts'], {
    env: { BATON_TEST_VERSIONS: only.join(','), BATON_TEST_ALL: flags.all ? '1' : '' },
    budgetSeconds: budgetSeconds * (only.length || 7) * (flags.all ? 3 : 1),
    partial: only.length > 0,
  })
})
