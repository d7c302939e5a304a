import { Readable } from 'node:stream'
import { type AuditEntry, limits } from '@baton/protocol'
import { days, plus } from '../clock.ts'
import type { Context } from '../context.ts'
import { none, sql } from '../db/sql.ts'
import type { Member } from '../http/caller.ts'
import { csvLine } from '../http/csv.ts'
import { invalid } from '../http/errors.ts'
import { takeOneInHour } from '../http/rate-window.ts'
import { Reply } from '../http/route.ts'
import { auditColumns, auditTables } from './read.ts'

/** Entries read at once; an entry has at most a few kilobytes. */
const atOnce = 500

interface Wanted {
  from?: string
  to?: string
  format?: 'ndjson' | 'csv'
}

/** Streams every entry of the period, oldest first. The reader's speed sets how fast the log is read. */
export async function exportAuditEntries(ctx: Context, { workspaceId }: Member, wanted: Wanted) {
  const { db, clock } = ctx
  const to = wanted.to ? new Date(wanted.to) : clock.now()
  const from = wanted.from ? new Date(wanted.from) : plus(to, -days(limits.auditExportDays))
  if (from > to) throw invalid({ from: 'must not be after to' })
  if (plus(from, days(limits.auditExportDays)) < to) {
    throw invalid({ from: `must be at most ${limits.auditExportDays} days before to` })
  }
  await takeOneInHour(db, `audit export ${workspaceId}`, limits.auditExportsPerHour, clock.now())
  const { type, head, line } = formats[wanted.format ?? 'ndjson']
  const lines = async function* () {
    if (head) yield head
    for await (const entries of pages(ctx, workspaceId, from, to)) yield entries.map(line).join('')
  }
  const name = `audit-log-${day(from)}-to-${day(to)}.${wanted.format ?? 'ndjson'}`
  return new Reply(Readable.from(lines()), {
    'content-type': type,
    'content-disposition': `attachment; filename="${name}"`,
  })
}

async function* pages({ db }: Context, workspaceId: string, from: Date, to: Date): AsyncGenerator<AuditEntry[]> {
  let last: string | null = null
  do {
    const entries: AuditEntry[] = await db.rows<AuditEntry>(sql`
      select ${auditColumns} from ${auditTables}
      where a.workspace_id = ${workspaceId} and a.created_at >= ${from} and a.created_at <= ${to}
        ${last ? sql`and a.id > ${last}` : none}
      order by a.id limit ${atOnce}`)
    yield entries
    last = entries.length < atOnce ? null : (entries.at(-1)?.id ?? null)
  } while (last)
}

const day = (date: Date) => date.toISOString().slice(0, 10)

const columns = ['id', 'created_at', 'action', 'actor_id', 'actor_name', 'subject_id', 'details']

const cellsOf = ({ id, created_at, action, actor, subject_id, details }: AuditEntry) => [
  id,
  created_at,
  action,
  actor?.id ?? '',
  actor?.name ?? '',
  subject_id,
  JSON.stringify(details),
]

const formats = {
  ndjson: {
    type: 'application/x-ndjson; charset=utf-8',
    head: '',
    line: (entry: AuditEntry) => `${JSON.stringify(entry)}\n`,
  },
  csv: {
    type: 'text/csv; charset=utf-8',
    head: csvLine(columns),
    line: (entry: AuditEntry) => csvLine(cellsOf(entry)),
  },
}
