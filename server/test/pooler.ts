import { connect, createServer, type Socket } from 'node:net'
import { listen } from './loopback-server.ts'

const readyForQuery = Buffer.from([0x5a, 0, 0, 0, 5, 0x49])
const terminate = 0x58

/**
 * A minimal pooler in transaction mode that runs until the test ends: all clients share one connection to the server.
 * Returns its URL.
 */
export async function startPooler(url: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const server = connect(Number(port), hostname)
  let greeting = Buffer.alloc(0)
  let asking: Socket | undefined
  server.on('data', (data) => {
    if (!greeting.subarray(-readyForQuery.length).equals(readyForQuery)) greeting = Buffer.concat([greeting, data])
    asking?.write(data)
  })
  const pooler = createServer((client) => {
    client.once('data', (startup) => {
      if (greeting.length > 0) client.write(greeting)
      else {
        asking = client
        server.write(startup)
      }
      client.on('data', (data) => {
        asking = client
        if (data[0] !== terminate) server.write(data)
      })
    })
  })
  pooler.on('close', () => server.destroy())
  const poolerUrl = new URL(url)
  poolerUrl.port = String(await listen(pooler))
  return poolerUrl.href
}
