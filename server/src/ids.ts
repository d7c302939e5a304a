import { uuidv7obj } from 'uuidv7'

const crockford = '0123456789abcdefghjkmnpqrstvwxyz'

// biome-ignore format: one line for each part of the house
export type IdPrefix =
  | 'req' | 'aud' | 'inb'
  | 'usr' | 'wsp' | 'inv' | 'team'
  | 'iss' | 'chg' | 'prj' | 'cmt' | 'lbl' | 'mil' | 'cyc' | 'ini' | 'view'
  | 'evt' | 'whk' | 'att' | 'app' | 'cli' | 'ins' | 'grt' | 'con'
  | 'sess' | 'act' | 'wrk'

/** A prefix and the 128 bits of a UUIDv7 as 26 Crockford characters, so that ids sort by time. Never a secret. */
export function newId(prefix: IdPrefix): string {
  let bits = 0n
  for (const byte of uuidv7obj().bytes) bits = (bits << 8n) | BigInt(byte)
  let id = ''
  for (let i = 0; i < 26; i++) {
    id = crockford[Number(bits & 31n)] + id
    bits >>= 5n
  }
  return `${prefix}_${id}`
}
