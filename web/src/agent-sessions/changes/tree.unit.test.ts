import { expect, test } from 'vitest'
import { shownNodes, treeOf } from './tree.ts'

const files = ['src/ui/b.ts', 'README.md', 'src/ui/a.ts', 'src/deep/er/c.ts', 'src/x.ts'].map((path) => ({ path }))
const shown = (nodes: readonly { depth: number; name: string }[]) =>
  nodes.map(({ depth, name }) => `${'  '.repeat(depth)}${name}`)

test('lists folders before files, by name, and joins folders that contain only one folder', () => {
  expect(shown(treeOf(files))).toEqual([
    'src',
    '  deep/er',
    '    c.ts',
    '  ui',
    '    a.ts',
    '    b.ts',
    '  x.ts',
    'README.md',
  ])
})

test('hides what is inside a collapsed folder', () => {
  expect(shown(shownNodes(treeOf(files), new Set(['src/ui'])))).toEqual([
    'src',
    '  deep/er',
    '    c.ts',
    '  ui',
    '  x.ts',
    'README.md',
  ])
})

test('accepts names of built-in properties and very deep paths', () => {
  expect(shown(treeOf([{ path: '__proto__/constructor' }]))).toEqual(['__proto__', '  constructor'])
  const deep = Array.from({ length: 400 }, (_, index) => ({ path: `${'a/'.repeat(index)}f` }))
  expect(treeOf(deep)).toHaveLength(799)
})
