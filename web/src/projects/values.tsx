import type { Project } from '@baton/protocol'
import {
  CheckCheck,
  CircleCheck,
  CircleDot,
  CirclePause,
  CirclePlay,
  CircleX,
  FileText,
  Lightbulb,
  type LucideIcon,
  Telescope,
  Wrench,
} from 'lucide-react'
import { Dot, type Tone } from '../ui/pill.tsx'

export type ProjectStatus = Project['status']
type HealthStatus = Project['health_status']

interface StatusOption {
  value: ProjectStatus
  label: string
  icon: LucideIcon
  color: string
}

/** In the order of a project's lifecycle. */
export const projectStatuses: StatusOption[] = [
  { value: 'idea', label: 'Idea', icon: Lightbulb, color: 'text-ink-3' },
  { value: 'discovery', label: 'Discovery', icon: Telescope, color: 'text-ink-3' },
  { value: 'proposal', label: 'Proposal', icon: FileText, color: 'text-ink-3' },
  { value: 'accepted', label: 'Accepted', icon: CircleCheck, color: 'text-info' },
  { value: 'ready', label: 'Ready', icon: CircleDot, color: 'text-info' },
  { value: 'in_progress', label: 'In progress', icon: CirclePlay, color: 'text-warn' },
  { value: 'paused', label: 'Paused', icon: CirclePause, color: 'text-ink-3' },
  { value: 'maintenance', label: 'Maintenance', icon: Wrench, color: 'text-agent' },
  { value: 'completed', label: 'Completed', icon: CheckCheck, color: 'text-ok' },
  { value: 'canceled', label: 'Canceled', icon: CircleX, color: 'text-ink-3' },
]

/** Active work first, finished work last. */
export const listOrder: ProjectStatus[] = [
  'in_progress',
  'ready',
  'accepted',
  'proposal',
  'discovery',
  'idea',
  'paused',
  'maintenance',
  'completed',
  'canceled',
]

export const isFinished = (status: ProjectStatus) => status === 'completed' || status === 'canceled'

export const projectStatus = (value: ProjectStatus) => projectStatuses.find((one) => one.value === value)

export const projectStatusLabel = (value: ProjectStatus) => projectStatus(value)?.label ?? value

export function ProjectStatusIcon({ status, size = 14 }: { status: ProjectStatus; size?: number }) {
  const { icon: Icon = CircleDot, color = 'text-ink-3' } = projectStatus(status) ?? {}
  return <Icon size={size} aria-hidden className={`shrink-0 ${color}`} />
}

interface HealthOption {
  value: Exclude<HealthStatus, null>
  label: string
  tone: Tone
  ink: string
}

export const healths: HealthOption[] = [
  { value: 'on_track', label: 'On track', tone: 'ok', ink: 'text-ok-ink' },
  { value: 'at_risk', label: 'At risk', tone: 'warn', ink: 'text-warn-ink' },
  { value: 'off_track', label: 'Off track', tone: 'bad', ink: 'text-bad-ink' },
]

const noHealth = { label: 'No health', tone: 'neutral' as const, ink: 'text-ink-3' }
const healthOption = (health: HealthStatus) => healths.find(({ value }) => value === health) ?? noHealth

export const healthLabel = (health: HealthStatus) => healthOption(health).label

export function Health({ health }: { health: HealthStatus }) {
  const { label, tone, ink } = healthOption(health)
  return (
    <span className={`inline-flex items-center gap-1.5 whitespace-nowrap ${ink}`}>
      <Dot tone={tone} />
      {label}
    </span>
  )
}

export const HealthDot = ({ health }: { health: HealthStatus }) => (
  <span className="flex w-3.5 justify-center">
    <Dot tone={healthOption(health).tone} />
  </span>
)
