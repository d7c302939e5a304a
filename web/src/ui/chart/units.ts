import { formatDuration } from '../time.tsx'
import { durationSteps } from './scale.ts'

export type Unit = 'count' | 'duration'

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
const plain = new Intl.NumberFormat('en')

const countText = (value: number) => (value < 10_000 ? plain : compact).format(value)

/** "1h" instead of "1h 0m". */
export const durationText = (ms: number) =>
  ms === 0 ? '0' : ms < 1000 ? '<1s' : formatDuration(ms).replace(/ 0[smh]$/, '')

export const decimalOrDuration = (unit: Unit) =>
  unit === 'duration' ? { format: durationText, steps: durationSteps } : { format: countText, steps: undefined }
