import type { Queryable } from '../db/database.ts'
import { Sql, sql } from '../db/sql.ts'
import type { Row, Table, TableName } from './columns.ts'
import { tableOfPrefix, tables } from './contents.ts'
import { IdList } from './id-list.ts'
import type { Manifest } from './manifest.ts'
import { type ArchiveHandler, ArchiveProblem } from './read-archive.ts'

/** What is known of an archive once all of it was read. */
export interface CheckedArchive {
  manifest: Manifest
  ids: Map<TableName, IdList>
  /** The person's id in the archive, if they are in it with this verified address. */
  personId: string | null
  builtInAgentId: string | null
  /** Whether a row of this instance has one of the ids. */
  idsTaken: boolean
}

const targets: Record<string, TableName> = {
  issue: 'issues',
  project: 'projects',
  comment: 'comments',
  session: 'agent_sessions',
}

/**
 * The first reading of an archive, which writes nothing: every id occurs once and every reference is to a row of the
 * archive, so that a restored row can never point into another workspace.
 */
export class ArchiveCheck implements ArchiveHandler {
  readonly #db: Queryable
  readonly #email: string | null
  readonly #maxFileBytes: number
  readonly #ids = new Map<TableName, IdList>()
  readonly #fileBytes: number[] = []
  readonly #filesSeen = new Set<string>()
  /** Position of the row that each row follows, for the tables in which rows follow each other. */
  readonly #above = new Map<TableName, Int32Array>()
  #manifest: Manifest | undefined
  #personId: string | null = null
  #builtInAgentId: string | null = null
  #idsTaken = false

  /** `email` is the person's verified address, or null. */
  constructor(db: Queryable, email: string | null, maxFileBytes: number) {
    this.#db = db
    this.#email = email
    this.#maxFileBytes = maxFileBytes
    for (const { name, prefix } of tables) if (prefix) this.#ids.set(name, new IdList(prefix))
  }

  result(): CheckedArchive {
    this.#mustEnd('issue_parents', 'An issue is its own ancestor.')
    this.#mustEnd('issue_duplicates', 'An issue is a duplicate of itself.')
    this.#mustEnd('comment_parents', 'A comment is a reply to itself.')
    return {
      manifest: this.#manifest as Manifest,
      ids: this.#ids,
      personId: this.#personId,
      builtInAgentId: this.#builtInAgentId,
      idsTaken: this.#idsTaken,
    }
  }

  async manifest(manifest: Manifest) {
    this.#manifest = manifest
    if (manifest.files.bytes > this.#maxFileBytes) {
      throw new ArchiveProblem(
        `The files have ${manifest.files.bytes} bytes. A workspace of this instance has at most ${this.#maxFileBytes}.`,
      )
    }
    this.#idsTaken = Boolean(await this.#db.row(sql`select 1 from workspaces where id = ${manifest.workspace.id}`))
  }

  async rows(table: Table, rows: Row[], problem: (index: number, message: string) => ArchiveProblem) {
    for (const [index, row] of rows.entries()) {
      const complaint = this.#complaint(table, row)
      if (complaint) throw problem(index, complaint)
    }
    if (table.prefix && !this.#idsTaken) {
      const ids = rows.map(({ id }) => id as string).filter((id) => id !== this.#personId)
      const taken = await this.#db.row(new Sql(`select 1 from ${table.name} where id = any($1) limit 1`, [ids]))
      this.#idsTaken = Boolean(taken)
    }
  }

  async file(id: string, bytes: number, content: AsyncIterable<Buffer>, path: string) {
    const index = this.#ids.get('files')?.indexOf(id) ?? -1
    if (index < 0 || this.#filesSeen.has(id) || this.#fileBytes[index] !== bytes) {
      throw new ArchiveProblem('The file is not in the list of files, or has another size there.', path)
    }
    this.#filesSeen.add(id)
    for await (const _ of content);
  }

  #complaint(table: Table, row: Row): string | null {
    for (const [name, column] of Object.entries(table.columns)) {
      if (!column.ref || row[name] === null) continue
      for (const id of column.many ? (row[name] as string[]) : [row[name] as string]) {
        if (!this.#knows(column.ref, id)) return `${name} refers to ${id}, which is not in the archive before it.`
      }
    }
    if (table.prefix && !this.#ids.get(table.name)?.add(row.id as string)) return 'The id occurs twice.'
    return this.#rules[table.name]?.(row) ?? null
  }

  #knows(ref: TableName | 'any', id: string) {
    const table = ref === 'any' ? tableOfPrefix.get(id.slice(0, id.indexOf('_'))) : ref
    return table !== undefined && (this.#ids.get(table)?.has(id) ?? false)
  }

  /** Rules of single tables; the database has the others. */
  readonly #rules: { [Name in TableName]?: (row: Row) => string | null } = {
    users: (row) => {
      if ((row.user_kind === 'human') !== (row.agent_kind === null)) return 'agent_kind does not fit user_kind.'
      if (row.user_kind === 'human' && this.#personId === null && this.#email !== null) {
        if (String(row.email).toLowerCase() === this.#email) this.#personId = row.id as string
      }
      if (row.agent_kind === 'deployment') this.#builtInAgentId ??= row.id as string
      return null
    },
    issue_parents: (row) => this.#follows('issue_parents', 'issues', row.issue_id, row.parent_id),
    issue_duplicates: (row) => this.#follows('issue_duplicates', 'issues', row.issue_id, row.duplicate_of_id),
    comments: (row) =>
      (row.issue_id === null) === (row.project_id === null) ? 'A comment belongs to one issue or one project.' : null,
    comment_parents: (row) => this.#follows('comment_parents', 'comments', row.comment_id, row.parent_comment_id),
    agent_sessions: (row) =>
      row.issue_id !== null && row.project_id !== null ? 'A session is about one issue or one project.' : null,
    files: (row) => {
      this.#fileBytes.push(row.bytes as number)
      return null
    },
    file_links: (row) =>
      this.#knows(targets[row.target_type as string] as TableName, row.target_id as string)
        ? null
        : 'target_id does not fit target_type.',
  }

  #follows(relation: TableName, of: TableName, id: unknown, aboveId: unknown): string | null {
    const ids = this.#ids.get(of) as IdList
    let above = this.#above.get(relation)
    if (!above) {
      above = new Int32Array(ids.size)
      this.#above.set(relation, above)
    }
    const index = ids.indexOf(id as string)
    if (above[index] !== 0) return 'The row occurs twice.'
    above[index] = ids.indexOf(aboveId as string) + 1
    return null
  }

  /** Throws if following the rows of a relation does not come to an end. */
  #mustEnd(relation: TableName, message: string) {
    const above = this.#above.get(relation)
    if (!above) return
    // 0: not visited; the number of the walk that visited it otherwise.
    const visited = new Int32Array(above.length)
    for (let start = 0; start < above.length; start++) {
      let at = start
      while (visited[at] === 0 && above[at] !== 0) {
        visited[at] = start + 1
        at = (above[at] as number) - 1
      }
      if (visited[at] === start + 1 && above[at] !== 0) throw new ArchiveProblem(message)
      visited[at] ||= start + 1
    }
  }
}
