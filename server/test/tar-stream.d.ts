declare module 'tar-stream' {
  import type { Readable, Writable } from 'node:stream'

  export interface Header {
    name: string
    size?: number
    type?: string
    linkname?: string
  }
  export interface Pack extends Readable {
    entry(header: Header, data?: string | Buffer): Writable
    finalize(): void
  }
  export function pack(): Pack
  export function extract(): Writable & AsyncIterable<Readable & { header: Header }>
}
