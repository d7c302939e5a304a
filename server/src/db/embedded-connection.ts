import { Mutex, type PGlite, protocol } from '@electric-sql/pglite'
import { isStalePlan, type Result } from './database.ts'
import { PlanGenerations } from './plan-generations.ts'
import type { Sql } from './sql.ts'

/** A plan takes tens of kilobytes, and the memory of WebAssembly never shrinks. */
const statementsKept = 400

interface Prepared {
  name: string
  serializers: (((value: unknown) => string) | undefined)[]
  columns: { name: string; parse: ((text: string) => unknown) | undefined }[]
}

/** Keeps statements prepared. PGlite's own `query` plans each one again, which takes longer than most take to run. */
export class EmbeddedConnection {
  readonly #pglite: PGlite
  /** By text, least recently used first. */
  readonly #prepared = new Map<string, Prepared>()
  /** PGlite would mix up the responses of concurrent statements. */
  readonly #turns = new Mutex()
  #lastNumber = 0
  readonly #generations = new PlanGenerations()
  #generation = 0

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
    ).catch((error) => {
      if (isStalePlan(error)) this.#prepared.delete(text)
      throw error
    })
    const rows = messages.flatMap((message) =>
      message instanceof protocol.messages.DataRowMessage ? [rowOf(columns, message.fields)] : [],
    )
    // "SELECT 2", "UPDATE 3", "INSERT 0 5"
    return { rows, count: Number(commandOf(messages)?.split(' ').at(-1)) || 0 }
  }

  /** Returns the tag of the last command, such as COMMIT. */
  script(text: string): Promise<string | undefined> {
    return this.#turns.runExclusive(async () => commandOf(await this.#send(protocol.serialize.query(text))))
  }

  async #prepare(text: string): Promise<Prepared> {
    await this.#enterGeneration(this.#generations.next())
    const known = this.#prepared.get(text)
    if (known) {
      this.#prepared.delete(text)
      this.#prepared.set(text, known)
      return known
    }
    await this.#evictOldest()
    const name = `b_${++this.#lastNumber}`
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

  async #enterGeneration(generation: number) {
    if (generation === this.#generation) return
    await this.#send(protocol.serialize.query('deallocate all'))
    this.#prepared.clear()
    this.#generation = generation
  }

  async #evictOldest() {
    const [oldest] = this.#prepared
    if (!oldest || this.#prepared.size < statementsKept) return
    const [text, { name }] = oldest
    this.#prepared.delete(text)
    await this.#send(protocol.serialize.close({ type: 'S', name }), protocol.serialize.sync())
  }

  async #send(...messages: Uint8Array[]) {
    if (this.#pglite.closed) throw new Error('the database is closed')
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
