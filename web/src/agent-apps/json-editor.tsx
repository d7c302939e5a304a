import { useId, useRef } from 'react'
import { cx } from '../ui/class-names.ts'
import { type ParsedJson, positionAt } from './json.ts'

export interface Problem {
  path: string
  message: string
  offset: number
}

interface Props {
  text: string
  onChange: (text: string) => void
  parsed: ParsedJson
  /** Error messages by dotted path. */
  errors: Record<string, string>
}

/** Offset of a field; of a missing field, the offset of its nearest parent. */
const offsetOf = (offsets: Map<string, number>, path: string): number => {
  const own = offsets.get(path)
  if (own !== undefined) return own
  return path ? offsetOf(offsets, path.split('.').slice(0, -1).join('.')) : 0
}

export function problemsOf({ parsed, errors }: Pick<Props, 'parsed' | 'errors'>): Problem[] {
  if (!parsed.ok) return [{ path: '', message: parsed.message, offset: parsed.offset }]
  return Object.entries(errors)
    .map(([path, message]) => ({ path, message, offset: offsetOf(parsed.offsets, path) }))
    .sort((a, b) => a.offset - b.offset)
}

const lineHeight = 18
const padding = 10

/** The manifest as JSON. Each error is shown at the end of its line, and in a list of links below. */
export function JsonEditor({ text, onChange, parsed, errors }: Props) {
  const area = useRef<HTMLTextAreaElement>(null)
  const id = useId()
  const lines = text.split('\n')
  const problems = problemsOf({ parsed, errors })
  const moveCursor = (offset: number) => {
    area.current?.focus()
    area.current?.setSelectionRange(offset, offset)
  }
  return (
    <div className="space-y-2">
      <label htmlFor={id} className="font-medium">
        Manifest (JSON)
      </label>
      <div
        className={cx(
          'relative overflow-x-auto rounded border border-line-strong bg-surface focus-within:border-accent focus-within:outline-1 focus-within:outline-accent',
          problems.length > 0 && 'border-bad',
        )}
      >
        <div aria-hidden className="pointer-events-none absolute inset-x-0 top-0 font-mono text-xs">
          {problems.map(({ path, message, offset }) => {
            const { line } = positionAt(text, offset)
            return (
              <div
                key={path}
                className="absolute inset-x-0 bg-bad-wash whitespace-pre"
                style={{ top: padding + (line - 1) * lineHeight, height: lineHeight, lineHeight: `${lineHeight}px` }}
              >
                <span
                  className="absolute font-sans text-bad-ink max-sm:hidden"
                  style={{ left: `calc(${padding}px + ${(lines[line - 1]?.length ?? 0) + 2}ch)` }}
                >
                  {message}
                </span>
              </div>
            )
          })}
        </div>
        <textarea
          ref={area}
          id={id}
          value={text}
          rows={Math.max(lines.length, 12)}
          cols={Math.max(...lines.map(({ length }) => length), 20) + 2}
          wrap="off"
          spellCheck={false}
          autoCapitalize="off"
          autoComplete="off"
          aria-invalid={problems.length > 0 || undefined}
          aria-describedby={problems.length > 0 ? `${id}-problems` : undefined}
          onChange={(event) => onChange(event.target.value)}
          className="relative block min-w-full resize-none overflow-hidden bg-transparent font-mono text-xs outline-none"
          style={{ padding, lineHeight: `${lineHeight}px` }}
        />
      </div>
      {problems.length > 0 && (
        <ul id={`${id}-problems`} aria-label="JSON errors" className="space-y-1">
          {problems.map(({ path, message, offset }) => {
            const { line, column } = positionAt(text, offset)
            return (
              <li key={path} className="text-xs">
                <button
                  type="button"
                  onClick={() => moveCursor(offset)}
                  className="tabular rounded text-accent-ink underline"
                >
                  Line {line}, column {column}
                </button>{' '}
                {path && <span className="font-mono">{path}: </span>}
                <span className="text-bad-ink">{message}</span>
              </li>
            )
          })}
        </ul>
      )}
    </div>
  )
}
