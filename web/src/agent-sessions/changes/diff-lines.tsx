import type { ChangedFile } from '@baton/protocol'
import { memo, useMemo } from 'react'
import { WhenNear } from './near.tsx'
import { type Patch, type PatchLine, pairsOf } from './parse-patch.ts'
import { quoteOf } from './quote.ts'
import { Visible } from './visible.tsx'

type Row = { header: string } | { line: PatchLine } | { left: PatchLine | null; right: PatchLine | null }

/** Rows that are rendered or left out together. */
const blockRows = 60
const rowHeightPx = 20

interface Props {
  patch: Patch
  file: ChangedFile
  isSplit: boolean
  onQuote: ((text: string) => void) | null
}

export function DiffLines({ patch, file, isSplit, onQuote }: Props) {
  const blocks = useMemo(() => {
    const rows = rowsOf(patch, isSplit)
    const blocks: Row[][] = []
    for (let from = 0; from < rows.length; from += blockRows) blocks.push(rows.slice(from, from + blockRows))
    return blocks
  }, [patch, isSplit])
  return blocks.map((rows, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: blocks have no other key
    <WhenNear key={index} height={rows.length * rowHeightPx}>
      {() => <Block rows={rows} file={file} isFirst={index === 0} onQuote={onQuote} />}
    </WhenNear>
  ))
}

function rowsOf({ hunks }: Patch, isSplit: boolean): Row[] {
  return hunks.flatMap(({ header, lines }): Row[] => [
    ...(header ? [{ header }] : []),
    ...(isSplit && header ? pairsOf(lines) : lines.map((line) => ({ line }))),
  ])
}

const hasNumber = (row: Row) => ('line' in row ? (row.line.new ?? row.line.old) !== null : 'left' in row)

interface BlockProps extends Pick<Props, 'file' | 'onQuote'> {
  rows: Row[]
  isFirst: boolean
}

const Block = memo(function Block({ rows, file, isFirst, onQuote }: BlockProps) {
  // The first number of a file is the one that Tab reaches.
  const firstLine = isFirst ? rows.findIndex(hasNumber) : -1
  const newNumbers = { file, onQuote, column: 'new' as const }
  const oldNumbers = { file, onQuote, column: 'old' as const }
  return rows.map((row, index) => {
    const isReached = index === firstLine
    if ('header' in row) {
      return (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other key
        <p key={index} className="hunk">
          <Visible text={row.header} />
        </p>
      )
    }
    if ('line' in row) {
      return (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other key
        <div key={index} className="unified">
          <Numbers line={row.line} {...newNumbers} isReached={isReached} both />
          <Code line={row.line} />
        </div>
      )
    }
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other key
      <div key={index} className="split">
        <Numbers line={row.left} {...oldNumbers} isReached={isReached} />
        <Code line={row.left} />
        <Numbers line={row.right} {...newNumbers} isReached={isReached} />
        <Code line={row.right} />
      </div>
    )
  })
})

interface NumbersProps extends Pick<Props, 'file' | 'onQuote'> {
  line: PatchLine | null
  column: 'old' | 'new'
  /** Shows the numbers before and after. */
  both?: boolean
  isReached: boolean
}

/** The line's number. Pressing it quotes the line in the message to the agent. */
function Numbers({ line, column, both, isReached, file, onQuote }: NumbersProps) {
  const number = line && (both ? (line.new ?? line.old) : line[column])
  const text = line && (
    <>
      {both && <span>{line.old}</span>}
      <span>{both ? line.new : number}</span>
    </>
  )
  if (!line || number === null || !onQuote) {
    return (
      <span className="numbers" data-kind={line?.kind ?? 'none'}>
        {text}
      </span>
    )
  }
  const isOld = both ? line.new === null : column === 'old'
  const quote = quoteOf(isOld ? (file.old_path ?? file.path) : file.path, number)
  return (
    <button
      type="button"
      className="numbers"
      data-kind={line.kind}
      data-line={column}
      tabIndex={isReached ? 0 : -1}
      aria-label={`Quote line ${number}${isOld ? ' before the change' : ''}`}
      onClick={() => onQuote(quote)}
    >
      {text}
    </button>
  )
}

const marks: Record<PatchLine['kind'], string> = { context: ' ', added: '+', deleted: '-', other: ' ' }

const Code = ({ line }: { line: PatchLine | null }) => (
  <code dir="ltr" data-kind={line?.kind ?? 'none'}>
    {line && (
      <>
        <span className="mark">{marks[line.kind]}</span>
        <span className="text">
          <Visible text={line.text} />
          {line.noNewline && <span className="no-newline">No newline at end of file</span>}
        </span>
      </>
    )}
  </code>
)
