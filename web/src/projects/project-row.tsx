import type { Project } from '@baton/protocol'
import { Link } from '@tanstack/react-router'
import { CalendarCheck } from 'lucide-react'
import { usePeople, useTeams } from '../data/workspaces.ts'
import { PriorityIcon, priorityLabel } from '../issues/fields/values.tsx'
import { Avatar } from '../ui/avatar.tsx'
import { cx } from '../ui/class-names.ts'
import { dayOf, isPast } from '../ui/day.ts'
import { isolated } from '../ui/isolated.ts'
import { inOneLine } from '../ui/one-line.ts'
import { PrivateMark } from '../ui/private-mark.tsx'
import { rowItem } from '../ui/rows.ts'
import { type Count, issueCount } from './group-projects.ts'
import { Progress } from './progress.tsx'
import { Health, isFinished, ProjectStatusIcon, projectStatusLabel } from './values.tsx'

interface Props {
  project: Project
  /** Missing until all issues are loaded. */
  count: Count | undefined
  /** Shows the status, which a group by initiative does not show. */
  withStatus: boolean
}

/** A project on one line, or two on a narrow screen. */
export function ProjectRow({ project, count, withStatus }: Props) {
  const teams = useTeams().filter(({ id }) => project.team_ids.includes(id))
  return (
    <li className={cx('border-b [contain-intrinsic-size:auto_36px] [content-visibility:auto]', rowItem)}>
      <Link
        data-row={project.id}
        to="/project/$projectId"
        params={{ projectId: project.id }}
        className="flex min-h-9 items-center gap-x-3 scroll-mt-8 px-4 outline-hidden max-md:flex-wrap max-md:gap-y-0.5 max-md:py-1.5"
      >
        <span title={priorityLabel(project.priority)} className="flex">
          <PriorityIcon priority={project.priority} />
          <span className="sr-only">{priorityLabel(project.priority)},</span>
        </span>
        {withStatus && (
          <span title={projectStatusLabel(project.status)} className="flex">
            <ProjectStatusIcon status={project.status} />
            <span className="sr-only">{projectStatusLabel(project.status)},</span>
          </span>
        )}
        <span className="flex min-w-0 flex-1 items-center gap-1.5">
          <span className="max-w-full shrink-0 truncate font-medium">{project.title}</span>
          {project.personal && <PrivateMark />}
          <span className="min-w-0 truncate pl-1.5 text-ink-3 max-lg:hidden">{inOneLine(project.description)}</span>
        </span>
        <span aria-hidden className="hidden h-0 basis-full max-md:order-1 max-md:block" />
        <span className="flex w-20 shrink-0 text-xs max-md:order-1 max-md:w-auto">
          <Health health={project.health_status} />
        </span>
        <span className="flex w-32 shrink-0 max-md:order-1 max-md:w-24">
          {project.progress !== null && (
            <Progress percent={project.progress} label={`Progress of ${isolated(project.title)}`} className="w-full" />
          )}
        </span>
        <span className="tabular w-16 shrink-0 text-right text-xs text-ink-2 max-md:order-1 max-md:w-auto">
          {count && issueCount(count.total)}
        </span>
        <span
          title={teams.map(({ name }) => name).join(', ')}
          className="w-24 shrink-0 truncate font-mono text-2xs text-ink-3 max-lg:hidden"
        >
          <span className="sr-only">{teams.length > 0 && 'Teams '}</span>
          {teams.map(({ key }) => key).join(' ')}
        </span>
        <TargetDay project={project} />
        <Lead id={project.lead_id} />
      </Link>
    </li>
  )
}

function TargetDay({ project: { target_date, status } }: { project: Project }) {
  const late = target_date !== null && !isFinished(status) && isPast(target_date)
  return (
    <span
      className={cx(
        'tabular flex w-24 shrink-0 items-center gap-1 text-xs whitespace-nowrap max-md:order-1 max-md:ml-auto max-md:w-auto',
        late ? 'text-bad-ink' : 'text-ink-2',
      )}
    >
      {target_date && (
        <>
          <CalendarCheck size={12} aria-hidden />
          <span className="sr-only">{late ? 'Was due' : 'Due'} </span>
          {dayOf(target_date)}
        </>
      )}
    </span>
  )
}

function Lead({ id }: { id: string | null }) {
  const lead = usePeople().get(id ?? '')
  return (
    <span className="flex w-5 shrink-0" title={lead && `Lead: ${isolated(lead.display_name)}`}>
      {lead && (
        <>
          <Avatar name={lead.display_name} src={lead.avatar_url} size={20} />
          <span className="sr-only">
            Lead: <bdi>{lead.display_name}</bdi>
          </span>
        </>
      )}
    </span>
  )
}
