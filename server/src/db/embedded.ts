import { Mutex, PGlite, type PGliteOptions, protocol } from '@electric-sql/pglite'
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm'
import { type Driver, mustCommit, type Result } from './database.ts'
import type { Disk } from './disk.ts'
import { Eras } from './eras.ts'
import { isoTimestamp, type Sql } from './sql.ts'

const options: PGliteOptions = { parsers: { 20: Number, 1184: isoTimestamp }, extensions: { pg_trgm } }

/** PGlite: PostgreSQL inside this process, one connection, one process per directory. */
export async function openEmbedded(where: PGliteOptions, disk?: Disk): Promise<Driver> {
  const pglite = await PGlite.create({ ...options, ...where })
  const connection = new Connection(pglite)
  const turns = new Mutex()
  const takeTurn = <T>(work: () => Promise<T>) =>
    turns.runExclusive(async () => {
      if (disk?.hasChanged())
        await connection.script(`set default_transaction_read_only = ${disk.isFull ? 'on' : 'off'}`)
      return work()
    })
  return {
    kind: 'embedded',
    query: (statement) => takeTurn(() => connection.query(statement)),
    transaction: (work) =>
      takeTurn(async () => {
        await connection.script('begin')
        try {
          const result = await work(
            (statement) => connection.query(statement),
            async (text) => void (await connection.script(text)),
          )
          mustCommit(await connection.script('commit'))
          return result
        } catch (error) {
          await connection.script('rollback')
          throw error
        }
      }),
    listen: () => ({ ready: Promise.resolve(), stop: async () => {} }),
    close: () => turns.runExclusive(() => pglite.close()),
  }
}

/** A plan takes tens of kilobytes, and the memory of WebAssembly never shrinks. */
const statementsKept = 400

interface Prepared {
  name: string
  serializers: (((value: unknown) => string) | undefined)[]
  columns: { name: string; parse: ((text: string) => unknown) | undefined }[]
}

/** PGlite's own `query` has each statement planned anew, which takes longer than most take to run: here they stay prepared. */
class Connection {
  readonly #pglite: PGlite
  /** By their text; the one that was used longest ago comes first. */
  readonly #prepared = new Map<string, Prepared>()
  /** Several may be asked for at once within a transaction. */
  readonly #turns = new Mutex()
  #named = 0
  readonly #eras = new Eras()
  #era = 0

  constructor(pglite: PGlite) {
    this.#pglite = pglite
  }

  query(statement: Sql): Promise<Result> {
    return this.#turns.runExclusive(() => this.#query(statement))
  }

  async #query({ text, values }: Sql): Promise<Result> {
    const { name, serializers, columns } = await this.#prepare(text)
    const messages = await this.#send(
      protocol.serialize.bind({
        statement: name,
        values: values.map((value, index) => (value === null ? null : (serializers[index]?.(value) ?? String(value)))),
      }),
      protocol.serialize.execute(),
      protocol.serialize.sync(),
    )
    const rows = messages.flatMap((message) =>
      message instanceof protocol.messages.DataRowMessage ? [rowOf(columns, message.fields)] : [],
    )
    // "SELECT 2", "UPDATE 3", "INSERT 0 5"
    return { rows, count: Number(commandOf(messages)?.split(' ').at(-1)) || 0 }
  }

  /** Returns the name of its last command. */
  script(text: string): Promise<string | undefined> {
    return this.#turns.runExclusive(async () => commandOf(await this.#send(protocol.serialize.query(text))))
  }

  async #prepare(text: string): Promise<Prepared> {
    await this.#enter(this.#eras.next())
    const known = this.#prepared.get(text)
    if (known) {
      this.#prepared.delete(text)
      this.#prepared.set(text, known)
      return known
    }
    await this.#forgetOldest()
    const name = `b_${++this.#named}`
    const messages = await this.#send(
      protocol.serialize.parse({ name, text }),
      protocol.serialize.describe({ type: 'S', name }),
      protocol.serialize.sync(),
    )
    const prepared: Prepared = { name, serializers: [], columns: [] }
    for (const message of messages) {
      if (message instanceof protocol.messages.ParameterDescriptionMessage)
        prepared.serializers = message.dataTypeIDs.map((type) => this.#pglite.serializers[type])
      else if (message instanceof protocol.messages.RowDescriptionMessage)
        prepared.columns = message.fields.map(({ name, dataTypeID }) => ({
          name,
          parse: this.#pglite.parsers[dataTypeID],
        }))
    }
    this.#prepared.set(text, prepared)
    return prepared
  }

  async #enter(era: number) {
    if (era === this.#era) return
    await this.#send(protocol.serialize.query('deallocate all'))
    this.#prepared.clear()
    this.#era = era
  }

  async #forgetOldest() {
    const [oldest] = this.#prepared
    if (!oldest || this.#prepared.size < statementsKept) return
    const [text, { name }] = oldest
    this.#prepared.delete(text)
    await this.#send(protocol.serialize.close({ type: 'S', name }), protocol.serialize.sync())
  }

  #send(...messages: Uint8Array[]) {
    return this.#pglite.execProtocolStream(Buffer.concat(messages))
  }
}

const commandOf = (messages: object[]) =>
  messages.findLast((message) => message instanceof protocol.messages.CommandCompleteMessage)?.text

function rowOf(columns: Prepared['columns'], fields: (string | null)[]) {
  const row: Record<string, unknown> = {}
  for (const [index, { name, parse }] of columns.entries()) {
    const text = fields[index] ?? null
    row[name] = text !== null && parse ? parse(text) : text
  }
  return row
}
