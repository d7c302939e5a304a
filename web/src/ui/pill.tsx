import type { ReactNode } from 'react'
import { cx } from './class-names.ts'

export type Tone = 'neutral' | 'ok' | 'warn' | 'bad' | 'info' | 'agent' | 'accent'

const tones: Record<Tone, { pill: string; dot: string }> = {
  neutral: { pill: 'bg-sunken text-ink-2 border-line', dot: 'text-ink-3' },
  ok: { pill: 'bg-ok-wash text-ok-ink border-ok/30', dot: 'text-ok' },
  warn: { pill: 'bg-warn-wash text-warn-ink border-warn/40', dot: 'text-warn' },
  bad: { pill: 'bg-bad-wash text-bad-ink border-bad/30', dot: 'text-bad' },
  info: { pill: 'bg-info-wash text-info-ink border-info/30', dot: 'text-info' },
  agent: { pill: 'bg-agent-wash text-agent-ink border-agent/30', dot: 'text-agent' },
  accent: { pill: 'bg-accent-wash text-accent-ink border-accent/30', dot: 'text-accent' },
}

interface Props {
  tone?: Tone
  /** A dot before the text; pulsing while work is in progress. */
  dot?: 'still' | 'pulsing'
  children: ReactNode
  className?: string
}

/** A state as colored text. */
export const Pill = ({ tone = 'neutral', dot, children, className }: Props) => (
  <span
    className={cx(
      'inline-flex h-5 shrink-0 items-center gap-1.5 rounded-full border px-2 text-xs font-medium whitespace-nowrap',
      tones[tone].pill,
      className,
    )}
  >
    {dot && <Dot tone={tone} pulsing={dot === 'pulsing'} />}
    {children}
  </span>
)

export const Dot = ({ tone = 'neutral', pulsing }: { tone?: Tone; pulsing?: boolean }) => (
  <span
    aria-hidden
    className={cx(
      'inline-block size-1.5 shrink-0 rounded-full bg-current',
      tones[tone].dot,
      pulsing && 'animate-[pulse-ring_1.6s_ease-out_infinite]',
    )}
  />
)
