import { type PGlite, protocol } from '@electric-sql/pglite'
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

/** The messages of one exchange. An error among them is thrown. */
type Messages = object[]

/**
 * Keeps statements prepared. PGlite's own `query` plans each one again, which takes longer than most take to run. All of
 * it is synchronous: the database has a thread of its own, which has nothing else to do.
 */
export class EmbeddedConnection {
  readonly #pglite: PGlite
  /** By text, least recently used first. */
  readonly #prepared = new Map<string, Prepared>()
  #lastNumber = 0
  readonly #generations = new PlanGenerations()
  #generation = 0

  constructor(pglite: PGlite) {
    this.#pglite = pglite
  }

  query({ text, values }: Sql): Result {
    const { name, serializers, columns } = this.#prepare(text)
    try {
      return resultOf(
        columns,
        this.#send(
          protocol.serialize.bind({
            statement: name,
            values: values.map((value, index) =>
              value === null ? null : (serializers[index]?.(value) ?? String(value)),
            ),
          }),
          protocol.serialize.execute(),
          protocol.serialize.sync(),
        ),
      )
    } catch (error) {
      if (isStalePlan(error)) this.#prepared.delete(text)
      throw error
    }
  }

  /** Returns the tag of the last command, such as COMMIT. */
  script(text: string): string | undefined {
    return commandOf(this.#send(protocol.serialize.query(text)))
  }

  /** Runs a COPY. Returns the lines that it wrote. */
  copy(text: string, lines: Uint8Array | null): Buffer {
    const { query, copyData, copyDone } = protocol.serialize
    const answer = this.#exchange(
      lines
        ? [
            query(text),
            copyData(lines.buffer.slice(lines.byteOffset, lines.byteOffset + lines.byteLength) as ArrayBuffer),
            copyDone(),
          ]
        : [query(text)],
    )
    const copied: Buffer[] = []
    // Each message: its kind, its length without the kind, its content. The parser of PGlite is slow for many of them.
    for (let at = 0; at < answer.length; at += 1 + answer.readUInt32BE(at + 1)) {
      const kind = answer[at]
      if (kind === copyDataKind) copied.push(answer.subarray(at + 5, at + 1 + answer.readUInt32BE(at + 1)))
      else if (kind === errorKind) throwErrorOf(answer)
    }
    return Buffer.concat(copied)
  }

  #prepare(text: string): Prepared {
    this.#enterGeneration(this.#generations.next())
    const known = this.#prepared.get(text)
    if (known) {
      this.#prepared.delete(text)
      this.#prepared.set(text, known)
      return known
    }
    this.#evictOldest()
    const name = `b_${++this.#lastNumber}`
    const messages = this.#send(
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

  #enterGeneration(generation: number) {
    if (generation === this.#generation) return
    this.#send(protocol.serialize.query('deallocate all'))
    this.#prepared.clear()
    this.#generation = generation
  }

  #evictOldest() {
    const [oldest] = this.#prepared
    if (!oldest || this.#prepared.size < statementsKept) return
    const [text, { name }] = oldest
    this.#prepared.delete(text)
    this.#send(protocol.serialize.close({ type: 'S', name }), protocol.serialize.sync())
  }

  #send(...requests: Uint8Array[]): Messages {
    const messages: Messages = []
    let error: Error | undefined
    new protocol.Parser().parse(this.#exchange(requests), (message) => {
      if (message instanceof protocol.messages.DatabaseError) error ??= message
      else messages.push(message)
    })
    if (error) throw error
    return messages
  }

  /**
   * Returns the bytes of the answer. PGlite's `execProtocolRawSync` also parses each answer and keeps the result until its
   * own `query` is called next; the form with a stream does not. It is asynchronous only in waiting for a file system
   * that has to be written afterwards, which is not asked for here, so all bytes are there when it returns.
   */
  #exchange(requests: Uint8Array[]): Buffer {
    const chunks: Buffer[] = []
    // A rejection is left unhandled: it is WebAssembly that stopped, and ends the thread.
    void this.#pglite.execProtocolRawStream(Buffer.concat(requests), {
      syncToFs: false,
      // The bytes are a view of memory that the next statement overwrites.
      onRawData: (bytes) => void chunks.push(Buffer.from(bytes)),
    })
    const answer = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
    if (answer.at(-readyForQueryLength) !== readyForQueryKind)
      throw new Error('The embedded database ended an answer early')
    return answer
  }
}

const [copyDataKind, errorKind, readyForQueryKind] = ['d', 'E', 'Z'].map((kind) => kind.charCodeAt(0))
/** The last message of every answer: its kind, four bytes of length, the state of the transaction. */
const readyForQueryLength = 6

function throwErrorOf(answer: Buffer) {
  new protocol.Parser().parse(answer, (message) => {
    if (message instanceof protocol.messages.DatabaseError) throw message
  })
}

const commandOf = (messages: Messages) =>
  messages.findLast((message) => message instanceof protocol.messages.CommandCompleteMessage)?.text

function resultOf(columns: Prepared['columns'], messages: Messages): Result {
  const rows: unknown[] = []
  for (const message of messages) {
    if (message instanceof protocol.messages.DataRowMessage) rows.push(rowOf(columns, message.fields))
  }
  // "SELECT 2", "UPDATE 3", "INSERT 0 5"
  return { rows, count: Number(commandOf(messages)?.split(' ').at(-1)) || 0 }
}

function rowOf(columns: Prepared['columns'], fields: (string | null)[]) {
  const row: Record<string, unknown> = {}
  for (let index = 0; index < columns.length; index++) {
    const { name, parse } = columns[index] as Prepared['columns'][number]
    const text = fields[index] ?? null
    row[name] = text !== null && parse ? parse(text) : text
  }
  return row
}
