import { branchName } from '@baton/protocol'
import { describe, expect, test } from 'vitest'
import { processorMs } from '../../../conformance/times.ts'
import { verifies } from '../../test/harness.ts'
import { codesIn, sessionsIn } from './codes.ts'

const named = (texts: Partial<Parameters<typeof codesIn>[0]>) =>
  codesIn({ branch: 'main', ...texts }).map(({ code, closes }) => `${code}${closes ? ' closes' : ''}`)

describe('codes in branch and title', () => {
  test.each([
    ['eng-12', ['ENG-12 closes']],
    ['ada/eng-12-oil-the-hinges', ['ENG-12 closes']],
    ['feature_eng-12_oil', ['ENG-12 closes']],
    ['ENG-12', ['ENG-12 closes']],
    ['eng-12/des-3', ['ENG-12 closes', 'DES-3 closes']],
    ['xeng-12', ['XENG-12 closes']],
    ['éeng-12', []],
    ['eng-12a', []],
    ['eng-012', []],
    ['eng12', []],
    ['eng-', []],
    ['toolong-12', []],
  ])('%s', verifies('git.link-by-branch-and-title'), (branch, codes) => {
    expect(named({ branch })).toEqual(codes)
    expect(named({ title: branch })).toEqual(codes)
  })
})

describe('codes in the body', () => {
  const closes =
    'fix fixes fixed fixing close closes closed closing resolve resolves resolved resolving implement implements implemented implementing complete completes completed completing'
  test.each(closes.split(' '))('%s closes', verifies('git.link-by-words'), (word) => {
    expect(named({ body: `${word} ENG-12` })).toEqual(['ENG-12 closes'])
    expect(named({ body: `This ${word.toUpperCase()}: eng-12.` })).toEqual(['ENG-12 closes'])
    expect(named({ body: `pre${word} ENG-12` })).toEqual([])
    expect(named({ body: `${word}ENG-12` })).toEqual([])
  })

  test.each(['refs', 'Part of', 'related to'])('%s links', verifies('git.link-by-words'), (word) => {
    expect(named({ body: `${word} ENG-12` })).toEqual(['ENG-12'])
    expect(named({ body: `x${word} ENG-12` })).toEqual([])
  })

  test.each([
    ['ENG-12', []],
    ['See ENG-12 and DES-3', []],
    ['prefixes ENG-12', []],
    ['Fixes the door. ENG-12', []],
    ['Fixes ENG-12. ENG-13', ['ENG-12 closes']],
    ['Fixes ENG-12, DES-3 and ENG-14', ['ENG-12 closes', 'DES-3 closes', 'ENG-14 closes']],
    ['Fixes [ENG-12](https://baton.example.com/issue/ENG-12)', ['ENG-12 closes']],
    ['Fixes https://baton.example.com/issue/ENG-12', ['ENG-12 closes']],
    ['Fixes [ENG-12](https://x.example.com/issue/ENG-99)', ['ENG-12 closes']],
    ['Part of ENG-12\nFixes ENG-12', ['ENG-12 closes']],
    ['<!-- Fixes ENG-12 -->', []],
    ['```\nFixes ENG-12\n```\nFixes ENG-13', ['ENG-13 closes']],
  ])('%s', verifies('git.link-by-words'), (body, codes) => {
    expect(named({ body })).toEqual(codes)
  })

  test('a code that also closes by its branch closes', verifies('git.link-by-words'), () => {
    expect(named({ branch: 'eng-12', body: 'Part of ENG-12' })).toEqual(['ENG-12 closes'])
  })
})

test('hostile texts take no time', async () => {
  const read = () => {
    for (const part of ['fixes ', 'fixes ENG-1, ', '<!--', '```\n', 'https://', '[', 'fixes https://x/issue/', 'a-1'])
      codesIn({ branch: part.repeat(50), title: part.repeat(200), body: part.repeat(100_000 / part.length) })
  }
  expect(await processorMs(read)).toBeLessThan(2000)
})

test('session ids in branch and body', verifies('git.session'), () => {
  const id = `sess_${'0123456789abcdefghjkmnpqrs'}`
  expect(sessionsIn({ branch: `agent/${id}` })).toEqual([id])
  expect(sessionsIn({ branch: 'x', body: `${id} and ${id}.` })).toEqual([id])
  expect(sessionsIn({ branch: `${id}0`, title: id })).toEqual([])
})

describe('branchName', () => {
  test.each([
    ['Ada Lovelace', 'ENG-12', 'The door sticks', 'ada/eng-12-the-door-sticks'],
    ['Zoë', 'ENG-1', 'Größe ändern: „Tür“ — ø', 'zoe/eng-1-grosse-andern-tur-o'],
    ['李', 'ENG-1', '修复', 'eng-1'],
    ['Ada', 'ENG-1', '  --  ', 'ada/eng-1'],
    ['Ada', 'X-3', '../../etc $(rm) `x`', 'ada/x-3-etc-rm-x'],
  ])('%s %s %s', verifies('git.branch-name'), (user, code, title, expected) => {
    expect(branchName(user, { code, title })).toBe(expected)
  })

  test('names no other issue', verifies('git.branch-name'), () => {
    const branch = branchName('Ada', { code: 'ENG-12', title: 'Follow-up of ENG-3 and DES-4: UTF-8' })
    expect(branch).toBe('ada/eng-12-follow-up-of-eng3-and-des4-utf8')
    expect(named({ branch })).toEqual(['ENG-12 closes'])
  })

  test('has at most 100 characters and is linked', verifies('git.branch-name'), () => {
    for (let length = 60; length < 130; length++) {
      const branch = branchName('Ada'.repeat(20), { code: 'ENG-123456', title: `${'x'.repeat(length)} y`.repeat(2) })
      expect(branch).toMatch(/^[a-z0-9]+\/[a-z0-9-]+[a-z0-9]$/)
      expect(branch.length).toBeLessThanOrEqual(100)
      expect(named({ branch })).toEqual(['ENG-123456 closes'])
    }
  })
})
