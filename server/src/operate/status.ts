import { differingMigrations, migrationNames } from '../db/migrate.ts'
import { sql } from '../db/sql.ts'
import { version } from '../service.ts'
import { type Command, exitCodes } from './command.ts'

export const status: Command = {
  name: 'status',
  usage: '',
  summary: 'Prints the version, the database and whether its migrations are those of this version.',
  parameters: {},
  needs: 'database',
  unchecked: true,
  async run({ ctx: { db, config } }) {
    const { server, bytes } = (await db.row<{ server: string; bytes: number }>(sql`
      select current_setting('server_version') as server, pg_database_size(current_database())::float8 as bytes`)) as {
      server: string
      bytes: number
    }
    const { missing, unknown } = await differingMigrations(db)
    const ok = missing.length + unknown.length === 0
    return {
      exit: ok ? exitCodes.done : exitCodes.failed,
      json: {
        version,
        root_url: config.rootUrl,
        database: { kind: db.kind, version: server, bytes },
        migrations: { expected: migrationNames().length, missing, unknown },
      },
      text: [
        `Baton ${version} at ${config.rootUrl}`,
        `Database: ${db.kind}, PostgreSQL ${server}, ${bytes} bytes`,
        ok
          ? `Migrations: all ${migrationNames().length} are applied`
          : `Migrations: missing ${missing.join(', ') || 'none'}; not of this version ${unknown.join(', ') || 'none'}`,
      ],
    }
  },
}
