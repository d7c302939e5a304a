import { useState } from 'react'
import { cx } from './class-names.ts'

interface Props {
  name: string
  /** Agents are square and teal, people round. */
  agent?: boolean
  src?: string | null | undefined
  size?: 16 | 20 | 24 | 32 | 48
}

/** The hue depends only on the name, so it is the same everywhere. */
const hueOf = (name: string) => [...name].reduce((hue, letter) => (hue * 31 + (letter.codePointAt(0) ?? 0)) % 360, 7)

const initialsOf = (name: string) => {
  const [first = '', ...others] = name.trim().split(/\s+/)
  return (first.slice(0, 1) + (others.at(-1)?.slice(0, 1) ?? '')).toUpperCase()
}

/** Picture or initials of a user. Decorative: show the name next to it or in a label. */
export function Avatar({ name, agent, src, size = 20 }: Props) {
  const [broken, setBroken] = useState(false)
  const shape = cx('shrink-0 select-none', agent ? 'rounded-[28%]' : 'rounded-full')
  if (src && !broken) {
    return (
      <img
        src={src}
        alt=""
        width={size}
        height={size}
        onError={() => setBroken(true)}
        className={cx(shape, 'object-cover')}
      />
    )
  }
  return (
    <span
      aria-hidden
      className={cx(
        shape,
        'inline-flex items-center justify-center font-semibold',
        agent && 'bg-agent-wash text-agent-ink ring-1 ring-agent/40 ring-inset',
      )}
      style={{
        width: size,
        height: size,
        fontSize: Math.max(8, Math.round(size * 0.42)),
        ...(agent
          ? {}
          : {
              background: `light-dark(oklch(0.9 0.05 ${hueOf(name)}), oklch(0.38 0.06 ${hueOf(name)}))`,
              color: `light-dark(oklch(0.34 0.08 ${hueOf(name)}), oklch(0.93 0.04 ${hueOf(name)}))`,
            }),
      }}
    >
      {initialsOf(name)}
    </span>
  )
}
