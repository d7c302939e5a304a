// The thread of the embedded database. It runs what the process sends, one request after another.
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { parentPort, workerData } from 'node:worker_threads'
import { PGlite } from '@electric-sql/pglite'
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm'
import { Disk } from './disk.ts'
import type { Answer, Request, Statement, ThreadOptions } from './embedded.ts'
import { EmbeddedConnection } from './embedded-connection.ts'
import { isoTimestamp } from './sql.ts'
import { Checkpoints } from './upkeep.ts'

const { where, disk: shared } = workerData as ThreadOptions
const port = parentPort as NonNullable<typeof parentPort>
// V8 optimises a function of PGlite once it has run for a while. By default that time is so short that a start spends a
// third of its work on it; with this one a busy function is optimised within its first second.
setFlagsFromString('--wasm-tiering-budget=100000000')
const pglite = await PGlite.create({ parsers: { 20: Number, 1184: isoTimestamp }, extensions: { pg_trgm }, ...where })
const connection = new EmbeddedConnection(pglite)
const checkpoints = new Checkpoints(connection)
const disk = shared && new Disk(shared)
let inTransaction = false

const answer = (message: Answer) => port.postMessage(message)

port.on('message', async (request: Request) => {
  if (request === 'close') {
    await pglite.close()
    port.close()
    return
  }
  if (request === 'memory') {
    answer({ heap: getHeapStatistics().used_heap_size, wasm: pglite.Module.HEAPU8.length })
    return
  }
  const startedAt = performance.now()
  try {
    answer(run(request))
  } catch (error) {
    if (isFatal(error)) throw error
    answer({
      error: { ...(error as Error), message: (error as Error).message },
      ms: performance.now() - startedAt,
    })
  }
})
answer({ ready: true })

/**
 * WebAssembly stopped, so the database itself is broken: the thread ends, and the process with it. A bad value or
 * statement is no such error.
 */
const isFatal = (error: unknown) => ['RuntimeError', 'ExitStatus'].includes((error as Error).name)

function run(request: Statement): Answer {
  if (!inTransaction) maintain(request.text)
  if (request.begin) {
    connection.script('begin')
    inTransaction = true
  }
  if ('values' in request) {
    const startedAt = performance.now()
    return { ...connection.query(request), ms: performance.now() - startedAt }
  }
  if ('copies' in request) return { copied: connection.copy(request.text, request.copies) }
  if (request.ends) inTransaction = false
  return { command: connection.script(request.text) }
}

function maintain(text: string) {
  const message = disk?.check()
  if (message) {
    answer({ print: message })
    connection.script(`set default_transaction_read_only = ${disk?.isFull ? 'on' : 'off'}`)
  }
  checkpoints.makeIfDue(text)
}
