import { uuidv7obj } from 'uuidv7'

export const crockford = '0123456789abcdefghjkmnpqrstvwxyz'

// biome-ignore format: one line for each area
export type IdPrefix =
  | 'req' | 'aud' | 'inb' | 'idn' | 'psk' | 'pat'
  | 'usr' | 'wsp' | 'inv' | 'team'
  | 'iss' | 'chg' | 'prj' | 'cmt' | 'lbl' | 'mil' | 'cyc' | 'ini' | 'view'
  | 'evt' | 'whk' | 'rpl' | 'att' | 'app' | 'cli' | 'ins' | 'grt' | 'con'
  | 'sess' | 'act' | 'wrk' | 'tsk'
  | 'mail'

/** The UUID of an id: the 128 bits after its prefix. */
export function uuidOf(id: string): string {
  let bits = 0n
  for (const character of id.slice(id.indexOf('_') + 1)) bits = (bits << 5n) | BigInt(crockford.indexOf(character))
  return dashed(bits.toString(16).padStart(32, '0'))
}

export const dashed = (hex: string) => hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

/** A prefix and the 128 bits of a UUIDv7 as 26 Crockford characters, so that ids sort by time. Never a secret. */
export function newId(prefix: IdPrefix): string {
  let id = ''
  // 26 characters of 5 bits are 130 bits, two more than a UUID has; the first two are zero.
  let [rest, bits] = [0, 2]
  for (const byte of uuidv7obj().bytes) {
    rest = ((rest << 8) | byte) & 0xfff
    for (bits += 8; bits >= 5; ) {
      bits -= 5
      id += crockford[(rest >> bits) & 31]
    }
  }
  return `${prefix}_${id}`
}
