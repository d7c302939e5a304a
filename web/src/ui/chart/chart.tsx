import './chart.css'
import { type KeyboardEvent, type PointerEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { Button } from '../button.tsx'
import { sentence } from '../sentence.ts'
import { dashes, Patterns, patternId, type Tone } from './patterns.tsx'
import { labelEvery, ticksOf } from './scale.ts'
import { decimalOrDuration, type Unit } from './units.ts'

export interface Series {
  name: string
  tone: Tone
  /** One for each period; null where there is no value. */
  values: readonly (number | null)[]
}

interface Props {
  caption: string
  /** One sentence about what is counted. */
  hint?: ReactNode
  /** `bars` are stacked; `steps` fill the area below the first line, as a burn-up does. */
  kind: 'bars' | 'lines' | 'steps'
  unit?: Unit
  /** The head of the table's first column, such as "Week". */
  period: string
  periods: readonly { label: string; name: string }[]
  series: readonly Series[]
  /** Why a period has no value. */
  none?: string
}

const height = 180
const [left, right, top, bottom] = [44, 8, 8, 22]
const plotHeight = height - top - bottom

/**
 * A figure with a caption, a legend, and a table with all values, which is always there for screen readers. Arrow keys
 * move through the periods, as on a slider, and say their values.
 */
export function Chart({ caption, hint, kind, unit = 'count', period, periods, series, none = 'no value' }: Props) {
  const id = useId()
  const [ref, width] = useWidth()
  const [at, setAt] = useState<number | null>(null)
  const [open, setOpen] = useState(false)
  const { format, steps } = decimalOrDuration(unit)
  const last = periods.length - 1
  const shown = Math.min(at ?? last, last)
  const heights = periods.map((_, index) => {
    const values = series.map(({ values }) => values[index] ?? 0)
    return kind === 'bars' ? values.reduce((sum, value) => sum + value, 0) : Math.max(0, ...values)
  })
  const empty = series.every(({ values }) => values.every((value) => value === null))
  const ticks = ticksOf(Math.max(0, ...heights), steps)
  const y = (value: number) => top + plotHeight * (1 - value / (ticks.at(-1) as number))
  const step = Math.max(0, width - left - right) / Math.max(1, periods.length)
  const x = (index: number) => left + step * (index + 0.5)
  const textOf = (index: number) =>
    `${periods[index]?.name}: ${series.map(({ name, values }) => `${name} ${shownValue(values[index], format, none)}`).join(', ')}`
  const longest = periods.reduce((text, _, index) => (textOf(index).length > text.length ? textOf(index) : text), '')

  const onKeyDown = (event: KeyboardEvent) => {
    const to = {
      ArrowLeft: shown - 1,
      ArrowDown: shown - 1,
      ArrowRight: shown + 1,
      ArrowUp: shown + 1,
      Home: 0,
      End: last,
    }[event.key]
    if (to === undefined) return
    event.preventDefault()
    event.stopPropagation()
    setAt(Math.min(last, Math.max(0, to)))
  }
  const onPointer = (event: PointerEvent) => {
    const offset = event.clientX - event.currentTarget.getBoundingClientRect().left - left
    setAt(Math.min(last, Math.max(0, Math.floor(offset / Math.max(step, 1)))))
  }

  return (
    <figure className="chart" aria-labelledby={`${id}-caption`}>
      <div className="flex items-center gap-2">
        <figcaption id={`${id}-caption`} className="min-w-0 flex-1">
          {caption}
        </figcaption>
        <Button
          size="sm"
          look="quiet"
          aria-expanded={open}
          aria-controls={`${id}-table`}
          onClick={() => setOpen(!open)}
        >
          {open ? 'Hide table' : 'Show table'}
        </Button>
      </div>
      {hint && <p className="text-xs text-ink-3">{hint}</p>}
      <div
        ref={ref}
        className="chart-plot"
        role="slider"
        tabIndex={0}
        aria-label={`${caption}, by ${period.toLowerCase()}`}
        aria-valuemin={1}
        aria-valuemax={periods.length}
        aria-valuenow={shown + 1}
        aria-valuetext={textOf(shown)}
        onKeyDown={onKeyDown}
        onFocus={() => setAt(shown)}
        onBlur={() => setAt(null)}
        onPointerMove={onPointer}
        onPointerDown={onPointer}
        onPointerLeave={({ currentTarget }) => currentTarget !== document.activeElement && setAt(null)}
      >
        <svg width={width} height={height} aria-hidden>
          <Patterns chart={id} tones={series.map(({ tone }) => tone)} />
          {at !== null && (
            <rect className="chart-at" x={x(shown) - step / 2} y={top} width={step} height={plotHeight} />
          )}
          {ticks.map((tick) => (
            <g key={tick}>
              <line className="chart-grid" x1={left} x2={width - right} y1={y(tick)} y2={y(tick)} />
              {!empty && (
                <text x={left - 6} y={y(tick) + 4} textAnchor="end">
                  {format(tick)}
                </text>
              )}
            </g>
          ))}
          {periods.map(({ label, name }, index) =>
            index % labelEvery(periods.length, width) === 0 ? (
              <text key={name} x={x(index)} y={height - 6} textAnchor="middle">
                {label}
              </text>
            ) : null,
          )}
          {empty && (
            <text x={(left + width - right) / 2} y={top + plotHeight / 2} textAnchor="middle">
              {sentence(none)}
            </text>
          )}
          {kind === 'bars' ? (
            <Bars chart={id} series={series} x={x} y={y} width={Math.max(2, Math.min(40, step * 0.7))} />
          ) : (
            <Lines chart={id} series={series} x={x} y={y} filled={kind === 'steps'} />
          )}
        </svg>
      </div>
      <ul className="chart-legend" aria-label="Legend">
        {series.map(({ name, tone }, index) => (
          <li key={name}>
            <svg width={22} height={12} aria-hidden data-tone={tone}>
              {kind === 'bars' ? (
                <rect width={22} height={12} rx={2} fill={`url(#${patternId(id, index)})`} />
              ) : (
                <path className="chart-line" d="M0 6h22" strokeDasharray={dashes[index % dashes.length]} />
              )}
            </svg>
            {name}
          </li>
        ))}
      </ul>
      {/* The longest text, which is hidden, keeps the room of any other. */}
      <p className="chart-value" aria-hidden>
        <span>{longest}</span>
        {at !== null && <span>{textOf(shown)}</span>}
      </p>
      {/* It scrolls sideways, which needs the keyboard too. */}
      <div id={`${id}-table`} className={open ? 'chart-table' : 'sr-only'} tabIndex={open ? 0 : undefined}>
        <table>
          <caption className="sr-only">{caption}</caption>
          <thead>
            <tr>
              <th scope="col">{period}</th>
              {series.map(({ name }) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {periods.map(({ name }, index) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                {series.map(({ name, values }) => (
                  <td key={name}>{shownValue(values[index], format, none)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  )
}

const shownValue = (value: number | null | undefined, format: (value: number) => string, none: string) =>
  value === null || value === undefined ? none : format(value)

interface DrawnProps {
  chart: string
  series: readonly Series[]
  x: (index: number) => number
  y: (value: number) => number
}

/** Each series stands on those before it. */
function Bars({ chart, series, x, y, width }: DrawnProps & { width: number }) {
  const below: number[] = []
  return series.map(({ name, values }, place) => {
    const bars = values.map((value, index) => {
      const from = below[index] ?? 0
      below[index] = from + (value ?? 0)
      return value ? `M${x(index) - width / 2} ${y(from)}V${y(from + value)}h${width}V${y(from)}z` : ''
    })
    return <path key={name} d={bars.join('')} fill={`url(#${patternId(chart, place)})`} />
  })
}

/** A line is interrupted where there is no value; a value between two such is a dot. */
function Lines({ chart, series, x, y, filled }: DrawnProps & { filled: boolean }) {
  return series.map(({ name, tone, values }, place) => {
    const points = values.flatMap((value, index) => (value === null ? [] : [{ index, value }]))
    const path = points
      .map(({ index, value }) => `${values[index - 1] === null || index === 0 ? 'M' : 'L'}${x(index)} ${y(value)}`)
      .join('')
    const [first, last] = [points[0], points.at(-1)]
    return (
      <g key={name} data-tone={tone}>
        {filled && place > 0 && first && last && (
          <path
            d={`${path}L${x(last.index)} ${y(0)}L${x(first.index)} ${y(0)}Z`}
            fill={`url(#${patternId(chart, place)})`}
            opacity={0.5}
          />
        )}
        <path className="chart-line" d={path} strokeDasharray={dashes[place % dashes.length]} />
        {points.map(({ index, value }) =>
          place % 2 === 0 ? (
            <circle key={index} className="chart-dot" cx={x(index)} cy={y(value)} r={2.5} />
          ) : (
            <rect key={index} className="chart-dot" x={x(index) - 2.5} y={y(value) - 2.5} width={5} height={5} />
          ),
        )}
      </g>
    )
  })
}

/** The width of an element, as it changes. */
function useWidth() {
  const ref = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const element = ref.current
    if (!element) return
    const observer = new ResizeObserver(([entry]) => setWidth(Math.round(entry?.contentRect.width ?? 0)))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return [ref, width] as const
}
