// npm run test:backup: backs up an embedded database of 500 MB under writes, and moves 100,000 issues to PostgreSQL.
import { ownCommand } from './own-command.mjs'
import { withPostgres } from './postgres.mjs'
import { install, main } from './setup.mjs'

await main(async () => {
  await install()
  await withPostgres((url) =>
    ownCommand('npm run test:backup', ['release/backup.test.ts'], { env: { DATABASE_URL: url } }),
  )
})
