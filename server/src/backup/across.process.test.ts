import { describe, expect, test } from 'vitest'
import { verifiesOnPostgres } from '../../../conformance/requirements.ts'
import {
  addWorkspaces,
  comparable,
  emptyPlace,
  type Kind,
  made,
  newService,
  openPlace,
  restoreInto,
  sums,
} from '../../test/backup-service.ts'

describe('backups across databases', { timeout: 180_000 }, () => {
  const across: [Kind, Kind][] = [
    ['embedded', 'postgres'],
    ['postgres', 'embedded'],
    ['postgres', 'postgres'],
  ]

  test.each(across)(
    'a backup of %s restores into %s with equal counts and sums',
    verifiesOnPostgres('backup.restore-across'),
    async (from, to) => {
      const source = await newService({}, undefined, from)
      await addWorkspaces(source.db, 3000)
      const path = await made(source)
      const target = { ...(await emptyPlace(to, source.key)), BATON_SECRET_KEY: source.key.toString('base64') }
      await restoreInto(target, path, { withoutFiles: true })
      const { db } = await openPlace(target)
      expect(comparable(await sums(db))).toEqual(comparable(await sums(source.db)))
    },
  )
})
