import { describe, expect, test } from 'vitest'
import { dayIn, dueInstants, isTimeZone, nextInstant, scheduleProblems } from './cron.ts'
import { fill, unknownPlaceholder } from './template.ts'

const now = new Date('2026-03-02T09:00:00Z')
const inUtc = (cron: string) => ({ cron, time_zone: 'UTC' })

describe('a schedule', () => {
  test.each(['@daily', '* * * * * *', '0 9 * *', '', '61 * * * *', '0 9 * * Funday', 'a b c d e'])(
    'refuses %j',
    (cron) => expect(scheduleProblems(inUtc(cron), now)).toHaveProperty('cron'),
  )

  test('leaves at least 15 minutes between two instants', () => {
    for (const cron of ['*/15 * * * *', '0,45 9 * * *', '0 9 * * 1-5']) {
      expect([cron, scheduleProblems(inUtc(cron), now)]).toEqual([cron, {}])
    }
    for (const cron of ['*/14 * * * *', '0,50 * * * *', '0,14 9 * * *']) {
      expect([cron, scheduleProblems(inUtc(cron), now)]).toEqual([cron, { cron: expect.stringContaining('15') }])
    }
  })

  test('occurs at some time', () => {
    expect(scheduleProblems(inUtc('0 0 30 2 *'), now)).toEqual({ cron: 'never occurs' })
    expect(scheduleProblems(inUtc('0 0 29 2 *'), now)).toEqual({})
  })

  test('takes every time zone that the platform knows', () => {
    for (const zone of [...Intl.supportedValuesOf('timeZone'), 'UTC'])
      expect([zone, isTimeZone(zone)]).toEqual([zone, true])
    expect(scheduleProblems({ cron: '0 9 * * *', time_zone: 'Mars/Olympus' }, now)).toHaveProperty('time_zone')
  })

  test('runs at 03:00 where 02:30 does not exist, and once where it exists twice', () => {
    const berlin = { cron: '30 2 * * *', time_zone: 'Europe/Berlin' }
    expect(nextInstant(berlin, new Date('2026-03-28T12:00:00Z'))).toEqual(new Date('2026-03-29T01:00:00Z'))
    expect(nextInstant(berlin, new Date('2026-03-29T01:00:00Z'))).toEqual(new Date('2026-03-30T00:30:00Z'))
    expect(nextInstant(berlin, new Date('2026-10-24T12:00:00Z'))).toEqual(new Date('2026-10-25T00:30:00Z'))
    expect(nextInstant(berlin, new Date('2026-10-25T00:30:00Z'))).toEqual(new Date('2026-10-26T01:30:00Z'))
  })

  test('runs the latest missed instant of the last 24 hours', () => {
    const at = (time: string) => new Date(time)
    const hourly = inUtc('0 * * * *')
    expect(dueInstants(hourly, at('2026-03-02T09:00:00Z'), now)).toEqual({ run: now, missed: null })
    expect(dueInstants(hourly, at('2026-03-02T06:00:00Z'), at('2026-03-02T09:30:00Z'))).toEqual({
      run: now,
      missed: at('2026-03-02T08:00:00Z'),
    })
    const weekly = inUtc('0 9 * * 1')
    expect(dueInstants(weekly, now, at('2026-03-03T09:00:00Z'))).toEqual({ run: now, missed: null })
    expect(dueInstants(weekly, now, at('2026-03-03T09:00:01Z'))).toEqual({ run: null, missed: now })
    expect(dueInstants(weekly, now, at('2026-03-09T09:10:00Z'))).toEqual({
      run: at('2026-03-09T09:00:00Z'),
      missed: now,
    })
  })

  test('has its day in its time zone', () => {
    expect(dayIn('Pacific/Auckland', at('2026-03-02T20:00:00Z'))).toBe('2026-03-03')
    expect(dayIn('UTC', at('2026-03-02T20:00:00Z'))).toBe('2026-03-02')
  })
})

const at = (time: string) => new Date(time)

describe('placeholders', () => {
  const values = { day: '2026-12-31', issue: { code: 'ENG-1', title: 'A bug', url: 'http://x/ENG-1' }, agentName: 'Bo' }

  test('are filled with day, ISO week, month, issue and agent', () => {
    const text = '{{date}} {{ week }} {{month}} {{issue.code}} {{issue.title}} {{issue.url}} {{agent.name}}'
    expect(fill(text, values)).toBe('2026-12-31 2026-W53 2026-12 ENG-1 A bug http://x/ENG-1 Bo')
    expect(fill('{{week}}', { ...values, day: '2027-01-04' })).toBe('2027-W01')
    expect(fill('{{issue.title}}', { ...values, issue: null })).toBe('')
  })

  test('that do not exist are found', () => {
    expect(unknownPlaceholder('{{date}} {{issue.secret}}')).toBe('{{issue.secret}}')
    expect(unknownPlaceholder('{{constructor}}')).toBe('{{constructor}}')
    expect(unknownPlaceholder('{{date}} {x}')).toBeUndefined()
  })

  test('insert no mention and no file', () => {
    const title = '@[Ada](usr_1) ![x](fil_1)'
    expect(fill('{{issue.title}}', { ...values, issue: { ...values.issue, title } })).toBe(
      '@ [Ada] (usr_1) ![x] (fil_1)',
    )
  })
})
