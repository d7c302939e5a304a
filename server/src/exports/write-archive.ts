import type { Readable } from 'node:stream'
import type { Context } from '../context.ts'
import type { Queryable } from '../db/database.ts'
import { Sql, sql } from '../db/sql.ts'
import { NoSuchKey, type Storage } from '../storage/storage.ts'
import { ArchiveWriter, paths } from './archive.ts'
import type { Row, Table, TableName } from './columns.ts'
import { tableOfPrefix, tables } from './contents.ts'
import { IdList } from './id-list.ts'
import { formatName, formatVersion, type Manifest, partRows } from './manifest.ts'

/** A part ends before it has this size, unless a single row is larger. */
const partBytes = 4 * 1024 * 1024
/** Rows are read in pages of about this size. */
const pageBytes = 2 * 1024 * 1024
const firstPage = 100
const parentsAtOnce = 1000

export interface WrittenArchive {
  bytes: number
  read: () => Readable
  /** Deletes the temporary files. */
  close: () => Promise<void>
}

/** Writes everything that a workspace shares into a temporary archive. Its memory does not grow with texts and files. */
export async function writeArchive(
  ctx: Context,
  storage: Storage,
  workspaceId: string,
  signal?: AbortSignal,
): Promise<WrittenArchive> {
  const archive = await ArchiveWriter.create(ctx.clock.now())
  try {
    const collected = await inSnapshot(ctx, (db) =>
      new Collector(db, archive, workspaceId, ctx.clock.now(), signal).run(),
    )
    const { manifest, users, files } = collected
    for (const { id, bytes } of files) {
      signal?.throwIfAborted()
      const content = await storage.read(`files/${id}`).catch((error) => {
        if (error instanceof NoSuchKey) return null
        throw error
      })
      if (content === null) {
        manifest.missing_files++
        manifest.files.count--
        manifest.files.bytes -= bytes
      } else await archive.addStream(paths.file(id), bytes, content)
    }
    return { ...(await archive.finish(manifest, users)), close: () => archive.close() }
  } catch (error) {
    await archive.close()
    throw error
  }
}

/**
 * PostgreSQL shows one moment to all queries (export.consistent). The embedded database has a single connection, which
 * other requests need, so that rows are read in pages of different moments.
 */
const inSnapshot = <T>({ db }: Context, work: (db: Queryable) => Promise<T>): Promise<T> =>
  db.kind === 'embedded'
    ? work(db)
    : db.tx(async (tx) => {
        await tx.script(`
          set transaction isolation level repeatable read read only;
          set local idle_in_transaction_session_timeout = 0`)
        return work(tx)
      })

interface Collected {
  manifest: Manifest
  /** Parts with the users, who are known when all rows that refer to them were read. */
  users: { path: string; data: Buffer }[]
  files: { id: string; bytes: number }[]
}

class Collector {
  readonly #db: Queryable
  readonly #archive: ArchiveWriter
  readonly #workspaceId: string
  readonly #now: Date
  readonly #signal: AbortSignal | undefined
  readonly #ids = new Map<TableName, IdList>()
  readonly #users = new Set<string>()
  readonly #rows: Record<string, number> = {}
  readonly #files: { id: string; bytes: number }[] = []
  #dropped = 0

  constructor(db: Queryable, archive: ArchiveWriter, workspaceId: string, now: Date, signal?: AbortSignal) {
    this.#db = db
    this.#archive = archive
    this.#workspaceId = workspaceId
    this.#now = now
    this.#signal = signal
    for (const { name, prefix } of tables) if (prefix) this.#ids.set(name, new IdList(prefix))
  }

