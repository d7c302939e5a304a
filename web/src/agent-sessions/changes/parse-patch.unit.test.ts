import { expect, test } from 'vitest'
import { pairsOf, parsePatch } from './parse-patch.ts'

const door = { path: 'door.ts', old_path: null }
const patchOf = (...lines: string[]) => `${lines.join('\n')}\n`
const head = ['diff --git a/door.ts b/door.ts', 'index 83db48f..bf269f4 100644', '--- a/door.ts', '+++ b/door.ts']

/** Each line as `kind old:new text`. */
const linesOf = (patch: string, file: Parameters<typeof parsePatch>[1] = door) =>
  parsePatch(patch, file).hunks.flatMap(({ lines }) =>
    lines.map((line) => `${line.kind} ${line.old ?? ''}:${line.new ?? ''} ${line.text}`),
  )

test('numbers the lines of each hunk', () => {
  const patch = patchOf(...head, '@@ -1,3 +1,3 @@', ' a', '-b', '+B', ' c', '@@ -10 +10,2 @@ close()', ' j', '+k')
  expect(linesOf(patch)).toEqual([
    'context 1:1 a',
    'deleted 2: b',
    'added :2 B',
    'context 3:3 c',
    'context 10:10 j',
    'added :11 k',
  ])
  expect(parsePatch(patch, door).hunks.map(({ header }) => header)).toEqual([
    '@@ -1,3 +1,3 @@',
    '@@ -10 +10,2 @@ close()',
  ])
})

test('takes lines that look like headers as content while the counts of the hunk ask for them', () => {
  const patch = patchOf(
    ...head,
    '@@ -1,3 +1,3 @@',
    '--- a/door.ts',
    '+++ b/door.ts',
    '-@@ -1 +1 @@',
    '+diff --git',
    ' x',
  )
  expect(linesOf(patch)).toEqual([
    'deleted 1: -- a/door.ts',
    'added :1 ++ b/door.ts',
    'deleted 2: @@ -1 +1 @@',
    'added :2 diff --git',
    'context 3:3 x',
  ])
})

test('marks the last line of a file without a line break', () => {
  const patch = patchOf(...head, '@@ -1 +1 @@', '-a', '\\ No newline at end of file', '+b')
  expect(parsePatch(patch, door).hunks[0]?.lines.map(({ text, noNewline }) => [text, noNewline])).toEqual([
    ['a', true],
    ['b', false],
  ])
})

test('reads renames and mode changes without a hunk', () => {
  const rename = ['diff --git a/a b/b', 'similarity index 100%', 'rename from a', 'rename to b']
  expect(parsePatch(patchOf(...rename), { path: 'b', old_path: 'a' })).toEqual({
    oldMode: null,
    newMode: null,
    hunks: [],
  })
  const modes = ['diff --git a/a b/a', 'old mode 100644', 'new mode 100755']
  expect(parsePatch(patchOf(...modes), { path: 'a', old_path: null })).toEqual({
    oldMode: '100644',
    newMode: '100755',
    hunks: [],
  })
})

test('reads empty files that were added or deleted', () => {
  const file = { path: 'a', old_path: null }
  const added = parsePatch(patchOf('diff --git a/a b/a', 'new file mode 100644', 'index 0000000..e69de29'), file)
  expect(added).toEqual({ oldMode: null, newMode: '100644', hunks: [] })
  const deleted = parsePatch(patchOf('diff --git a/a b/a', 'deleted file mode 100644', 'index e69de29..0000000'), file)
  expect(deleted).toEqual({ oldMode: '100644', newMode: null, hunks: [] })
  expect(parsePatch('', file)).toEqual({ oldMode: null, newMode: null, hunks: [] })
})

test('takes an empty line in a hunk as an empty context line', () => {
  expect(linesOf(patchOf(...head, '@@ -1,3 +1,3 @@', ' a', '', '-b', '+c'))).toEqual([
    'context 1:1 a',
    'context 2:2 ',
    'deleted 3: b',
    'added :3 c',
  ])
})

test('splits at line feeds only', () => {
  const text = 'a\r\u2028\u0085\fb'
  expect(linesOf(patchOf(...head, '@@ -0,0 +1 @@', `+${text}`))).toEqual([`added :1 ${text}`])
})

test('shows what is beyond the counts of a hunk, and what no patch contains', () => {
  const beyond = patchOf(...head, '@@ -1 +1 @@', '-a', '+b', '+hidden', ' hidden too')
  expect(linesOf(beyond).slice(2)).toEqual(['other : +hidden', 'other :  hidden too'])
  expect(linesOf('GIT binary patch\nliteral 4')).toEqual(['other : GIT binary patch', 'other : literal 4'])
  const huge = patchOf(...head, '@@ -1,999999999 +1,999999999 @@', ' a', 'diff --git a/x b/x')
  expect(linesOf(huge)).toEqual(['context 1:1 a', 'other : diff --git a/x b/x'])
  expect(linesOf('@@ -99999999999999999999 +1 @@\n+a')).toEqual([
    'other : @@ -99999999999999999999 +1 @@',
    'other : +a',
  ])
})

test('shows headers that name another file', () => {
  const other = patchOf(
    'diff --git a/door.ts b/.ssh/keys',
    '--- a/door.ts',
    '+++ b/.ssh/keys',
    '@@ -1 +1 @@',
    '-a',
    '+b',
  )
  expect(linesOf(other)).toEqual([
    'other : diff --git a/door.ts b/.ssh/keys',
    'other : +++ b/.ssh/keys',
    'deleted 1: a',
    'added :1 b',
  ])
})

test('reads names in quotes and with spaces', () => {
  const quoted = patchOf(
    'diff --git "a/t\\303\\274r \\"1\\".ts" "b/t\\303\\274r \\"1\\".ts"',
    '--- "a/t\\303\\274r \\"1\\".ts"',
    '+++ "b/t\\303\\274r \\"1\\".ts"',
  )
  expect(linesOf(quoted, { path: 'tür "1".ts', old_path: null })).toEqual([])
  const spaced = patchOf('diff --git a/my door b/my door', '--- a/my door\t', '+++ b/my door\t')
  expect(linesOf(spaced, { path: 'my door', old_path: null })).toEqual([])
})

test('puts replaced lines side by side', () => {
  const [hunk] = parsePatch(
    patchOf(...head, '@@ -1,5 +1,6 @@', ' a', '-b', '-c', '+B', ' d', '+e', '+f', '-g', '+G'),
    door,
  ).hunks
  const pairs = pairsOf(hunk?.lines ?? []).map(({ left, right }) => [left?.text ?? null, right?.text ?? null])
  expect(pairs).toEqual([
    ['a', 'a'],
    ['b', 'B'],
    ['c', null],
    ['d', 'd'],
    [null, 'e'],
    [null, 'f'],
    ['g', 'G'],
  ])
})
