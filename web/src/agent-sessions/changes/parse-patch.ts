export interface PatchLine {
  /** `other` is a line that belongs to no hunk: it is shown as it is, so that no part of a patch is hidden. */
  kind: 'context' | 'added' | 'deleted' | 'other'
  text: string
  /** Line numbers before and after; null where the line does not exist, and for `other`. */
  old: number | null
  new: number | null
  /** The file ends with this line, without a line break. */
  noNewline: boolean
}

export interface Hunk {
  /** `@@ -1,4 +1,5 @@ function`; empty for lines that belong to no hunk. */
  header: string
  lines: PatchLine[]
}

export interface Patch {
  /** File modes, such as 100755; null if the patch does not name them. */
  oldMode: string | null
  newMode: string | null
  hunks: Hunk[]
}

interface PatchedFile {
  path: string
  old_path: string | null
}

const hunkHeader = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@/
const mode = /^(old mode|new mode|deleted file mode|new file mode) (\d{6})$/
/** Lines that git writes before the first hunk, and that the viewer shows in another form. */
const known = /^(index [0-9a-f]+\.\.[0-9a-f]+( \d{6})?|(dis)?similarity index \d+%)$/
const kinds: Record<string, 'context' | 'added' | 'deleted'> = { ' ': 'context', '+': 'added', '-': 'deleted' }

/**
 * Git's unified diff of one file. The counts of a hunk decide which lines belong to it, so a deleted line `-- a/x`, which
 * reads `--- a/x`, is no header. Anything may be in a patch: what is not understood becomes a line of kind `other`, also a
 * header that names another file, because `git apply` would change that one.
 */
export function parsePatch(patch: string, file: PatchedFile): Patch {
  const lines = patch.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const parsed: Patch = { oldMode: null, newMode: null, hunks: [] }
  let old = 0
  let next = 0
  let oldLeft = 0
  let newLeft = 0
  const last = () => parsed.hunks.at(-1)
  const addOther = (text: string) => {
    if (last()?.header !== '') parsed.hunks.push({ header: '', lines: [] })
    last()?.lines.push({ kind: 'other', text, old: null, new: null, noNewline: false })
  }
  for (const line of lines) {
    // Some programs remove the space of an empty context line.
    const kind = kinds[line[0] ?? ' ']
    const isInHunk =
      kind === 'context' ? oldLeft > 0 && newLeft > 0 : kind === 'deleted' ? oldLeft > 0 : kind && newLeft > 0
    if (kind && isInHunk) {
      const hasOld = kind !== 'added'
      const hasNew = kind !== 'deleted'
      last()?.lines.push({
        kind,
        text: line.slice(1),
        old: hasOld ? old++ : null,
        new: hasNew ? next++ : null,
        noNewline: false,
      })
      if (hasOld) oldLeft--
      if (hasNew) newLeft--
      continue
    }
    const before = last()?.lines.at(-1)
    if (line === '\\ No newline at end of file' && before && before.kind !== 'other') {
      before.noNewline = true
      continue
    }
    oldLeft = 0
    newLeft = 0
    const header = hunkHeader.exec(line)
    const [, which, value] = mode.exec(line) ?? []
    if (header) {
      old = Number(header[1])
      next = Number(header[3])
      oldLeft = Number(header[2] ?? 1)
      newLeft = Number(header[4] ?? 1)
      parsed.hunks.push({ header: line, lines: [] })
    } else if (parsed.hunks.some((hunk) => hunk.header !== '')) {
      addOther(line)
    } else if (value) {
      parsed[which === 'old mode' || which === 'deleted file mode' ? 'oldMode' : 'newMode'] = value
    } else if (!known.test(line) && !namesOnly(file, line)) {
      addOther(line)
    }
  }
  return parsed
}

const nameLine = /^(---|\+\+\+|rename from|rename to|copy from|copy to) (.*?)\t?$/
const quoted = '"(?:[^"\\\\]|\\\\.)*"'
const bothQuoted = new RegExp(`^diff --git (${quoted}|\\S+) (${quoted}|\\S+)$`)

/** Whether the line is a header with the names of this file, and no others. */
function namesOnly({ path, old_path }: PatchedFile, line: string): boolean {
  const old = old_path ?? path
  if (line === `diff --git a/${old} b/${path}`) return true
  const both = bothQuoted.exec(line)
  if (both) return unquoted(both[1] ?? '') === `a/${old}` && unquoted(both[2] ?? '') === `b/${path}`
  const [, word, name] = nameLine.exec(line) ?? []
  switch (word) {
    case '---':
      return name === '/dev/null' || unquoted(name ?? '') === `a/${old}`
    case '+++':
      return name === '/dev/null' || unquoted(name ?? '') === `b/${path}`
    case 'rename from':
    case 'copy from':
      return unquoted(name ?? '') === old
    case 'rename to':
    case 'copy to':
      return unquoted(name ?? '') === path
    default:
      return false
  }
}

const escapes: Record<string, string> = { a: '\x07', b: '\b', t: '\t', n: '\n', v: '\v', f: '\f', r: '\r' }
/** Git writes unusual names in quotes, with the bytes of other characters than ASCII in octal. */
function unquoted(name: string): string {
  if (!/^".*"$/.test(name)) return name
  const bytes: number[] = []
  for (const [part, escaped] of name.slice(1, -1).matchAll(/\\([0-3][0-7]{2}|.)|[^\\]+/gu)) {
    if (escaped && /^\d{3}$/.test(escaped)) bytes.push(Number.parseInt(escaped, 8))
    else bytes.push(...new TextEncoder().encode(escaped ? (escapes[escaped] ?? escaped) : part))
  }
  return new TextDecoder().decode(new Uint8Array(bytes))
}

/** Deleted lines beside the added lines that replace them, for the split view. */
export function pairsOf(lines: readonly PatchLine[]): { left: PatchLine | null; right: PatchLine | null }[] {
  const pairs: ReturnType<typeof pairsOf> = []
  let deleted: PatchLine[] = []
  let added: PatchLine[] = []
  const flush = () => {
    for (let index = 0; index < Math.max(deleted.length, added.length); index++) {
      pairs.push({ left: deleted[index] ?? null, right: added[index] ?? null })
    }
    deleted = []
    added = []
  }
  for (const line of lines) {
    if (line.kind === 'deleted') {
      if (added.length > 0) flush()
      deleted.push(line)
    } else if (line.kind === 'added') {
      added.push(line)
    } else {
      flush()
      pairs.push({ left: line, right: line })
    }
  }
  flush()
  return pairs
}
