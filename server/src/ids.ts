import { hash } from 'node:crypto'
import { uuidv7obj } from 'uuidv7'

export const crockford = '0123456789abcdefghjkmnpqrstvwxyz'

// biome-ignore format: one line for each area
export type IdPrefix =
  | 'req' | 'aud' | 'inb' | 'idn' | 'psk' | 'pat'
  | 'usr' | 'wsp' | 'inv' | 'team'
  | 'iss' | 'chg' | 'prj' | 'cmt' | 'lbl' | 'mil' | 'cyc' | 'ini' | 'view' | 'tpl'
  | 'evt' | 'whk' | 'rpl' | 'att' | 'app' | 'cli' | 'ins' | 'grt' | 'con'
  | 'sess' | 'act' | 'wrk' | 'tsk'
  | 'mail'
  | 'gcn' | 'gdl' | 'pr'
  | 'fil' | 'imp' | 'exp' | 'rst'
  | 'aut' | 'run' | 'sug' | 'rev'

/** The UUID of an id: the 128 bits after its prefix. */
export function uuidOf(id: string): string {
  let bits = 0n
  for (const character of id.slice(id.indexOf('_') + 1)) bits = (bits << 5n) | BigInt(crockford.indexOf(character))
  return dashed(bits.toString(16).padStart(32, '0'))
}

export const dashed = (hex: string) => hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

/** A prefix and the 128 bits of a UUIDv7 as 26 Crockford characters, so that ids sort by time. Never a secret. */
export const newId = (prefix: IdPrefix): string => written(prefix, uuidv7obj().bytes)

/**
 * The id of an imported item: sorts by its original time, and within a millisecond by `order`. The same item gets the
 * same id; `seed` has to name its workspace too.
 */
export function importedId(prefix: IdPrefix, time: Date, order: number, seed: string): string {
  const bytes = hash('sha256', seed, 'buffer').subarray(0, 16)
  bytes.writeUIntBE(Math.max(0, time.getTime()), 0, 6)
  // Version 7, then 12 bits of `order`; the variant, then 20 more.
  bytes.writeUInt16BE(0x7000 | ((order >>> 20) & 0xfff), 6)
  const rest = order & 0xfffff
  bytes[8] = 0x80 | (rest >>> 14)
  bytes[9] = (rest >>> 6) & 0xff
  bytes[10] = ((rest & 0x3f) << 2) | ((bytes[10] as number) & 3)
  return written(prefix, bytes)
}

function written(prefix: IdPrefix, bytes: Uint8Array): string {
  let id = ''
  // 26 characters of 5 bits are 130 bits, two more than a UUID has; the first two are zero.
  let [rest, bits] = [0, 2]
  for (const byte of bytes) {
    rest = ((rest << 8) | byte) & 0xfff
    for (bits += 8; bits >= 5; ) {
      bits -= 5
      id += crockford[(rest >> bits) & 31]
    }
  }
  return `${prefix}_${id}`
}
