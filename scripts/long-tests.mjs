// Test files that take more than about half a minute on two cores, most of them because they start processes. They run
// first, so that none runs alone at the end. On a slow machine CI runs a third of them, the others with the
// next commits.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, runNumber } from './setup.mjs'

export const longTests = [
  'server/test/process.test.ts',
  'server/src/http/bad-input.test.ts',
  'cli/src/dev.test.ts',
  'cli/src/run/plain.test.ts',
  'cli/src/run.test.ts',
  'server/test/public-start.test.ts',
  'server/src/agent-sessions/model.test.ts',
  'server/test/files-crash.test.ts',
  'server/test/crash.test.ts',
  'server/test/import-crash.test.ts',
  'server/src/imports/run.test.ts',
  'server/src/exports/restores.test.ts',
  'server/src/exports/memory.test.ts',
  'server/src/imports/formats/csv.test.ts',
  'server/src/docs/samples.test.ts',
  'server/src/automations/year.test.ts',
  'server/src/imports/hostile.test.ts',
  'server/src/demo/demo.test.ts',
  'server/src/demo/agents.test.ts',
  'server/src/deletion/kill.test.ts',
  'server/test/nodes.test.ts',
  'server/test/package-install.test.ts',
  'cli/src/run/walk.test.ts',
  'cli/src/login.test.ts',
  'cli/src/run/ending.test.ts',
  'server/test/inside-agents.test.ts',
  'cli/src/run/git-flags.test.ts',
  'server/test/backup.test.ts',
  'server/test/backups.test.ts',
  'server/test/operate-database.test.ts',
  'server/test/rotate-key.test.ts',
  'server/test/operate.test.ts',
  'server/src/backup/backup.test.ts',
  'server/src/backup/schedule.test.ts',
  'cli/src/run/clean.test.ts',
  'server/test/npm-start.test.ts',
  'cli/src/run/repositories.test.ts',
  'cli/src/run/kills.test.ts',
  'server/test/end-to-end.test.ts',
  'cli/src/run/tools.test.ts',
  'cli/src/run/questions.test.ts',
  'cli/src/run/limits.test.ts',
  'cli/src/dev-start.test.ts',
  'cli/src/trigger.test.ts',
  'abuse/requests.test.ts',
  'cli/src/apps.test.ts',
]

/** Those that this commit does not run. */
export const leftToNextCommit = () => longTests.filter((_, index) => index % 3 !== runNumber() % 3)

/** Which of the requirements the files name. */
export function requirementsIn(files, all) {
  const texts = files.map((file) => readFileSync(join(root, file), 'utf8'))
  return all.filter((id) => texts.some((text) => text.includes(`'${id}'`)))
}
