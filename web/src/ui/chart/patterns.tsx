export type Tone = 'ok' | 'bad' | 'warn' | 'info' | 'agent' | 'ink'

/** What is drawn over the colour of a bar, by its place in the series: none, lines, dots and grids. */
const marks = [
  null,
  <path key="diagonal" d="M-2 2 2 -2M0 8 8 0M6 10 10 6" />,
  <path key="dots" d="M2 1v2M6 5v2" strokeWidth={2} />,
  <path key="horizontal" d="M0 2h8M0 6h8" />,
  <path key="vertical" d="M2 0v8M6 0v8" />,
  <path key="grid" d="M0 4h8M4 0v8" />,
]
export const dashes = [undefined, '6 4', '2 3', '10 3 2 3']

export const patternId = (chart: string, series: number) => `${chart}p${series}`

export const Patterns = ({ chart, tones }: { chart: string; tones: readonly Tone[] }) => (
  <defs>
    {tones.map((tone, index) => (
      <pattern
        key={patternId(chart, index)}
        id={patternId(chart, index)}
        data-tone={tone}
        width={8}
        height={8}
        patternUnits="userSpaceOnUse"
      >
        <rect width={8} height={8} fill="var(--tone)" />
        <g stroke="var(--surface)" strokeWidth={1.5} fill="none">
          {marks[index % marks.length]}
        </g>
      </pattern>
    ))}
  </defs>
)