  async run(): Promise<Collected> {
    const described = await this.#describe()
    for (const table of tables) if (table.name !== 'users') await this.#export(table)
    const users = await this.#readUsers()
    const bytes = this.#files.reduce((sum, file) => sum + file.bytes, 0)
    return {
      manifest: {
        format: formatName,
        version: formatVersion,
        created_at: this.#now.toISOString(),
        ...described,
        rows: Object.fromEntries(tables.map(({ name }) => [name, this.#rows[name] ?? 0])),
        files: { count: this.#files.length, bytes },
        dropped_references: this.#dropped,
        missing_files: 0,
      },
      users,
      files: this.#files,
    }
  }

  async #describe(): Promise<Pick<Manifest, 'workspace' | 'excluded'>> {
    const id = this.#workspaceId
    const row = await this.#db.row<{ workspace: Manifest['workspace']; excluded: Manifest['excluded'] }>(sql`
      select jsonb_build_object('id', id, 'name', name, 'guidance', guidance, 'last_issue_number', last_issue_number) as workspace,
        created_at, updated_at,
        jsonb_build_object(
          'personal_issues', (select count(*) from issues where workspace_id = ${id} and personal),
          'personal_projects', (select count(*) from projects where workspace_id = ${id} and personal),
          'private_views', (select count(*) from views where workspace_id = ${id} and not shared)) as excluded
      from workspaces where id = ${id}`)
    if (!row) throw new Error(`workspace ${id} does not exist`)
    const { workspace, excluded, ...times } = row
    return { workspace: { ...workspace, ...times }, excluded }
  }

  async #export(table: Table) {
    const parts = new PartWriter(this.#archive, table.name)
    const own = this.#ids.get(table.name)
    for await (const page of this.#pages(table)) {
      const linked = table.name === 'files' ? await this.#linkedFiles(page) : null
      for (const row of page) {
        if (linked && !linked.has(row.id as string)) continue
        if (!this.#resolve(table, row)) continue
        // A row that moved to a later page of the embedded database was written already.
        if (own && !own.add(row.id as string)) continue
        if (linked) this.#files.push({ id: row.id as string, bytes: row.bytes as number })
        await parts.add(row)
      }
    }
    this.#rows[table.name] = await parts.finish()
  }

  async *#pages(table: Table): AsyncGenerator<Row[]> {
    const { from } = table
    if (!Array.isArray(from)) {
      yield* this.#pagesBy(table, from.key, (values) => `t.workspace_id = $${values.push(this.#workspaceId)}`)
      return
    }
    for (const { parent, column, key } of from) {
      for (const ids of (this.#ids.get(parent) as IdList).chunks(parentsAtOnce)) {
        yield* this.#pagesBy(table, [column, ...key], (values) => `t."${column}" = any($${values.push(ids)})`)
      }
    }
  }

  /** Pages in the order of the key. The statement's text is the same for each page, so it is planned once. */
  async *#pagesBy(table: Table, key: string[], condition: (values: unknown[]) => string): AsyncGenerator<Row[]> {
    let after: unknown[] | null = null
    for (let count = firstPage; ; ) {
      const values: unknown[] = []
      const conditions = [condition(values)]
      if (table.where) conditions.push(`(${table.where})`)
      if (after) {
        const names = key.map((column) => `t."${column}"`).join(', ')
        conditions.push(`(${names}) > (${after.map((value) => `$${values.push(value)}`).join(', ')})`)
      }
      const page = await this.#db.rows<Row>(
        new Sql(
          `select ${selected(table)}, ${key.map((column, index) => `t."${column}" as key_${index}`).join(', ')}
          from ${table.stored ?? table.name} t where ${conditions.join(' and ')}
          order by ${key.map((column) => `t."${column}"`).join(', ')} limit $${values.push(count)}`,
          values,
        ),
      )
      this.#signal?.throwIfAborted()
      if (page.length === 0) return
      after = key.map((_, index) => (page.at(-1) as Row)[`key_${index}`])
      for (const row of page) for (const index of key.keys()) delete row[`key_${index}`]
      yield page
      if (page.length < count) return
      const bytes = page.reduce((sum, row) => sum + sizeOf(row), 0)
      count = Math.max(10, Math.min(partRows, Math.floor((pageBytes * page.length) / bytes)))
    }
  }

  /** Replaces references to rows that are not in the archive. False if the row cannot do without one. */
  #resolve(table: Table, row: Row): boolean {
    for (const [name, column] of Object.entries(table.columns)) {
      if (!column.ref) continue
      const value = row[name]
      if (column.many) {
        const kept = (value as string[]).filter((id) => this.#knows(column.ref as TableName, id))
        this.#dropped += (value as string[]).length - kept.length
        row[name] = kept
      } else if (value !== null && !this.#knows(column.ref, value as string)) {
        this.#dropped++
        if (!column.optional) return false
        row[name] = null
      }
    }
    return true
  }

  #knows(ref: TableName | 'any', id: string): boolean {
    const table = ref === 'any' ? tableOfPrefix.get(id.slice(0, id.indexOf('_'))) : ref
    if (table === 'users') this.#users.add(id)
    return table === 'users' || (table !== undefined && (this.#ids.get(table)?.has(id) ?? false))
  }

  /** The files that an exported item shows. */
  async #linkedFiles(page: Row[]): Promise<Set<string>> {
    const links = await this.#db.rows<{ file_id: string; target_id: string }>(sql`
      select file_id, target_id from file_links where file_id = any(${page.map(({ id }) => id)})`)
    return new Set(links.filter((link) => this.#knows('any', link.target_id)).map((link) => link.file_id))
  }

  async #readUsers() {
    const table = tables.find(({ name }) => name === 'users') as Table
    const id = this.#workspaceId
    const current = await this.#db.rows<{ id: string }>(sql`
      select user_id as id from memberships where workspace_id = ${id}
      union select app_user_id from installations where workspace_id = ${id}
      union select user_id from inside_agents where workspace_id = ${id} and owner_id is null
      union select id from users where placeholder_in = ${id}`)
    for (const user of current) this.#users.add(user.id)
    const parts: { path: string; data: Buffer }[] = []
    const ids = [...this.#users].sort()
    for (let from = 0; from < ids.length; from += partRows) {
      const chunk = ids.slice(from, from + partRows)
      const rows = await this.#db.rows<Row>(
        new Sql(`select ${selected(table)} from users t where t.id = any($2)`, [id, chunk]),
      )
      const byId = new Map(rows.map((row) => [row.id, row]))
      const lines = chunk.map((one) => `${JSON.stringify(byId.get(one) ?? this.#former(one))}\n`)
      parts.push({ path: paths.part('users', parts.length + 1), data: Buffer.from(lines.join('')) })
    }
    this.#rows.users = ids.length
    return parts
  }

  /** A user who was deleted after a row that names them was read. */
  #former(id: string): Row {
    const created_at = this.#now.toISOString()
    return { id, user_kind: 'human', agent_kind: null, display_name: 'Former user', email: null, created_at }
  }
}

const selected = ({ columns }: Table) =>
  Object.entries(columns)
    .map(([name, column]) => `${column.sql ?? `t."${name}"`} as "${name}"`)
    .join(', ')

/** About the size of its JSON. */
const sizeOf = (row: Row) => JSON.stringify(row).length

class PartWriter {
  readonly #archive: ArchiveWriter
  readonly #table: string
  #lines: Buffer[] = []
  #bytes = 0
  #parts = 0
  #rows = 0

  constructor(archive: ArchiveWriter, table: string) {
    this.#archive = archive
    this.#table = table
  }

  async add(row: Row) {
    const line = Buffer.from(`${JSON.stringify(row)}\n`)
    if (this.#lines.length > 0 && this.#bytes + line.length > partBytes) await this.#flush()
    this.#lines.push(line)
    this.#bytes += line.length
    this.#rows++
    if (this.#lines.length === partRows) await this.#flush()
  }

  /** Returns the number of rows. */
  async finish(): Promise<number> {
    await this.#flush()
    return this.#rows
  }

  async #flush() {
    if (this.#lines.length === 0) return
    await this.#archive.add(paths.part(this.#table, ++this.#parts), Buffer.concat(this.#lines))
    this.#lines = []
    this.#bytes = 0
  }
}
