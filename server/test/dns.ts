import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { once } from 'node:events'
import ipaddr from 'ipaddr.js'

export type DnsAnswer = { a?: string[]; aaaa?: string[] } | 'NXDOMAIN' | 'SERVFAIL' | 'silence'

interface Query {
  name: string
  type: number
  packet: Buffer
  from: RemoteInfo
}

const types = { a: 1, aaaa: 28 }
const codes = { SERVFAIL: 2, NXDOMAIN: 3 }
const headerBytes = 12

/** A name server for tests. Names without an answer do not exist. */
export class TestDns {
  readonly address: string
  /** Number of queries by name. */
  readonly queries: Record<string, number> = {}
  readonly #socket: Socket
  readonly #answers = new Map<string, DnsAnswer>()
  #waiting: Query[] = []
  #received: () => void = () => {}

  static async start() {
    const socket = createSocket('udp4')
    socket.bind(0, '127.0.0.1')
    await once(socket, 'listening')
    return new TestDns(socket)
  }

  private constructor(socket: Socket) {
    this.#socket = socket
    this.address = `127.0.0.1:${socket.address().port}`
    socket.on('message', (packet, from) => this.#receive(parse(packet, from)))
  }

  /** Sets the answer for a name. Queries that were not answered so far are answered now. */
  answer(name: string, answer: DnsAnswer) {
    this.#answers.set(name, answer)
    const waiting = this.#waiting
    this.#waiting = []
    for (const query of waiting) this.#reply(query)
  }

  /** Resolves when both A and AAAA queries have arrived and are not answered. */
  async asked(name: string) {
    while (this.#waiting.filter((query) => query.name === name).length < 2)
      await new Promise<void>((resolve) => (this.#received = resolve))
  }

  stop() {
    this.#socket.close()
  }

  #receive(query: Query) {
    this.queries[query.name] = (this.queries[query.name] ?? 0) + 1
    this.#reply(query)
    this.#received()
  }

  #reply(query: Query) {
    const answer = this.#answers.get(query.name) ?? 'NXDOMAIN'
    if (answer === 'silence') this.#waiting.push(query)
    else this.#socket.send(response(query, answer), query.from.port, query.from.address)
  }
}

function parse(packet: Buffer, from: RemoteInfo): Query {
  const labels: string[] = []
  let at = headerBytes
  for (let length = packet.readUInt8(at); length > 0; length = packet.readUInt8(at)) {
    labels.push(packet.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.'), type: packet.readUInt16BE(at + 1), packet: packet.subarray(0, at + 5), from }
}

function response({ packet, type }: Query, answer: Exclude<DnsAnswer, 'silence'>) {
  const addresses = typeof answer === 'string' ? [] : ((type === types.a ? answer.a : answer.aaaa) ?? [])
  const header = Buffer.alloc(headerBytes)
  header.writeUInt16BE(packet.readUInt16BE(0), 0)
  header.writeUInt16BE(0x8180 | (typeof answer === 'string' ? codes[answer] : 0), 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(addresses.length, 6)
  return Buffer.concat([header, packet.subarray(headerBytes), ...addresses.map((address) => record(type, address))])
}

/** The TTL is an hour, so that a cached answer would fail a test. */
function record(type: number, address: string) {
  const data = Buffer.from(ipaddr.parse(address).toByteArray())
  const fixed = Buffer.from('c00c0000000100000e100000', 'hex')
  fixed.writeUInt16BE(type, 2)
  fixed.writeUInt16BE(data.length, 10)
  return Buffer.concat([fixed, data])
}
