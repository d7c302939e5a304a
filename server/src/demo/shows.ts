import { hours } from '../clock.ts'
import type { Queryable } from '../db/database.ts'
import { insertSetting, readSetting, replaceSetting } from '../db/settings.ts'

/** The shows of the demo: sessions that work only while a viewer watches. */
export interface Shows {
  /** The current or last show. */
  sessionId: string
  startedAt: Date
  /** How many began after the one of the first start. */
  begun: number
}

export const showsSetting = 'demo_shows'
const mostShows = 10
const betweenMs = hours(1)

const textOf = ({ sessionId, startedAt, begun }: Shows) => JSON.stringify({ sessionId, startedAt, begun })

export const insertShows = (db: Queryable, show: Omit<Shows, 'begun'>) =>
  insertSetting(db, showsSetting, textOf({ ...show, begun: 0 }))

export async function readShows(db: Queryable): Promise<Shows | undefined> {
  const value = await readSetting(db, showsSetting)
  if (value === undefined) return undefined
  const stored = JSON.parse(value) as Shows
  return { ...stored, startedAt: new Date(stored.startedAt) }
}

/** demo.bounded */
export const mayBegin = ({ startedAt, begun }: Shows, now: Date) =>
  begun < mostShows && now.getTime() - startedAt.getTime() >= betweenMs

/** False if another process has changed it meanwhile: then that one begins the show. */
export const replaceShows = (db: Queryable, before: Shows, after: Shows): Promise<boolean> =>
  replaceSetting(db, showsSetting, textOf(before), textOf(after))
