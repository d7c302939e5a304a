interface Day {
  date: string
  succeeded: number
  failed: number
}

/** A bar for each day: successes at the bottom, failures on top. */
export function Sparkline({ days, label }: { days: Day[]; label: string }) {
  const most = Math.max(1, ...days.map(({ succeeded, failed }) => succeeded + failed))
  const height = 24
  return (
    <svg role="img" aria-label={label} width={days.length * 6} height={height} className="block">
      {days.map(({ date, succeeded, failed }, index) => {
        const good = (succeeded / most) * height
        const bad = (failed / most) * height
        return (
          <g key={date}>
            <title>{`${date}: ${succeeded} succeeded, ${failed} failed`}</title>
            <rect x={index * 6} y={height - 1} width={4} height={1} className="fill-line-strong" />
            <rect x={index * 6} y={height - good} width={4} height={good} rx={1} className="fill-ok" />
            <rect x={index * 6} y={height - good - bad} width={4} height={bad} rx={1} className="fill-bad" />
          </g>
        )
      })}
    </svg>
  )
}
