import { expect, test } from 'vitest'
import { startPooler } from '../../test/pooler.ts'
import { openPostgres } from './open-postgres.ts'

const onPostgres = { skip: !process.env.DATABASE_URL }
const open = (url: string) =>
  openPostgres(
    url,
    () => {},
    () => {},
  )

test('a pooler in transaction mode stops the start', onPostgres, async () => {
  const direct = process.env.DATABASE_URL as string
  await (await open(direct)).close()
  await expect(open(await startPooler(direct))).rejects.toThrow(
    'DATABASE_URL points to a pooler in transaction mode; use the address of the server, or session mode',
  )
})
