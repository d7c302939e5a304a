/**
 * Tests of what an embedded database does differently: these run on it. All others run on PostgreSQL where that is
 * installed, because they take half as long there.
 */
export const embeddedTests = [
  'server/src/db/**/*.test.ts',
  'server/src/backup/embedded.process.test.ts',
  'server/src/setting-files.process.test.ts',
  ...[
    'backup',
    'backups',
    'crash',
    'faults',
    'guides',
    'import-crash',
    'inside-agents',
    'metrics',
    'npm-start',
    'operate',
    'operate-database',
    'package-install',
    'public-start',
    'rotate-key',
    'start-and-stop',
  ].map((name) => `server/test/${name}.process.test.ts`),
]

/** Process tests of this list that say something on PostgreSQL too, where CI repeats them. */
export const repeatedOnPostgres = [
  'backup',
  'backups',
  'crash',
  'faults',
  'operate',
  'operate-database',
  'rotate-key',
  'start-and-stop',
].map((name) => `server/test/${name}.process.test.ts`)
