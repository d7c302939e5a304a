import type { LoginRecord } from '@baton/protocol'
import type { Context } from '../context.ts'
import { none, sql } from '../db/sql.ts'
import type { Person } from '../http/caller.ts'
import { notFound } from '../http/errors.ts'
import { type PageQuery, page } from '../http/paging.ts'
import { crockford } from '../ids.ts'
import { endLogin, isValid } from './logins.ts'

type Row = Omit<LoginRecord, 'id' | 'current'> & { hash: string }

/** The part of the hash that an id shows: 26 characters of 5 bits. The token cannot be derived from it. */
export function loginId(tokenHash: Buffer): string {
  let bits = BigInt(`0x${tokenHash.subarray(0, 17).toString('hex')}`) >> 6n
  let id = ''
  for (let i = 0; i < 26; i++) {
    id = crockford[Number(bits & 31n)] + id
    bits >>= 5n
  }
  return `lgn_${id}`
}

/** Newest first. */
export const listLogins = (ctx: Context, caller: Person, query: PageQuery) =>
  page<LoginRecord>(
    ctx.keys,
    'logins',
    query,
    ({ created_at, id }) => [created_at, id],
    async (after, count) => {
      const rows = await ctx.db.rows<Row>(sql`
        select encode(l.token_hash, 'hex') as hash, l.method, l.provider_id, l.client, l.network, l.created_at,
          l.last_used_at
        from logins l
        where l.user_id = ${caller.id} and ${isValid(ctx.clock.now())}
          ${after ? sql`and (l.created_at, l.token_hash) < (${after[0]}, ${lowestHash(after[1] as string)})` : none}
        order by l.created_at desc, l.token_hash desc limit ${count}`)
      return rows.map(({ hash, ...row }) => recordOf(caller, Buffer.from(hash, 'hex'), row))
    },
  )

const recordOf = (caller: Person, hash: Buffer, row: Omit<Row, 'hash'>): LoginRecord => ({
  id: loginId(hash),
  current: hash.equals(caller.tokenHash),
  ...row,
})

/** The lowest hash that has this id; the ids of two logins of one person are never the same. */
function lowestHash(id: string): Buffer {
  let bits = 0n
  for (const character of id.slice('lgn_'.length)) bits = (bits << 5n) | BigInt(crockford.indexOf(character))
  return Buffer.from((bits << 6n).toString(16).padStart(34, '0').padEnd(64, '0'), 'hex')
}

export async function endOneLogin({ db }: Context, caller: Person, id: string) {
  if (!/^lgn_[0-9a-hjkmnp-tv-z]{26}$/.test(id)) throw notFound()
  const lowest = lowestHash(id)
  const candidate = await db.row<{ hash: string }>(sql`
    select encode(token_hash, 'hex') as hash from logins
    where user_id = ${caller.id} and token_hash >= ${lowest} order by token_hash limit 1`)
  const hash = Buffer.from(candidate?.hash ?? '', 'hex')
  if (!candidate || loginId(hash) !== id) throw notFound()
  await endLogin(db, hash)
}
