import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { createInterface } from 'node:readline'
import { ConfigError } from '../config.ts'
import { type Answer, asItsUser, type Call, isForbidden } from './command.ts'
import { commandPath, type Line } from './socket.ts'

/** Runs a command in the service that listens on the socket. Undefined if none does. */
export async function askService(
  socket: string,
  name: string,
  call: Omit<Call, 'config'>,
): Promise<Required<Answer> | undefined> {
  const response = await send(socket, name, call)
  if (!response) return undefined
  if (response.statusCode !== 200) {
    response.resume()
    throw new ConfigError('The running service does not know this command: it is of another version. Restart it.')
  }
  for await (const text of createInterface({ input: response })) {
    const line = JSON.parse(text) as Line
    if ('answer' in line) return line.answer
    if ('progress' in line) call.progress(line.progress)
    else await call.write(Buffer.from(line.bytes, 'base64'))
  }
  throw new ConfigError('The service ended before it finished the command. Start it and run the command again.')
}

async function send(
  socketPath: string,
  name: string,
  { arguments: { values }, password, signal }: Omit<Call, 'config'>,
) {
  const sent = request({ socketPath, method: 'POST', path: commandPath(name), signal, agent: false })
  sent.end(JSON.stringify({ values, ...(password === undefined ? {} : { password }) }))
  try {
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    return response
  } catch (error) {
    if (['ENOENT', 'ECONNREFUSED'].includes(String((error as NodeJS.ErrnoException).code))) return undefined
    if (isForbidden(error)) throw new ConfigError(`${socketPath} cannot be opened by this user. ${asItsUser}`)
    throw new ConfigError(`The service cannot be asked through ${socketPath}: ${(error as Error).message}`)
  }
}
