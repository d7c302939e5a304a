import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Registry {
  url: string
  close(): void
}

/**
 * An npm registry with the packages of these tarballs. Requests for other packages are redirected to the registry that npm
 * uses here, so that npm finds them in its cache, or there.
 */
export async function startRegistry(tarballs: readonly string[]): Promise<Registry> {
  const others = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim().replace(/\/*$/, '/')
  const packages = tarballs.map((file) => {
    const bytes = readFileSync(file)
    const manifest = JSON.parse(execFileSync('tar', ['-xzOf', file, 'package/package.json'], { encoding: 'utf8' }))
    return { bytes, manifest, path: `/tarballs/${file.split('/').at(-1)}` }
  })
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '/').replace(/\?.*$/, '')
    const file = packages.find((one) => one.path === path)
    if (file) return response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(file.bytes)
    const found = packages.find(({ manifest }) => path === `/${manifest.name}`)
    if (found) return response.writeHead(200, { 'content-type': 'application/json' }).end(packument(found))
    if (path.startsWith('/@baton/')) return response.writeHead(404).end('{}')
    return response.writeHead(302, { location: others + (request.url ?? '/').slice(1) }).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`

  function packument({ bytes, manifest, path }: (typeof packages)[number]) {
    const { name, version } = manifest
    const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`
    const dist = { integrity, tarball: new URL(path, url).href }
    return JSON.stringify({ name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist } } })
  }

  return {
    url,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
