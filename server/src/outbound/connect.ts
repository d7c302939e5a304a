import { promises as dns, type LookupAddress } from 'node:dns'
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { buildConnector } from 'undici'
import type { AllowedTarget } from '../config.ts'
import { SingleFlight } from '../single-flight.ts'
import { isPublicAddress } from './addresses.ts'
import { allowsAddress, allowsHost } from './target.ts'

export interface ConnectorOptions {
  allow: readonly AllowedTarget[]
  dnsServers?: string[] | undefined
  ca?: string | undefined
}

export class BlockedDestination extends Error {}
export class TlsFailure extends Error {}

/** Opens sockets only to addresses that were checked. */
export class Connector {
  readonly #allow: readonly AllowedTarget[]
  readonly #ca: string | undefined
  readonly #resolver: CheckedResolver

  constructor(options: ConnectorOptions) {
    this.#allow = options.allow
    this.#ca = options.ca
    this.#resolver = new CheckedResolver(options)
  }

  /** The URL was checked before, including any IP address in it; names are checked by `lookup`. */
  connect({ protocol, hostname, port }: buildConnector.Options, callback: buildConnector.Callback): Socket {
    const secure = protocol === 'https:'
    const to = this.#to(hostname, Number(port || (secure ? 443 : 80)))
    const socket = secure ? connectTls({ ...to, ...this.#tls(hostname) }) : connectTcp(to)
    const failed = (error: Error) => callback(secure ? asTlsFailure(error) : error, null)
    return socket
      .setNoDelay(true)
      .once('error', failed)
      .once(secure ? 'secureConnect' : 'connect', () => {
        socket.off('error', failed)
        callback(null, socket)
      })
  }

  close() {
    this.#resolver.cancel()
  }

  #to(host: string, port: number) {
    return {
      host,
      port,
      autoSelectFamily: true,
      // The default of 250 ms is too short for distant receivers.
      autoSelectFamilyAttemptTimeout: 1000,
      ...(allowsHost(this.#allow, host, port) ? {} : { lookup: this.#resolver.lookup }),
    }
  }

  /** TLS sessions are not resumed, so that every connection verifies the certificate. */
  #tls(hostname: string) {
    return {
      rejectUnauthorized: true,
      ALPNProtocols: ['http/1.1'],
      ...(isIP(hostname) ? {} : { servername: hostname }),
      ...(this.#ca ? { ca: this.#ca } : {}),
    }
  }
}

/** Error codes of the system are E and one word; all others come from the handshake or the certificate. */
function asTlsFailure(error: Error) {
  const code = (error as NodeJS.ErrnoException).code ?? ''
  const isSystemError = /^E[A-Z]+$/.test(code) && code !== 'EPROTO'
  return isSystemError || error instanceof BlockedDestination ? error : new TlsFailure(code, { cause: error })
}

/** Resolves names, and refuses a name if any of its addresses is neither public nor allowed. */
class CheckedResolver {
  readonly #allow: readonly AllowedTarget[]
  // Not dns.lookup: slow names would block its four threads.
  readonly #resolver = new dns.Resolver({ timeout: 2500, tries: 2 })
  /** Concurrent connections share a lookup. Results are not cached. */
  readonly #lookups = new SingleFlight<LookupAddress[]>()

  constructor({ allow, dnsServers }: ConnectorOptions) {
    this.#allow = allow
    if (dnsServers) this.#resolver.setServers(dnsServers)
  }

  readonly lookup: LookupFunction = (hostname, { all }, callback) => {
    this.#lookups
      .run(hostname, () => this.#resolve(hostname))
      .then(
        (addresses) => {
          const [first] = addresses
          if (all) callback(null, addresses)
          else callback(null, first?.address ?? '', first?.family)
        },
        (error: NodeJS.ErrnoException) => callback(error, []),
      )
  }

  cancel() {
    this.#resolver.cancel()
  }

  async #resolve(name: string): Promise<LookupAddress[]> {
    const [four, six] = await Promise.all([
      this.#resolver.resolve4(name).catch(noAnswer),
      this.#resolver.resolve6(name).catch(noAnswer),
    ])
    for (const address of [...four, ...six]) {
      if (!isPublicAddress(address) && !allowsAddress(this.#allow, address)) throw new BlockedDestination(address)
    }
    if (four.length + six.length === 0) throw Object.assign(new Error(`${name} has no address`), { code: 'ENOTFOUND' })
    return [...four.map((address) => ({ address, family: 4 })), ...six.map((address) => ({ address, family: 6 }))]
  }
}

/** A name can have addresses of one family only. After any other error its addresses are unknown. */
function noAnswer(error: NodeJS.ErrnoException): string[] {
  if (error.code === dns.NODATA || error.code === dns.NOTFOUND) return []
  throw error
}
