export interface DiffLine {
  kind: 'same' | 'added' | 'removed'
  text: string
}

/** Cells of the comparison table; longer texts are shown as removed and added as a whole. */
const maxCells = 4_000_000

/** The lines of two texts: those of the longest common sequence are the same, the others removed or added. */
export function diffLines(before: string, after: string): DiffLine[] {
  const [a, b] = [linesOf(before), linesOf(after)]
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  return [
    ...lines('same', a.slice(0, start)),
    ...diffMiddle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...lines('same', a.slice(a.length - end)),
  ]
}

const linesOf = (text: string) => (text === '' ? [] : text.split('\n'))
const lines = (kind: DiffLine['kind'], texts: string[]): DiffLine[] => texts.map((text) => ({ kind, text }))

function diffMiddle(a: string[], b: string[]): DiffLine[] {
  if (a.length === 0 || b.length === 0 || a.length * b.length > maxCells) {
    return [...lines('removed', a), ...lines('added', b)]
  }
  const width = b.length + 1
  // At [i][j]: the length of the longest common sequence of a from i and b from j.
  const common = new Uint16Array((a.length + 1) * width)
  const at = (i: number, j: number) => common[i * width + j] as number
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const result: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      result.push({ kind: 'same', text: a[i++] as string })
      j++
    } else if (i < a.length && (j === b.length || at(i + 1, j) >= at(i, j + 1))) {
      result.push({ kind: 'removed', text: a[i++] as string })
    } else result.push({ kind: 'added', text: b[j++] as string })
  }
  return result
}

export type Shown = DiffLine | { kind: 'skipped'; count: number }

/** Leaves out unchanged lines that are further than `around` from a change. */
export function withContext(diff: readonly DiffLine[], around = 2): Shown[] {
  const near = diff.map((_, index) =>
    diff.slice(Math.max(0, index - around), index + around + 1).some(({ kind }) => kind !== 'same'),
  )
  const shown: Shown[] = []
  for (const [index, line] of diff.entries()) {
    const last = shown.at(-1)
    if (near[index]) shown.push(line)
    else if (last?.kind === 'skipped') last.count++
    else shown.push({ kind: 'skipped', count: 1 })
  }
  return shown
}
