import { once } from 'node:events'
import { mkdirSync, rmSync, statSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import { type Answer, Arguments, type Call, type Command, exitCodes, type Values } from './command.ts'
import { answerOf, findCommand, problem } from './run-command.ts'

/** One line of the response: what a running command prints, and its answer at last. */
export type Line = { progress: string } | { bytes: string } | { answer: Required<Answer> }

export interface Typed {
  values: Values
  password?: string
}

/** Node cuts longer paths without an error. */
const longestPath = 100
const maxBodyBytes = 64 * 1024
const pathPrefix = '/operate/'

export const commandPath = (name: string) => `${pathPrefix}${name}`

/** Where a service on the embedded database serves commands; null with PostgreSQL. */
export const socketPath = ({ database, operateSocket }: Config): string | null =>
  database.kind === 'embedded' ? resolve(operateSocket ?? join(database.dataDir, 'operate.sock')) : null

/**
 * Serves the commands of a running embedded service, which alone can use its database. The rights of the file are the
 * authority: a process that may open the socket may also read the database. Returns a function that stops it.
 */
export async function serveCommands(ctx: Context, commands: readonly Command[]): Promise<() => Promise<void>> {
  const path = socketPath(ctx.config)
  const unusable = path && (problemOf(path) ?? (await prepare(path)))
  if (!path || unusable) {
    if (unusable) ctx.log.warn({ path }, unusable)
    return async () => {}
  }
  const stopping = new AbortController()
  const server = createServer((request, response) => {
    handle(ctx, commands, stopping.signal, request, response).catch((error: Error) => {
      ctx.log.error({ message: error.message }, 'an operate command failed')
      response.destroy()
    })
  })
  // The mode applies from the first moment; a later chmod would leave one in which others can connect.
  const umask = process.umask(0o177)
  try {
    server.listen(path)
  } finally {
    process.umask(umask)
  }
  try {
    await once(server, 'listening')
  } catch (error) {
    ctx.log.warn({ path, message: (error as Error).message }, 'operate commands cannot reach this process')
    return async () => {}
  }
  return async () => {
    stopping.abort()
    await new Promise((done) => server.close(done))
  }
}

function problemOf(path: string): string | undefined {
  if (Buffer.byteLength(path) <= longestPath) return undefined
  return `operate commands cannot reach this process: the path of its socket is longer than ${longestPath} bytes; set BATON_OPERATE_SOCKET to a shorter one`
}

/** Makes the directory, and removes the socket of a process that ended without doing so. */
async function prepare(path: string): Promise<string | undefined> {
  const directory = dirname(path)
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    if (statSync(directory).mode & 0o002) {
      return 'operate commands cannot reach this process: other users can write to the directory of its socket; set BATON_OPERATE_SOCKET to a path in a private directory'
    }
    const found = statSync(path, { throwIfNoEntry: false })
    if (!found) return undefined
    // Never another file that a mistaken setting names.
    if (!found.isSocket() || (await answers(path))) {
      return 'operate commands cannot reach this process: the path of its socket is in use; set BATON_OPERATE_SOCKET to another one'
    }
    rmSync(path)
    return undefined
  } catch (error) {
    return `operate commands cannot reach this process: its socket cannot be made: ${(error as Error).message}`
  }
}

export const answers = (path: string) =>
  new Promise<boolean>((done) => {
    const probe = connect(path)
    probe.once('connect', () => done(true)).once('error', () => done(false))
    probe.once('connect', () => probe.destroy())
  })

async function handle(
  ctx: Context,
  commands: readonly Command[],
  stopping: AbortSignal,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const name = request.method === 'POST' && request.url?.startsWith(pathPrefix) && request.url.slice(pathPrefix.length)
  const command = name ? findCommand(commands, name) : undefined
  if (command?.needs !== 'database') {
    request.resume()
    return void response.writeHead(404, { 'content-type': 'text/plain' }).end('Not found\n')
  }
  const typed = await readBody(request)
  if (!typed) return void response.writeHead(400, { 'content-type': 'text/plain' }).end('Bad request\n')
  response.writeHead(200, { 'content-type': 'application/x-ndjson' })
  response.flushHeaders()
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  const send = async (line: Line) => {
    if (response.destroyed) throw new Error('the command was ended')
    if (!response.write(`${JSON.stringify(line)}\n`)) {
      await once(response, 'drain', { signal: gone.signal })
    }
  }
  const call: Call = {
    arguments: new Arguments(typed.values),
    ...(typed.password === undefined ? {} : { password: typed.password }),
    config: ctx.config,
    progress: (line) => void send({ progress: line }).catch(() => {}),
    write: (bytes) => send({ bytes: bytes.toString('base64') }),
    signal: AbortSignal.any([stopping, gone.signal]),
  }
  const answer = await answerOf(() => command.run({ ...call, ctx })).catch((error: Error) => {
    ctx.log.error({ command: name, message: error.message }, 'an operate command failed')
    return problem(exitCodes.failed, error.message)
  })
  await send({ answer })
  response.end()
}

/** Undefined if it is too long or of another form. */
async function readBody(request: IncomingMessage): Promise<Typed | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    // The rest is read too, so that the client gets the answer.
    bytes += chunk.length
    if (bytes <= maxBodyBytes) chunks.push(chunk)
  }
  if (bytes > maxBodyBytes) return undefined
  try {
    const { values, password } = JSON.parse(Buffer.concat(chunks).toString()) as Typed
    const isText = (value: unknown) => typeof value === 'string' || value === true
    if (!Object.values(values).every(isText) || !['string', 'undefined'].includes(typeof password)) return undefined
    return { values, ...(password === undefined ? {} : { password }) }
  } catch {
    return undefined
  }
}
