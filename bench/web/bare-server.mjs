// Serves the bare list: its page, and all rows in one response.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { gzipSync } from 'node:zlib'

const read = (name) => readFileSync(new URL(name, import.meta.url))

export async function startBareList(rows) {
  const files = {
    '/': ['text/html', read('bare-list.html')],
    '/bare-list.js': ['text/javascript', read('bare-list.js')],
    '/rows.json': ['application/json', JSON.stringify(rows)],
  }
  const compressed = new Map(Object.entries(files).map(([path, [type, body]]) => [path, [type, gzipSync(body)]]))
  const server = createServer(({ url }, response) => {
    const [type, body] = compressed.get(url) ?? []
    if (!body) return void response.writeHead(404).end()
    response.writeHead(200, { 'content-type': type, 'content-encoding': 'gzip', 'cache-control': 'no-cache' }).end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}
